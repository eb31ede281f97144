import SignalboxNotification
package import SignalboxStore

extension PostgresStore {
    package func audit() async throws(StoreError) -> Audit { throw .unavailable(reason: "absent") }
    package func remove(beyond retention: Retention, pause: () async -> Void) async throws(StoreError) -> Int { throw .unavailable(reason: "absent") }
    package func checkpoint() async throws(StoreError) { throw .unavailable(reason: "absent") }
}
