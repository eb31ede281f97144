package import Foundation
import SignalboxStore
import Synchronization

/// The state of a lane at one time, for operators and metrics.
package struct LaneSnapshot: Sendable, Equatable {
    /// The states of a circuit breaker. Raw values are those of the API.
    package enum BreakerState: String, Sendable, CaseIterable {
        case closed, open
        /// One attempt is in flight, and its result closes or reopens the breaker.
        case probing
    }

    /// The end of an attempt.
    package struct End: Sendable, Equatable {
        /// When the attempt ended.
        package let at: Date
        /// HTTP; nil without an answer.
        package let status: Int?
        /// A short stable word for a failure without an answer.
        package let error: String?
        /// The failure for people; nil for a success.
        package let reason: String?
    }

    /// Percentiles of the durations of the last attempts, in milliseconds.
    package struct Latency: Sendable, Equatable {
        package let p50, p95, p99: Int
    }

    /// Attempts in flight.
    package let inFlight: Int
    /// The state of the breaker.
    package let breaker: BreakerState
    /// Failures in a row.
    package let failures: Int
    /// The time until the next probe, while the breaker is open.
    package let probeIn: Duration?
    /// The most attempts per second; nil for no limit.
    package let limit: Double?
    /// Whether the rate permits no attempt at present.
    package let isRateExhausted: Bool
    /// Attempts per second over ``LaneFigures/window`` seconds.
    package let attemptsPerSecond: Double
    /// Nil before the first attempt.
    package let latency: Latency?
    /// Nil before the first one since the lane began.
    package let lastSuccess, lastFailure: End?
}

extension DestinationLane {
    /// Cheap: takes two locks for a moment.
    func snapshot() -> LaneSnapshot {
        let now = elapsed()
        let (gate, figures) = (gate.values(at: now), figures.values(at: now))
        return LaneSnapshot(
            inFlight: requests.value, breaker: gate.breaker.word, failures: gate.breaker.failuresInARow,
            probeIn: gate.breaker.openUntil.map { max(.zero, $0 - now) }, limit: gate.limit,
            isRateExhausted: gate.isRateExhausted, attemptsPerSecond: figures.perSecond, latency: figures.latency,
            lastSuccess: figures.lastSuccess, lastFailure: figures.lastFailure)
    }
}

extension LaneGate {
    /// The state of the gate for operators.
    struct Values {
        let breaker: Breaker
        let limit: Double?
        let isRateExhausted: Bool
    }

    /// Changes nothing.
    func values(at now: Duration) -> Values {
        state.withLock { state in
            Values(
                breaker: state.breaker, limit: state.bucket?.perSecond,
                isRateExhausted: state.bucket?.isEmpty(at: now) ?? false)
        }
    }
}
