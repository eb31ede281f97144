import Foundation
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting

@testable import SignalboxPostgres

/// A schema of its own in the test server's database.
struct PostgresLocation: StoreLocation {
    static let followsJumps = false
    static let hasNodes = true

    let target: PostgresTarget

    static func withLocation(_ body: (Self) async throws -> Void) async throws {
        let name = "t\(UInt64.random(in: 1 ... .max))"
        let target = PostgresTarget(url: try await PostgresServer.sharedURL(), schema: name)
        try PostgresAdmin(target).run("CREATE SCHEMA \(name)")
        let result: Result<Void, any Error>
        do {
            result = .success(try await LocationTurns.shared.run { try await body(Self(target: target)) })
        } catch { result = .failure(error) }
        try drop(name, in: target)
        try result.get()
    }

    /// Stores of the check may still send a heartbeat: the server ends one of two that wait for each other.
    private static func drop(_ schema: String, in target: PostgresTarget) throws {
        for isLast in [false, false, false, false, true] {
            do throws(StoreError) {
                return try PostgresAdmin(target).run("DROP SCHEMA \(schema) CASCADE")
            } catch { if isLast { throw error } }
        }
    }

    func open(_ clock: ManualDate) throws(StoreError) -> any Store {
        try declareAllGone()
        return try PostgresStore(target, now: { clock.now })
    }

    func openBeside(_ clock: ManualDate) throws(StoreError) -> any Store {
        try PostgresStore(target, now: { clock.now })
    }

    func loseDelivery(_ id: Int64) async throws {
        try PostgresAdmin(target).run("DELETE FROM queue WHERE id = \(id)")
        try PostgresAdmin(target).run("DELETE FROM ended WHERE id = \(id)")
    }

    /// Declares every node gone, as if the earlier processes had ended long ago. Has no effect before the first store
    /// makes its tables. Fails if a transaction of a node holds one of the rows for 2 s.
    private func declareAllGone() throws(StoreError) {
        do {
            let connection = try PostgresConnection(target)
            guard try connection.run("SELECT to_regclass('nodes') IS NOT NULL").first?.flag(0) == true else { return }
            _ = try connection.run("UPDATE nodes SET is_live = false")
            _ = try connection.run("UPDATE marks SET is_closed = true")
            _ = try connection.run("UPDATE queue SET holder = NULL WHERE holder IS NOT NULL")
        } catch { throw StoreError(error) }
    }

    /// The size of the rows of the schema, in bytes, without indexes and free space: the server keeps free space for
    /// later rows. Reads every row. 0 for a schema without tables.
    func size() async throws -> Int64 {
        let connection = try PostgresConnection(target)
        let tables = try connection.run(
            """
            SELECT quote_ident(relname) FROM pg_class
            WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
            """
        ).map { try $0.text(0) }
        let sums = tables.map { "(SELECT coalesce(sum(pg_column_size(t.*)), 0) FROM \($0) t)" }
        guard !sums.isEmpty else { return 0 }
        return try connection.run("SELECT (\(sums.joined(separator: " + ")))::bigint").first?.number(0) ?? 0
    }
}
