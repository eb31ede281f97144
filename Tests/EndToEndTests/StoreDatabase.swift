import Foundation
import SignalboxServerTesting
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// An empty database of a test's own, in the server that all tests share or in `server`.
struct StoreDatabase {
    let url: String

    /// Removes the database afterwards, even while gateways use it.
    static func with<R>(in server: PostgresServer? = nil, _ body: (StoreDatabase) async throws -> R) async throws -> R {
        let shared = if let server { server.url } else { try await PostgresServer.sharedURL() }
        let name = "t\(UInt32.random(in: 1 ... .max))"
        let admin = PostgresTarget(url: shared)
        _ = try PostgresConnection(admin).run("CREATE DATABASE \(name) ENCODING 'UTF8' TEMPLATE template0")
        let start = try #require(shared.lastIndex(of: "/"))
        let result: Result<R, any Error>
        do { result = .success(try await body(StoreDatabase(url: shared[...start] + name))) } catch {
            result = .failure(error)
        }
        _ = try PostgresConnection(admin).run("DROP DATABASE \(name) WITH (FORCE)")
        return try result.get()
    }

    /// As commands name it.
    var place: String { PostgresTarget(url: url).place }

    /// The same database behind a proxy, or for another user. `port`: of the proxy.
    func url(user: String = "signalbox", port: Int? = nil) throws -> String {
        let parts = try #require(URLComponents(string: url))
        return "postgres://\(user)@\(parts.host ?? "")\(":\(port ?? parts.port ?? 5432)")\(parts.path)"
    }

    /// Runs statements, each on its own.
    func run(_ statements: String...) throws {
        let connection = try PostgresConnection(PostgresTarget(url: url))
        for sql in statements { _ = try connection.run(sql) }
    }

    /// Runs a query that returns one number.
    func number(_ sql: String) throws -> Int {
        Int(try PostgresConnection(PostgresTarget(url: url)).run(sql).first?.number(0) ?? -1)
    }

    /// Runs a command of words against the database.
    func command(
        _ words: String, in directory: String, input: Data = Data(), environment: [String: String] = [:]
    ) async throws -> BuiltBinary.Result {
        try await binary.run(
            words.split(separator: " ").map(String.init) + ["--store", url], input: input, in: directory,
            environment: environment.merging(["WEBHOOK_SECRET": Gateway.secret]) { $1 })
    }
}

/// Polls a condition until it holds. Throws after a minute.
func eventually(_ awaited: String, _ isMet: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try await !isMet() {
        try #require(ContinuousClock.now < end, "\(awaited) did not come")
        await Task.yield()
    }
}
