/// The size of the stored events, deliveries and records, in bytes.
///
/// The files of the tables never shrink, because the server keeps the space of removed rows for new ones. So the size
/// of the content is estimated from a sample of the pages, which costs the same for any size.
enum ContentSize {
    /// The most pages of a table that an estimate reads. The estimate is then within a few percent.
    private static let pages = 2000

    /// The approximate size of a row of `ended` with its entries in indexes.
    static let endedRow: Int64 = 190

    /// A table, the bytes of its columns of variable length, and the approximate size of the rest of a row with its
    /// entries in indexes.
    private static let tables: [(name: String, bytes: String, overhead: Int64)] = [
        ("events", EventRemoval.bytes, 0), ("variants", stored("body"), 80), ("payloads", stored("payload"), 70),
        ("queue", "coalesce(octet_length(excerpt), 0) + coalesce(octet_length(exchange), 0)", 220),
        ("ended", "coalesce(octet_length(excerpt), 0) + coalesce(octet_length(exchange), 0)", endedRow),
        ("attempts", "coalesce(octet_length(excerpt), 0) + coalesce(octet_length(exchange), 0)", 130),
        ("requests", RecordTable.requests.bytes, 0), ("duplicates", RecordTable.duplicates.bytes, 0),
        ("reports", "0", 90),
    ]

    /// Whether a row of `pg_class` is of the schema of the tables. Not `current_schema()`: another schema may have come
    /// first in the user's `search_path` since they were made.
    static let isOurs = "relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'queue'::regclass)"

    /// The approximate size of a value of bytes on disk. The server cuts longer ones into chunks of a quarter of a
    /// page, and has an entry in an index for each (PostgreSQL 15, chapter 73.2). `column`: constant text. 0 for NULL.
    static func stored(_ column: String) -> String {
        """
        coalesce(octet_length(\(column)) + CASE WHEN octet_length(\(column)) >= 1900
            THEN octet_length(\(column)) / 12 + 700 ELSE 0 END, 0)
        """
    }

    /// The size of the files of these tables, with their indexes and free space. Reads no page of a table, so it is
    /// cheap. It may stay above a limit although most of it is free.
    static func allocated(on connection: PostgresConnection) throws -> Int64 {
        try connection.run(
            """
            SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
            WHERE \(isOurs) AND relname = ANY ($1)
            """, [.texts(tables.map(\.name))]
        ).first?.number(0) ?? 0
    }

    /// The size of the rows that are stored, without free space. Uses no statistics of the planner, so it does not
    /// depend on an earlier `ANALYZE`. Samples each table in a statement of its own.
    static func estimate(on connection: PostgresConnection) throws -> Int64 {
        let sizes = Dictionary(
            uniqueKeysWithValues: try connection.run(
                """
                SELECT relname::text, pg_relation_size(oid) / current_setting('block_size')::bigint FROM pg_class
                WHERE \(isOurs) AND relname = ANY ($1)
                """, [.texts(tables.map(\.name))]
            ).map { (try $0.text(0), Int(try $0.number(1))) })
        var total = 0.0
        for table in tables {
            // Thousandths of a percent.
            let share = min(100_000, max(1, pages * 100_000 / max(1, sizes[table.name] ?? 1)))
            let row = try connection.run(
                """
                SELECT count(*), coalesce(sum((\(table.bytes))::bigint), 0)::bigint
                FROM \(table.name) TABLESAMPLE SYSTEM ($1::real / 1000)
                """, [.number(Int64(share))]
            ).first
            let (rows, bytes) = (try row?.number(0) ?? 0, try row?.number(1) ?? 0)
            total += Double(bytes + rows * table.overhead) * 100_000 / Double(share)
        }
        return Int64(total)
    }
}
