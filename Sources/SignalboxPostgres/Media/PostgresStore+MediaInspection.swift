package import SignalboxNotification
package import SignalboxStore

/// Downloads and files as operators see them.
extension PostgresStore {
    /// Reads all held deliveries. A wait whose delivery has begun or ended meanwhile does not count.
    package func heldCounts() async throws(StoreError) -> [DestinationName: Int] {
        try await readers.read { connection in
            try connection.run(
                """
                SELECT q.destination, count(*) FROM media_waits w JOIN queue q ON q.id = w.delivery
                WHERE q.begun = 0 AND q.holder IS NULL GROUP BY q.destination
                """
            ).reduce(into: [:]) { $0[try $1.destination(0)] = try $1.count(1) }
        }
    }

    /// Adds up a row for each lane of each node. All zeros for a store without media.
    package func mediaGauges() async throws(StoreError) -> MediaGauges {
        try await readers.read { connection in
            var gauges = MediaGauges()
            guard let row = try connection.run("SELECT \(MediaCounts.sums) FROM media_counts").first else {
                return gauges
            }
            (gauges.wanted, gauges.stored, gauges.failed) = (try row.count(0), try row.count(1), try row.count(2))
            (gauges.files, gauges.bytes, gauges.held) = (try row.count(3), try row.number(4), try row.count(5))
            return gauges
        }
    }

    /// The size of all known files, including those that are not in the shared directory.
    package func mediaBytes() async throws(StoreError) -> Int64 { try await mediaGauges().bytes }

    /// The most recently used first, then by number; `after` is the last file of the page before. A file that is used
    /// between two pages moves to the front and is then left out.
    package func mediaFiles(after: MediaFileRecord?, limit: Int) async throws(StoreError) -> [MediaFileRecord] {
        try await readers.read { connection in
            try MediaFileRecord.all(
                "(used_at, id) < ($1, $2) ORDER BY used_at DESC, id DESC LIMIT $3",
                [.number(after?.usedAt.milliseconds ?? .max), .number(after?.id ?? .max), .number(Int64(limit))],
                on: connection)
        }
    }

    /// In the order of the primary key, which no use of a file changes.
    package func mediaFiles(numberedAfter number: Int64, limit: Int) async throws(StoreError) -> [MediaFileRecord] {
        try await readers.read { connection in
            try MediaFileRecord.all(
                "id > $1 ORDER BY id LIMIT $2", [.number(number), .number(Int64(limit))], on: connection)
        }
    }

    /// The newest first; `before` is the last number of the page before. An empty set of states matches no URL.
    package func mediaURLs(
        _ states: Set<MediaURLRecord.State>, before: Int64?, limit: Int
    ) async throws(StoreError) -> [MediaURLRecord] {
        try await readers.rows(
            """
            SELECT \(MediaURLRecord.columns) FROM media WHERE state = ANY ($1) AND id < $2
            ORDER BY id DESC LIMIT $3
            """,
            [.texts(states.map(\.rawValue).sorted()), .number(before ?? .max), .number(Int64(limit))]
        ) { try MediaURLRecord($0) }
    }

    /// In the order of their numbers; unknown URLs are left out.
    package func mediaURLs(named urls: [String]) async throws(StoreError) -> [MediaURLRecord] {
        try await readers.rows(
            """
            SELECT \(MediaURLRecord.columns) FROM media
            WHERE digest IN (SELECT sha256(url) FROM unnest($1::bytea[]) AS n (url)) ORDER BY id
            """, [.manyBytes(urls.map { Array($0.utf8) })]
        ) { try MediaURLRecord($0) }
    }

    /// One round trip for any number of digests.
    package func knownFiles(of digests: [String]) async throws(StoreError) -> Set<String> {
        Set(
            try await readers.rows("SELECT sha256 FROM files WHERE sha256 = ANY ($1)", [.texts(digests)]) {
                try $0.text(0)
            })
    }
}

extension MediaFileRecord {
    /// `condition`: with order and limit. A file has at most five of its URLs.
    fileprivate static func all(
        _ condition: String, _ values: [PostgresValue], on connection: PostgresConnection
    ) throws -> [MediaFileRecord] {
        let rows = try connection.run("SELECT \(columns) FROM files WHERE \(condition)", values)
        let named = try connection.run(
            """
            SELECT f.sha256, m.url FROM unnest($1::text[]) AS f (sha256)
                CROSS JOIN LATERAL (SELECT url FROM media WHERE sha256 = f.sha256 LIMIT 5) m
            """, [.texts(try rows.map { try $0.text(3) })])
        let urls = try named.reduce(into: [String: [String]]()) { urls, row in
            urls[try row.text(0), default: []].append(String(decoding: try row.bytes(1), as: UTF8.self))
        }
        return try rows.map { row in try MediaFileRecord(row) { urls[$0] ?? [] } }
    }
}
