package import Foundation
package import SignalboxNotification

// For stores of one process, which share no limits and no downloads.

extension DownloadStore {
    package func closeMedia() async throws(StoreError) {}
}

extension UpkeepStore {
    package var leads: Bool { true }
}

extension IntakeStore {
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

    /// Settles a lease whose attempt has no details.
    @discardableResult
    package func settle(_ lease: Lease, _ outcome: Outcome) async throws(StoreError) -> SettlementResult {
        try await settle(Settlement(lease, outcome))
    }
}
