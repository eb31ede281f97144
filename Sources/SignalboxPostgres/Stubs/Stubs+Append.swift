package import SignalboxStore

extension PostgresStore {
    package func actionPage(_ filter: ActionFilter, limit: Int, examining rows: Int) async throws(StoreError) -> StorePage<ActionRecord> { throw .unavailable(reason: "absent") }
}
