import Foundation
import SignalboxServer
import Synchronization

/// The observations of the senders and the receiver of a test scenario. A class because its tasks and the receiver
/// share it.
final class NodeRecord: Sendable {
    private struct State {
        var accepted: Set<String> = []
        /// The attempts of each delivery, by the id of its event and the name of its destination.
        var attempts: [String: [Attempt]] = [:]
        /// Deliveries that were answered.
        var arrived: Set<String> = []
        /// Arrivals at the destination with ordering.
        var arrivedInOrder = 0
        var refused = 0
        /// Posts whose commit may have succeeded, without an answer or with 503: key and number.
        var unanswered: Set<String> = []
        /// The numbers of each key, as they arrived at the destination with ordering.
        var lines: [String: [Int]] = [:]
        var faults: [String] = []
        /// How many gateways were stopped and continued.
        var continued = 0
        /// The longest time between a `webhook-timestamp` and the arrival of its request, by the clock of the tests.
        var timestampError: TimeInterval = 0
        /// Whether the database has lost outcomes of deliveries.
        var hasLostOutcomes = false
        /// Answers that wait for ``NodeRecord/release()``; nil while answers are not held.
        var held: [CheckedContinuation<Void, Never>]?
    }

    /// An attempt as the receiver sees it.
    private struct Attempt {
        let begun: ContinuousClock.Instant
        /// When the receiver answered.
        var ended: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    // MARK: Senders

    /// A gateway that was stopped continues. A request that it had begun may still arrive then, after the gateway that
    /// took the delivery over has sent it and later ones: one for each key, because a key has one attempt at a time.
    func gatewayContinues() { state.withLock { $0.continued += 1 } }

    /// Deliveries may be sent again after later ones: a failover has lost their outcomes.
    func databaseLosesOutcomes() { state.withLock { $0.hasLostOutcomes = true } }

    func answered(_ status: Int, _ id: String?, _ key: String, _ number: Int) {
        state.withLock { state in
            switch (status, id) {
            case (202, let id?): state.accepted.insert(id)
            case (503, _):
                state.refused += 1
                // The gateway may not know the outcome of a commit.
                state.unanswered.insert("\(key) \(number)")
            default: state.faults.append("a post was answered with \(status)")
            }
        }
    }

    func unanswered(_ key: String, _ number: Int) {
        state.withLock { _ = $0.unanswered.insert("\(key) \(number)") }
    }

    // MARK: Receiver

    /// Records an event that arrived; returns the status to answer with, once answers are not held.
    func received(_ message: WebhookReceiver.Message) async -> Int {
        let destination = message.path.split(separator: "/").last.map(String.init) ?? ""
        let delivery = "\(message.id ?? "none") \(destination)"
        let text = String(decoding: message.body, as: UTF8.self)
        let key = text.firstMatch(of: /(key-\d-\d) number/).map { String($0.1) } ?? ""
        let number = text.firstMatch(of: /number (\d+) end/).flatMap { Int($0.1) } ?? -1
        let error = abs(Date().timeIntervalSince1970 - (message.timestamp.flatMap(TimeInterval.init) ?? 0))
        let attempt = state.withLock { state in
            state.timestampError = max(state.timestampError, error)
            if destination == NodePlay.ordered, !key.isEmpty, !state.unanswered.contains("\(key) \(number)") {
                state.lines[key, default: []].append(number)
            }
            state.attempts[delivery, default: []].append(Attempt(begun: .now))
            return (state.attempts[delivery]?.count ?? 0) - 1
        }
        await untilReleased()
        // So that most moments have an attempt in progress.
        for _ in 0..<50 { await Task.yield() }
        state.withLock { state in
            state.attempts[delivery]?[attempt].ended = .now
            let isFirst = state.arrived.insert(delivery).inserted
            if isFirst, destination == NodePlay.ordered { state.arrivedInOrder += 1 }
        }
        return 204
    }

    /// Holds the answers to all events that arrive, until ``release()``.
    func hold() { state.withLock { $0.held = $0.held ?? [] } }

    /// Answers the events whose answers were held.
    func release() {
        let held = state.withLock { state in
            defer { state.held = nil }
            return state.held ?? []
        }
        for waiting in held { waiting.resume() }
    }

    private func untilReleased() async {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                state.held?.append(continuation)
                return state.held != nil
            }
            if !isHeld { continuation.resume() }
        }
    }

    // MARK: Results

    var accepted: Int { state.withLock { $0.accepted.count } }
    var acceptedEvents: Set<String> { state.withLock { $0.accepted } }
    var hasLostOutcomes: Bool { state.withLock { $0.hasLostOutcomes } }
    var refused: Int { state.withLock { $0.refused } }
    var unanswered: Int { state.withLock { $0.unanswered.count } }
    /// How many answers are held.
    var held: Int { state.withLock { $0.held?.count ?? 0 } }
    /// Deliveries that were answered: the id of the event and the name of the destination.
    var arrived: Set<String> { state.withLock { $0.arrived } }
    var timestampError: TimeInterval { state.withLock { $0.timestampError } }
    /// When the first attempt of a delivery began; nil before.
    func firstAttempt(_ delivery: String) -> ContinuousClock.Instant? {
        state.withLock { $0.attempts[delivery]?.first?.begun }
    }
    /// About how many acknowledged events have not arrived at the destination with ordering.
    var backlog: Int { state.withLock { $0.accepted.count - $0.arrivedInOrder } }
    /// Attempts in addition to the first one of each delivery.
    var repeats: Int { state.withLock { $0.attempts.values.reduce(0) { $0 + $1.count - 1 } } }

    /// Attempts that began before an earlier one of the same delivery had ended, and how long both lasted.
    var overlaps: [(delivery: String, time: Duration)] {
        state.withLock { state in
            state.attempts.flatMap { delivery, attempts in
                zip(attempts, attempts.dropFirst()).compactMap { first, second in
                    let end = min(first.ended ?? .now, second.ended ?? .now)
                    return second.begun < first.ended ?? .now ? (delivery, end - second.begun) : nil
                }
            }
        }
    }

    /// Broken rules. An event arrives after those before it of its key; an interrupted attempt is repeated before the
    /// next one, except for those that ``gatewayContinues()`` and ``databaseLosesOutcomes()`` describe.
    var faults: [String] {
        state.withLock { state in
            let most = state.hasLostOutcomes ? .max : state.continued
            return state.faults
                + state.lines.compactMap { key, numbers in
                    let answered = numbers.filter { !state.unanswered.contains("\(key) \($0)") }
                    return Self.late(in: answered).map { $0.count <= most } == true
                        ? nil : "\(key) arrived as \(answered)"
                }
        }
    }

    /// The numbers that arrived again after a later one; nil if a first arrival was late.
    private static func late(in numbers: [Int]) -> [Int]? {
        var (seen, last, late): (Set<Int>, Int, [Int]) = ([], 0, [])
        for number in numbers {
            let isNew = seen.insert(number).inserted
            if number < last {
                if isNew { return nil }
                late.append(number)
            }
            last = max(last, number)
        }
        return late
    }

    var summary: String {
        "\(accepted) acknowledged, \(refused) refused, \(repeats) arrived again, \(overlaps.count) overlapped"
    }
}
