import SignalboxNotification
package import SignalboxStore

extension PostgresStore {
    package func preview(_ change: BulkChange, of filter: DeliveryFilter) async throws(StoreError) -> BulkPreview { throw .unavailable(reason: "absent") }
    package func retry( _ filter: DeliveryFilter, spread: BulkSpread?, as action: OperatorAction? ) async throws(StoreError) -> Int { throw .unavailable(reason: "absent") }
    package func purge( _ filter: DeliveryFilter, sparingUndelivered: Bool, as action: OperatorAction? ) async throws(StoreError) -> Int { throw .unavailable(reason: "absent") }
    package func undeliveredCount(_ filter: DeliveryFilter) async throws(StoreError) -> Int { throw .unavailable(reason: "absent") }
    package func audit() async throws(StoreError) -> Audit { throw .unavailable(reason: "absent") }
    package func send(_ order: ManualDelivery, as action: OperatorAction?) async throws(StoreError) -> ManualResult { throw .unavailable(reason: "absent") }
    package func remove(beyond retention: Retention, pause: () async -> Void) async throws(StoreError) -> Int { throw .unavailable(reason: "absent") }
    package func checkpoint() async throws(StoreError) { throw .unavailable(reason: "absent") }
}
