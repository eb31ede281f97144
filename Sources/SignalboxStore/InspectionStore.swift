package import Foundation
package import SignalboxNotification

/// Shows operators what is stored, and changes it on their behalf. Works while another process delivers, which sees a
/// change at its next tick. `action`: recorded with the number of changed objects in the transaction of the change;
/// nil records nothing.
package protocol InspectionStore: ActionStore, EventStore {
    /// Deliveries, newest first, at most `limit`.
    func deliveries(_ filter: DeliveryFilter, limit: Int) async throws(StoreError) -> [DeliveryRecord]

    /// A page of deliveries, newest first: at most `limit`, from at most `rows` that the store examines. A page that
    /// ends because of `rows`, or after ``StoreLimits/longestScan``, is not complete, and may be empty.
    func deliveryPage(_ filter: DeliveryFilter, limit: Int, examining rows: Int) async throws(StoreError)
        -> StorePage<DeliveryRecord>

    /// All attempts of a delivery, in their order.
    func attempts(of delivery: Int64) async throws(StoreError) -> [AttemptRecord]

    /// The newest events, the newest first: at most `limit`, and none more once their bodies exceed `bytes`.
    func newestEvents(_ limit: Int, upTo bytes: Int) async throws(StoreError) -> [EventBody]

    /// The number of deliveries in each state, by destination. Reads all deliveries.
    func counts() async throws(StoreError) -> [DestinationName: [DeliveryRecord.State: Int]]

    /// The number of deliveries that wait for a scheduled time.
    func scheduledCount() async throws(StoreError) -> Int

    /// The number of stored events.
    func eventCount() async throws(StoreError) -> Int

    /// Whether a destination ever had a delivery. Cheap.
    func knows(_ destination: DestinationName) async throws(StoreError) -> Bool

    /// The deliveries that a bulk change would change. The change is exact if its filter has the number and the time
    /// of the preview. Reads all matching deliveries. Before a purge, those that wait in the memory of this process
    /// return to the store.
    func preview(_ change: BulkChange, of filter: DeliveryFilter) async throws(StoreError) -> BulkPreview

    /// Makes dead deliveries, and those that wait for their next attempt, due with a fresh budget of attempts: now, or
    /// as `spread` says. A scheduled time stays. Deliveries that wait for files stay as they are. Returns the number
    /// of deliveries. Does not record the action if the filter names deliveries and none of them changes. Works in
    /// several transactions: after a crash, the action has the number of those that were changed.
    func retry(
        _ filter: DeliveryFilter, spread: BulkSpread?, as action: OperatorAction?
    ) async throws(StoreError) -> Int

    /// Permanently removes deliveries, and events that have none left; returns the number of deliveries. Spares
    /// those that were never delivered if asked to: dead, expired and waiting ones. Never removes one in progress, here
    /// or in another process, or one that waits in the memory of another process; ``inProgressCount(_:)`` counts them.
    /// Works in several transactions: after a crash, the action has the number of those that were removed.
    func purge(
        _ filter: DeliveryFilter, sparingUndelivered: Bool, as action: OperatorAction?
    ) async throws(StoreError) -> Int

    /// The number of deliveries that were never delivered and that ``purge(_:sparingUndelivered:as:)`` would remove:
    /// dead, expired and waiting ones.
    func undeliveredCount(_ filter: DeliveryFilter) async throws(StoreError) -> Int

    /// The number of deliveries whose attempt is in progress or was interrupted, or that wait in the memory of a
    /// process: ``purge(_:sparingUndelivered:as:)`` leaves them.
    func inProgressCount(_ filter: DeliveryFilter) async throws(StoreError) -> Int

    /// The destinations to which nothing is sent now, and why.
    func statuses() async throws(StoreError) -> [DestinationName: DestinationStatus]

    /// Pauses or disables a destination. Nil resumes it, even an active one: its lanes in all processes end its
    /// backoff, and request a missing permission again. `until`: when a tick ends the pause, with an action of the
    /// gateway; nil for never. The reason of the action is the reason of the status.
    func set(
        _ state: DestinationState?, of destination: DestinationName, until: Date?, as action: OperatorAction?
    ) async throws(StoreError)

    /// The number of deliveries that wait for files, by destination.
    func heldCounts() async throws(StoreError) -> [DestinationName: Int]

    /// Counts of downloads and files. Cheap, like ``StoreStatus/gauges()``.
    func mediaGauges() async throws(StoreError) -> MediaGauges

    /// The space of the store's files. Reads no content. Throws if the file system or the server does not answer for
    /// them.
    func space() async throws(StoreError) -> StoreSpace

    /// Files, most recently used first, at most `limit`. `after`: the last file of the previous page.
    func mediaFiles(after: MediaFileRecord?, limit: Int) async throws(StoreError) -> [MediaFileRecord]

    /// Files by their numbers, at most `limit`. `number`: the last number of the previous page, 0 for the first one.
    /// Files that are used meanwhile keep their numbers, so no file is left out.
    func mediaFiles(numberedAfter number: Int64, limit: Int) async throws(StoreError) -> [MediaFileRecord]

    /// URLs in these states, newest first, at most `limit`. `before`: the last id of the previous page.
    func mediaURLs(
        _ states: Set<MediaURLRecord.State>, before: Int64?, limit: Int
    ) async throws(StoreError) -> [MediaURLRecord]

    /// The sums of each destination by the numbers of the ledger. Their cost does not grow with the queue; ``audit()``
    /// compares them with the stored deliveries.
    func accounts() async throws(StoreError) -> [Audit.Account]

    /// Counts everything in one snapshot and checks the whole store. Takes several times as long as reading it.
    /// Unreadable content is part of the result.
    func audit() async throws(StoreError) -> Audit
}

extension InspectionStore {
    /// Requeues deliveries at once.
    package func retry(_ filter: DeliveryFilter, as action: OperatorAction?) async throws(StoreError) -> Int {
        try await retry(filter, spread: nil, as: action)
    }

    /// Pauses without a known end, disables or resumes a destination.
    package func set(
        _ state: DestinationState?, of destination: DestinationName, as action: OperatorAction?
    ) async throws(StoreError) { try await set(state, of: destination, until: nil, as: action) }

    /// Pauses, disables or resumes a destination without a row of the action log.
    package func set(_ state: DestinationState?, of destination: DestinationName) async throws(StoreError) {
        try await set(state, of: destination, as: nil)
    }
}
