package import Foundation
package import SignalboxNotification
package import SignalboxStore

extension PostgresStore {
    package func gauges() async throws(StoreError) -> [DestinationName: DestinationGauges] { throw .unavailable(reason: "absent") }
    package func deliveries(_ filter: DeliveryFilter, limit: Int) async throws(StoreError) -> [DeliveryRecord] { throw .unavailable(reason: "absent") }
    package func deliveryPage(_ filter: DeliveryFilter, limit: Int, examining rows: Int) async throws(StoreError) -> StorePage<DeliveryRecord> { throw .unavailable(reason: "absent") }
    package func attempts(of delivery: Int64) async throws(StoreError) -> [AttemptRecord] { throw .unavailable(reason: "absent") }
    package func body(ofEvent id: String) async throws(StoreError) -> [UInt8]? { throw .unavailable(reason: "absent") }
    package func newestEvents(_ limit: Int, upTo bytes: Int) async throws(StoreError) -> [EventBody] { throw .unavailable(reason: "absent") }
    package func counts() async throws(StoreError) -> [DestinationName: [DeliveryRecord.State: Int]] { throw .unavailable(reason: "absent") }
    package func scheduledCount() async throws(StoreError) -> Int { throw .unavailable(reason: "absent") }
    package func eventCount() async throws(StoreError) -> Int { throw .unavailable(reason: "absent") }
    package func knows(_ destination: DestinationName) async throws(StoreError) -> Bool { throw .unavailable(reason: "absent") }
    package func preview(_ change: BulkChange, of filter: DeliveryFilter) async throws(StoreError) -> BulkPreview { throw .unavailable(reason: "absent") }
    package func retry( _ filter: DeliveryFilter, spread: BulkSpread?, as action: OperatorAction? ) async throws(StoreError) -> Int { throw .unavailable(reason: "absent") }
    package func purge( _ filter: DeliveryFilter, sparingUndelivered: Bool, as action: OperatorAction? ) async throws(StoreError) -> Int { throw .unavailable(reason: "absent") }
    package func undeliveredCount(_ filter: DeliveryFilter) async throws(StoreError) -> Int { throw .unavailable(reason: "absent") }
    package func statuses() async throws(StoreError) -> [DestinationName: DestinationStatus] { throw .unavailable(reason: "absent") }
    package func set( _ state: DestinationState?, of destination: DestinationName, until: Date?, as action: OperatorAction? ) async throws(StoreError) { throw .unavailable(reason: "absent") }
    package func space() throws(StoreError) -> StoreSpace { throw .unavailable(reason: "absent") }
    package func accounts() async throws(StoreError) -> [Audit.Account] { throw .unavailable(reason: "absent") }
    package func audit() async throws(StoreError) -> Audit { throw .unavailable(reason: "absent") }
    package func eventPage(_ filter: EventFilter, limit: Int, examining rows: Int) async throws(StoreError) -> StorePage<EventRecord> { throw .unavailable(reason: "absent") }
    package func eventRecord(_ id: String) async throws(StoreError) -> EventRecord? { throw .unavailable(reason: "absent") }
    package func reports(onEvent id: String, limit: Int) async throws(StoreError) -> [EventRecord] { throw .unavailable(reason: "absent") }
    package func payload(ofEvent id: String) async throws(StoreError) -> [UInt8]? { throw .unavailable(reason: "absent") }
    package func send(_ order: ManualDelivery, as action: OperatorAction?) async throws(StoreError) -> ManualResult { throw .unavailable(reason: "absent") }
    package func remove(beyond retention: Retention, pause: () async -> Void) async throws(StoreError) -> Int { throw .unavailable(reason: "absent") }
    package func checkpoint() async throws(StoreError) { throw .unavailable(reason: "absent") }
}
