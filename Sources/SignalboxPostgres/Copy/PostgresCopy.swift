import Foundation
package import SignalboxStore

/// Fills an empty database with the rows of another store, with equal numbers.
///
/// Each batch and its position are one transaction, so a copy that was interrupted continues after its last batch.
/// Gateways refuse the database until ``complete()``. Its calls block.
package struct PostgresCopy {
    private let target: PostgresTarget
    private let source: CopySource
    private let connection: PostgresConnection
    /// The table of the last batch, and its position; nil at the beginning. Read once, at the beginning: it does not
    /// follow the batches of this run.
    private let start: (table: String, position: CopyPosition)?

    /// Whether it continues a copy that was interrupted.
    package var isResumed: Bool { start != nil }

    /// Applies pending migrations, and begins or continues a copy. Throws ``StoreError/refused(reason:remedy:)`` while
    /// gateways use the database, for a database with content that is not of this copy, and when the source changed
    /// since the copy began.
    package init(_ target: PostgresTarget, of source: CopySource) throws(StoreError) {
        _ = try PostgresTables.migrate(target)
        (self.target, self.source) = (target, source)
        // Batches are larger than the writes of gateways.
        let connection = try PostgresTables.connect(target.with(["statement_timeout=120000"]))
        connection.patience = .seconds(130)
        self.connection = connection
        do {
            start = try CopyAdmission(target, source, connection).begin()
        } catch { throw StoreError(error) }
    }

    /// Copies all tables. `read`: the rows of a table after a position; none at its end. `progress`: called after each
    /// batch with the name of the table and its rows so far, of this run. Throws the first failure. A batch whose
    /// commit is unknown is sent again by the next run, and adds no row then.
    package func run(
        read: (CopiedTable, CopyPosition?) throws(StoreError) -> CopiedBatch,
        progress: (_ table: String, _ rows: Int) -> Void
    ) throws(StoreError) {
        let first = CopiedTable.all.firstIndex { $0.name == start?.table } ?? 0
        for table in CopiedTable.all[first...] {
            var position = table.name == start?.table ? start?.position : nil
            var rows = 0
            while true {
                let batch = try read(table, position)
                guard let end = batch.end else { break }
                position = end
                do { try insert(batch, end, into: table) } catch { throw StoreError(error) }
                rows += batch.count
                progress(table.name, rows)
            }
        }
    }

    private func insert(_ batch: CopiedBatch, _ end: CopyPosition, into table: CopiedTable) throws {
        let position = Array(try JSONEncoder().encode(end))
        // One transaction, because they are sent together.
        _ = try connection.run(all: [
            PostgresStatement(table.insertion, batch.arguments),
            PostgresStatement(
                "UPDATE copies SET table_name = $1, position = $2", [.text(table.name), .bytes(position)]),
        ])
    }

    /// Makes new numbers continue after those of the source, counts media, and takes the source's key for tokens. Gives
    /// the database another identity, so that a gateway that had opened it before, and has another key, must be
    /// restarted. `tokenKey`: 32 bytes. May be repeated: every value is set and none is added to. Blocks, for an hour
    /// at most for each of its three calls.
    package func finish(tokenKey: [UInt8]) throws(StoreError) {
        var statements = [
            sequence("events", "seq", atLeast: source.lastEvent),
            sequence("queue", "id", atLeast: source.lastDelivery, "(SELECT max(id) FROM deliveries)"),
        ]
        statements += ["variants", "files", "media", "actions"].map { sequence($0, "id", atLeast: 0) }
        statements += [
            PostgresStatement(
                """
                INSERT INTO media_counts (node, lane, wanted, stored, failed, files, bytes, held) SELECT 0, 0,
                    (SELECT count(*) FROM media WHERE state IN ('wanted', 'resting')),
                    (SELECT count(*) FROM media WHERE state = 'stored'),
                    (SELECT count(*) FROM media WHERE state = 'failed'),
                    (SELECT count(*) FROM files), (SELECT coalesce(sum(bytes), 0)::bigint FROM files),
                    (SELECT count(*) FROM media_waits)
                ON CONFLICT (node, lane) DO UPDATE SET (wanted, stored, failed, files, bytes, held) =
                    ROW (excluded.wanted, excluded.stored, excluded.failed, excluded.files, excluded.bytes,
                        excluded.held)
                """),
            PostgresStatement("UPDATE meta SET token_key = $1, id = $2", [.bytes(tokenKey), .text(UUID().uuidString)]),
        ]
        // Counts and statistics of large tables take their time.
        connection.patience = .seconds(3600)
        do {
            _ = try connection.run("SET statement_timeout = 0")
            _ = try connection.run(all: statements)
            // Without statistics, the first statements of gateways would read whole tables.
            _ = try connection.run("ANALYZE")
        } catch { throw StoreError(error) }
    }

    /// The next number follows the largest one. `table`, `column`: of the identity. `largest`: an expression. Both are
    /// constant text. `last`: the last number of the source, including rows that it has removed since. The first number
    /// is 1 if neither the table nor the source ever had one.
    private func sequence(
        _ table: String, _ column: String, atLeast last: Int64, _ largest: String? = nil
    ) -> PostgresStatement {
        let largest = largest ?? "(SELECT max(\(column)) FROM \(table))"
        return PostgresStatement(
            """
            SELECT setval(pg_get_serial_sequence('\(table)', '\(column)'), greatest(\(largest), $1, 1),
                greatest(\(largest), $1, 0) > 0)
            """, [.number(last)])
    }

    /// Audits the database that is being filled.
    package func audit() async throws(StoreError) -> Audit {
        try await PostgresStore(target, tables: .copying).audit()
    }

    /// Allows gateways to use the database. May be repeated. Checks nothing: the caller audits the copy first.
    package func complete() throws(StoreError) {
        do { _ = try connection.run("UPDATE copies SET is_done = true") } catch { throw StoreError(error) }
    }
}
