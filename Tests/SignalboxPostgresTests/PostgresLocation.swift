import Foundation
import SignalboxPostgres
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting

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
        // As if the earlier processes had ended long ago.
        try PostgresStore.declareAllGone(in: target)
        return try PostgresStore(target, now: { clock.now })
    }

    func openBeside(_ clock: ManualDate) throws(StoreError) -> any Store {
        try PostgresStore(target, now: { clock.now })
    }

    func loseDelivery(_ id: Int64) async throws {
        try PostgresAdmin(target).run("DELETE FROM queue WHERE id = \(id)")
        try PostgresAdmin(target).run("DELETE FROM ended WHERE id = \(id)")
    }

    func size() async throws -> Int64 { try PostgresAdmin(target).size() }
}
