package import SignalboxNotification
package import SignalboxStore

/// Answers about accepted events.
extension PostgresStore {
    /// Sees answers of all nodes, once they are committed.
    package func result(
        ofKey key: String, digest: [UInt8], from source: SourceName
    ) async throws(StoreError) -> AppendResult? {
        let since = now - StoreLimits.requestMemory
        return try await readers.first(
            "SELECT digest, status, answer FROM requests WHERE source = $1 AND key = $2 AND at > $3",
            [.text(source.name), .text(key), .time(since)]
        ) { row -> AppendResult in
            guard try row.bytes(0) == digest else { return .conflicting }
            return .repeated(StoredAnswer(status: try row.httpStatus(1), body: try row.bytes(2)))
        }
    }

    /// Variants that differ in more than their media are included. Each of its two statements has a snapshot of its
    /// own: an event that is removed in between has no variants.
    package func event(_ id: String) async throws(StoreError) -> StoredEvent? {
        guard let id = PostgresValue.eventID(id) else { return nil }
        return try await readers.read { connection in
            let rows = try connection.run(all: [
                PostgresStatement("SELECT source, subject, body, payload FROM events WHERE id = $1::uuid", [id]),
                PostgresStatement(
                    """
                    SELECT v.body FROM variants v JOIN events e ON e.seq = v.event
                    WHERE e.id = $1::uuid AND NOT v.plain ORDER BY v.id
                    """, [id]),
            ])
            return try rows[0].first.map { row in
                StoredEvent(
                    source: SourceName(try row.text(0)), subject: try row.text(1), body: try row.bytes(2),
                    payload: try row.optionalBytes(3), variants: try rows[1].map { try $0.bytes(0) })
            }
        }
    }

    /// Reads the most recent identifiers first, so the cost grows with `limit`.
    package func categories(
        limit: Int, after identifier: String?, upTo count: Int
    ) async throws(StoreError) -> [CategoryRecord] {
        try await readers.rows(
            """
            SELECT identifier, definition FROM (
                SELECT identifier, definition FROM categories ORDER BY last_seen DESC, identifier LIMIT $1
            ) AS latest WHERE $2 IS NULL OR identifier > $2 ORDER BY identifier LIMIT $3
            """, [.number(Int64(limit)), .text(identifier), .number(Int64(count))]
        ) { CategoryRecord(identifier: try $0.text(0), definition: try $0.bytes(1)) }
    }

    package func category(_ identifier: String) async throws(StoreError) -> CategoryRecord? {
        try await readers.first("SELECT definition FROM categories WHERE identifier = $1", [.text(identifier)]) {
            CategoryRecord(identifier: identifier, definition: try $0.bytes(0))
        }
    }
}
