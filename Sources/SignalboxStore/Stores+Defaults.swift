package import Foundation
package import SignalboxNotification

// Defaults for stores of one process, which share no limits and no downloads, and shorter calls.

extension DownloadStore {
    package func closeMedia() async throws(StoreError) {}
}

extension UpkeepStore {
    package var leads: Bool { true }
}

extension IntakeStore {
    /// Like ``append(_:of:whenDone:)``, and returns or throws the result.
    @discardableResult
    package func append(
        _ events: [RoutedEvent], of request: IdempotentRequest?
    ) async throws(StoreError) -> AppendResult {
        // Unchecked: every request waits here, and `done` is called once.
        let result = await withUnsafeContinuation {
            (done: UnsafeContinuation<Result<AppendResult, StoreError>, Never>) in
            append(events, of: request) { done.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Appends events of a request that its sender does not repeat. `done` receives the ids of the earlier events that
    /// some of these repeat, by position.
    package func append(
        _ events: [RoutedEvent], whenDone done: @escaping @Sendable (Result<[Int: String], StoreError>) -> Void
    ) {
        append(events, of: nil) { result in
            done(
                result.map { result in
                    guard case .appended(let duplicates) = result else {
                        preconditionFailure("An append without a request repeats none.")
                    }
                    return duplicates
                })
        }
    }

    /// Appends events of a request that its sender does not repeat.
    @discardableResult
    package func append(_ events: [RoutedEvent]) async throws(StoreError) -> AppendResult {
        try await append(events, of: nil)
    }
}

extension LaneStore {
    package var sharesLimits: Bool { false }

    package func mayBeAbandoned(since time: Date) async throws(StoreError) -> Bool { false }

    package func holds(_ lease: Lease) -> Bool { true }

    package func places(of destination: DestinationName, outOf limit: Int) -> Int? { limit }

    package func takeAttempts(
        of destination: DestinationName, perSecond: Double
    ) async throws(StoreError) -> AttemptShare { AttemptShare(count: .max, wait: .zero) }

    package func returnAttempts(
        _ count: Int, of destination: DestinationName, perSecond: Double
    ) async throws(StoreError) {}

    package func beginProbe(
        of destination: DestinationName, lasting time: Duration
    ) async throws(StoreError) -> Duration? { nil }

    package func othersBackoff(from destination: DestinationName) -> OthersBackoff { OthersBackoff() }

    package func endBreakers(of destination: DestinationName) async throws(StoreError) {}

    /// Opens a lane whose deliveries need no order.
    package func openLane(_ destination: DestinationName, wake: @escaping @Sendable () -> Void) {
        openLane(destination, isOrdered: false, wake: wake)
    }

    /// Settles one lease. Throws when nothing was recorded, or when that is not known.
    @discardableResult
    package func settle(_ settlement: Settlement) async throws(StoreError) -> SettlementResult {
        try await settle([settlement])[0].get()
    }
}
