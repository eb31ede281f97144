import Foundation
import SignalboxEgress
import SignalboxStore
import Synchronization

/// Measurements of the attempts of a lane: durations, the rate, and the last success and failure. Bounded: a ring of
/// durations and one of seconds, both allocated once.
///
/// A class because the lane writes it, and requests of operators read it.
final class LaneFigures: Sendable {
    /// Durations that percentiles are computed from.
    static let durations = 256
    /// Seconds over which the rate is measured.
    static let window = 10

    private struct State {
        /// In milliseconds.
        var ring: [UInt32] = []
        var next = 0
        /// Attempts of a second, at the index of the second modulo the window.
        var counts = [(second: Int64, count: Int)](repeating: (-1, 0), count: LaneFigures.window + 1)
        var lastSuccess, lastFailure: LaneSnapshot.End?
    }

    private let state: Mutex<State>

    init() {
        var state = State()
        state.ring.reserveCapacity(Self.durations)
        self.state = Mutex(state)
    }

    /// Records the end of an attempt. Allocates for failures only. `now`: the wall clock; `elapsed`: the lane's clock.
    func record(_ result: SendResult, at now: Date, elapsed: Duration) {
        // This process could not make the request, so the result is not one of the destination.
        switch result.answer {
        case .failed(.stopped), .failed(.exhausted): return
        case .failed, .replied: break
        }
        let milliseconds = UInt32(clamping: Int64(result.attempt.duration / .milliseconds(1)))
        let isSuccess = result.answer.status.map { (200..<300).contains($0) } ?? false
        let end = LaneSnapshot.End(
            at: now, status: result.answer.status, error: result.attempt.error,
            reason: isSuccess ? nil : result.answer.text)
        let second = elapsed.components.seconds
        state.withLock { state in
            if state.ring.count < Self.durations {
                state.ring.append(milliseconds)
            } else {
                state.ring[state.next] = milliseconds
            }
            state.next = (state.next + 1) % Self.durations
            let index = Int(second % Int64(Self.window + 1))
            if state.counts[index].second != second { state.counts[index] = (second, 0) }
            state.counts[index].count += 1
            if isSuccess { state.lastSuccess = end } else { state.lastFailure = end }
        }
    }

    /// The measurements as operators see them.
    struct Values {
        let perSecond: Double
        let latency: LaneSnapshot.Latency?
        let lastSuccess, lastFailure: LaneSnapshot.End?
    }

    /// Sorts a copy of the durations outside the lock. The present second is not complete, so it does not count.
    func values(at elapsed: Duration) -> Values {
        let second = elapsed.components.seconds
        let (ring, count, success, failure) = state.withLock { state in
            let recent = state.counts.filter { $0.second < second && $0.second >= second - Int64(Self.window) }
            return (state.ring, recent.reduce(0) { $0 + $1.count }, state.lastSuccess, state.lastFailure)
        }
        return Values(
            perSecond: Double(count) / Double(Self.window), latency: Self.latency(of: ring.sorted()),
            lastSuccess: success, lastFailure: failure)
    }

    /// By the nearest rank. Nil without durations.
    static func latency(of sorted: [UInt32]) -> LaneSnapshot.Latency? {
        guard !sorted.isEmpty else { return nil }
        func value(_ percent: Int) -> Int { Int(sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]) }
        return LaneSnapshot.Latency(p50: value(50), p95: value(95), p99: value(99))
    }
}
