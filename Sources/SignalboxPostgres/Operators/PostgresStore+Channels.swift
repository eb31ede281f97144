import SignalboxNotification
package import SignalboxStore

/// Channels for broadcasts: few rows that change seldom.
extension PostgresStore {
    /// Locks the table against others that create a channel, because both limits count all rows. False if a limit is
    /// reached. Throws for an id that the app has already. Reads do not wait for the lock.
    package func create(
        _ channel: BroadcastChannel, upTo most: Int, ofAll total: Int
    ) async throws(StoreError) -> Bool {
        try await writer(.others).write { transaction in
            let rows = try transaction.run(all: [
                PostgresStatement("LOCK TABLE channels IN SHARE ROW EXCLUSIVE MODE"),
                PostgresStatement(
                    """
                    INSERT INTO channels (app, id, stores_last, source)
                    SELECT $1, $2, $3, $4
                    WHERE (SELECT count(*) FROM channels WHERE app = $1) < $5 AND (SELECT count(*) FROM channels) < $6
                    RETURNING id
                    """,
                    [
                        .text(channel.app), .text(channel.id), .flag(channel.storesLast),
                        .text(channel.source?.name), .number(Int64(most)), .number(Int64(total)),
                    ]),
            ])
            return !rows[1].isEmpty
        }
    }

    package func channel(_ id: String, of app: String) async throws(StoreError) -> BroadcastChannel? {
        try await readers.first(
            "SELECT \(BroadcastChannel.columns) FROM channels WHERE app = $1 AND id = $2", [.text(app), .text(id)]
        ) { try BroadcastChannel($0, of: app) }
    }

    /// In byte order of their ids.
    package func channels(of app: String) async throws(StoreError) -> [BroadcastChannel] {
        try await readers.rows(
            "SELECT \(BroadcastChannel.columns) FROM channels WHERE app = $1 ORDER BY id", [.text(app)]
        ) { try BroadcastChannel($0, of: app) }
    }

    /// False if there was none. The transaction is durable in both cases.
    package func removeChannel(_ id: String, of app: String) async throws(StoreError) -> Bool {
        try await writer(.others).write { transaction in
            try transaction.run("DELETE FROM channels WHERE app = $1 AND id = $2", [.text(app), .text(id)]).affected > 0
        }
    }
}
