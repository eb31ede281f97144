import SignalboxNotification
package import SignalboxStore

extension PostgresStore {
    package func audit() async throws(StoreError) -> Audit { throw .unavailable(reason: "absent") }
}
