import Foundation
import SignalboxInApp
import SignalboxStore

/// What other parts of the store call.
extension PostgresStore {
    /// Stores the messages of payloads, for appends: in the order of their events, those of duplicates excluded. At most
    /// two round trips. The caller adds the result to ``WriteEffects/messages``.
    func registerFromPayload(
        _ messages: [InAppRegistration], in transaction: PostgresTransaction
    ) throws -> [StoredInAppMessage] {
        []
    }

    /// Removes in-app rows beyond the retention, in steps. For ``UpkeepStore/remove(beyond:pause:)``.
    func removeInApp(
        beyond retention: InAppRetention, at now: Date, pause: () async -> Void
    ) async throws(StoreError) {
        throw .unavailable(reason: "absent")
    }

    /// Findings of the audit about in-app rows, for a snapshot. Reads every row; its memory is bounded.
    static func inAppFindings(on connection: PostgresConnection) throws -> [String] { [] }

    /// Reports changes of in-app messages that other nodes made. For each tick: one cheap statement, and none without an
    /// observer.
    func lookForInAppChanges() async throws(StoreError) {}
}
