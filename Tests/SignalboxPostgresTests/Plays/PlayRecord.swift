import SignalboxNotification
import SignalboxStore
import Synchronization

/// The observations of the senders and the receiver of a play, and the broken rules. A class because the
/// tasks of a play share it.
final class PlayRecord: Sendable {
    private struct State {
        /// The order key of each accepted event, by its number.
        var accepted: [Int: String?] = [:]
        /// Accepted numbers of each key, in order.
        var lines: [String: [Int]] = [:]
        var undecided: Set<Int> = []
        var refused: Set<Int> = []
        /// How often each event was received.
        var received: [Int: Int] = [:]
        /// Attempts in progress, by delivery: the node of each.
        var running: [Int64: [Int: Int]] = [:]
        /// Attempts during which another one of the same delivery began: they must have lost their lease.
        var overtaken: Set<Int> = []
        var nextAttempt = 0
        /// The times of claims that returned leases, since the last call of ``PlayRecord/takeClaims()``.
        var claims: [DestinationName: [Duration]] = [:]
        var lost = 0
        var faults: [String] = []
    }

    private let state = Mutex(State())

    // MARK: Senders

    func accepted(_ numbers: [Int], under key: String?) {
        state.withLock { state in
            for number in numbers { state.accepted[number] = .some(key) }
            if let key { state.lines[key, default: []] += numbers }
        }
    }

    /// An append that failed. It wrote nothing unless it is undecided.
    func failed(_ numbers: [Int], with error: StoreError) {
        state.withLock { state in
            if case .undecided = error { state.undecided.formUnion(numbers) } else { state.refused.formUnion(numbers) }
        }
    }

    /// About how many accepted events were not received yet.
    var backlog: Int { state.withLock { $0.accepted.count - $0.received.count } }

    // MARK: Receiver

    /// An attempt begins; returns its number in the play.
    func began(_ event: Int, _ delivery: Int64, under key: String?, on node: Int) -> Int {
        state.withLock { state in
            state.nextAttempt += 1
            for (earlier, other) in state.running[delivery] ?? [:] {
                if other == node { state.faults.append("event \(event) is sent twice at once by node \(node)") }
                state.overtaken.insert(earlier)
            }
            state.running[delivery, default: [:]][state.nextAttempt] = node
            if let key, let early = state.lines[key]?.first(where: { $0 < event && state.received[$0] == nil }) {
                state.faults.append("event \(event) of key \(key) is sent before event \(early)")
            }
            return state.nextAttempt
        }
    }

    /// An attempt ends. `isReceived`: whether it was answered with success.
    func ended(_ attempt: Int, _ event: Int, _ delivery: Int64, isReceived: Bool) {
        state.withLock { state in
            state.running[delivery]?[attempt] = nil
            if isReceived { state.received[event, default: 0] += 1 }
        }
    }

    func settled(_ attempt: Int, _ event: Int, as result: SettlementResult) {
        state.withLock { state in
            if result == .lost { state.lost += 1 }
            if result == .recorded, state.overtaken.contains(attempt) {
                state.faults.append("event \(event): an attempt was overtaken, and its lease was not lost")
            }
        }
    }

    func claimed(from destination: DestinationName, in time: Duration) {
        state.withLock { $0.claims[destination, default: []].append(time) }
    }

    // MARK: Results

    /// The time within which 99 of 100 claims from each destination ended since the last call, and their number.
    func takeClaims() -> [DestinationName: (p99: Duration, count: Int)] {
        let claims = state.withLock { state in
            defer { state.claims = [:] }
            return state.claims
        }
        return claims.mapValues { times in
            let times = times.sorted()
            return (times[(times.count - 1) * 99 / 100], times.count)
        }
    }

    var faults: [String] { state.withLock { $0.faults } }
    var acceptedNumbers: Set<Int> { state.withLock { Set($0.accepted.keys) } }
    var refusedNumbers: Set<Int> { state.withLock { $0.refused } }
    /// Accepted events that were never received.
    var missing: [Int] {
        state.withLock { state in state.accepted.keys.filter { state.received[$0] == nil }.sorted() }
    }

    /// For the log of a play.
    var summary: String {
        state.withLock { state in
            let repeats = state.received.values.reduce(0) { $0 + $1 - 1 }
            return
                "\(state.accepted.count) accepted, \(state.refused.count) refused, \(state.undecided.count) undecided, "
                + "\(repeats) received again, \(state.lost) leases lost"
        }
    }
}
