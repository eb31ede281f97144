package import SignalboxNotification
package import SignalboxStore

extension PostgresStore {
    @discardableResult package func append(_ events: [RoutedEvent], of request: IdempotentRequest?) async throws(StoreError) -> AppendResult { throw .unavailable(reason: "absent") }
    package func append( _ events: [RoutedEvent], whenDone done: @escaping @Sendable (Result<[Int: String], StoreError>) -> Void) {  }
    package func append( _ events: [RoutedEvent], of request: IdempotentRequest?, whenDone done: @escaping @Sendable (Result<AppendResult, StoreError>) -> Void) {  }
    package func answer(toKey key: String, from source: SourceName) async throws(StoreError) -> StoredAnswer? { throw .unavailable(reason: "absent") }
    package func finish() async {  }
    package func probe() async throws(StoreError) { throw .unavailable(reason: "absent") }
    package func event(_ id: String) async throws(StoreError) -> StoredEvent? { throw .unavailable(reason: "absent") }
    package func categories( limit: Int, after identifier: String?, upTo count: Int ) async throws(StoreError) -> [CategoryRecord] { throw .unavailable(reason: "absent") }
    package func category(_ identifier: String) async throws(StoreError) -> CategoryRecord? { throw .unavailable(reason: "absent") }
    package func create(_ channel: BroadcastChannel, upTo most: Int, ofAll total: Int) async throws(StoreError) -> Bool { throw .unavailable(reason: "absent") }
    package func channel(_ id: String, of app: String) async throws(StoreError) -> BroadcastChannel? { throw .unavailable(reason: "absent") }
    package func channels(of app: String) async throws(StoreError) -> [BroadcastChannel] { throw .unavailable(reason: "absent") }
    package func removeChannel(_ id: String, of app: String) async throws(StoreError) -> Bool { throw .unavailable(reason: "absent") }
    package func actionPage(_ filter: ActionFilter, limit: Int, examining rows: Int) async throws(StoreError) -> StorePage<ActionRecord> { throw .unavailable(reason: "absent") }
}
