import Foundation
import SignalboxNotification
import SignalboxPostgres
import SignalboxStore

/// The store of several nodes, and a bare client that runs the same statements, in one database. Rates are events a
/// second.
public struct NodeMeasure: Sendable {
    let url: String
    let body: [UInt8]
    static let destination = DestinationName("crm")

    /// `database`: from ``makeDatabase(at:)``; its tables are made anew. `bytes`: of each event.
    public init(database url: String, bytes: Int = 1200) throws {
        self.url = url
        body = [UInt8](repeating: UInt8(ascii: "x"), count: bytes)
        try Self.clear(database: url)
        _ = try PostgresStore(PostgresTarget(url: url))
    }

    // MARK: Databases

    private static let name = "signalbox_bench"

    /// Makes a database for measurements, in place of an earlier one, and returns its URL. `server`: the URL of another
    /// database on the server, by a user who may create one.
    public static func makeDatabase(at server: String) throws -> String {
        try removeDatabase(at: server)
        try PostgresAdmin(PostgresTarget(url: server)).run("CREATE DATABASE \(name)")
        var url = URLComponents(string: server)
        url?.path = "/\(name)"
        return url?.string ?? server
    }

    /// Removes it, even if programs are connected to it.
    public static func removeDatabase(at server: String) throws {
        try PostgresAdmin(PostgresTarget(url: server)).run("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    /// Removes all tables of a database for measurements.
    public static func clear(database url: String) throws {
        let admin = try PostgresAdmin(PostgresTarget(url: url))
        try admin.run("DROP SCHEMA public CASCADE")
        try admin.run("CREATE SCHEMA public")
    }

    // MARK: Stores

    /// Stores that stay open for a measurement. `areOpen`: hand new deliveries to their lanes in memory.
    func stores(_ count: Int = 1, areOpen: Bool) async throws -> [PostgresStore] {
        var stores: [PostgresStore] = []
        for _ in 0..<count { stores.append(try PostgresStore(PostgresTarget(url: url))) }
        guard areOpen else { return stores }
        for store in stores {
            store.openLane(Self.destination) {}
            // The first heartbeat makes claims possible.
            while !store.isActive(Self.destination) { try await Task.sleep(for: .milliseconds(10)) }
        }
        return stores
    }

    func events(_ count: Int) -> [RoutedEvent] {
        let now = Date()
        return (0..<count).map { _ in
            RoutedEvent(
                event: Event(
                    id: EventID(at: now, random: (.random(in: 0 ... .max), .random(in: 0 ... .max))), source: .default,
                    acceptedAt: now, vendor: .unknown, kind: .alert, warnings: [], body: body),
                routes: [], deliveries: [DeliveryOrder(to: Self.destination)])
        }
    }

    /// Appends batches, on each node from `tasks` tasks at once. `begin`: called once, when the stores are open.
    public func append(
        _ rounds: Int, by size: Int, tasks: Int = 2, nodes: Int = 1, begin: () throws -> Void = {}
    ) async throws -> Double {
        let stores = try await stores(nodes, areOpen: false)
        try begin()
        return try await rate(of: stores, tasks: tasks) { store in
            for _ in 0..<rounds { try await store.append(events(size)) }
            return rounds * size
        }
    }

    /// Appends batches from two tasks. The lane takes them over in memory, and each of their deliveries is settled.
    public func handOver(_ rounds: Int, by size: Int) async throws -> Double {
        try await rate(of: try await stores(areOpen: true), tasks: 2) { store in
            var count = 0
            for _ in 0..<rounds {
                try await store.append(events(size))
                count += try await settle(try await store.claim(from: Self.destination, upTo: size), in: store)
            }
            return count
        }
    }

    /// Claims and settles what ``fill(_:by:)`` left, on each node from one task. `begin`: called once, when the stores
    /// are open.
    public func claim(
        _ rounds: Int, by size: Int, nodes: Int = 1, begin: () throws -> Void = {}
    ) async throws -> Double {
        let stores = try await stores(nodes, areOpen: true)
        try begin()
        return try await rate(of: stores, tasks: 1) { store in
            var count = 0
            for _ in 0..<rounds {
                count += try await settle(try await store.claim(from: Self.destination, upTo: size), in: store)
            }
            return count
        }
    }

    /// Settles in one list, as lanes settle the attempts that ended meanwhile. Returns the number of leases. Throws if
    /// an outcome was not recorded.
    func settle(_ leases: [Lease], in store: PostgresStore) async throws -> Int {
        let attempt = Attempt(startedAt: Date(), duration: .milliseconds(3), remote: "127.0.0.1:443")
        let settlements = leases.map { Settlement($0, .delivered(status: 200), attempt: attempt) }
        for result in await store.settle(settlements) {
            guard try result.get() == .recorded else { throw LostOutcome() }
        }
        return leases.count
    }

    /// A lease ended before its settlement, so the rate would count a delivery twice.
    private struct LostOutcome: Error {}

    /// Appends deliveries that no node holds, in batches of `size`, from two tasks. `count` is rounded down to a
    /// multiple of two batches.
    public func fill(_ count: Int, by size: Int = 100) async throws {
        _ = try await append(count / size / 2, by: size)
    }

    /// Events a second. `work`: returns the number of events; runs in `tasks` tasks for each store.
    private func rate(
        of stores: [PostgresStore], tasks: Int, _ work: @escaping @Sendable (PostgresStore) async throws -> Int
    ) async throws -> Double {
        let start = ContinuousClock.now
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for store in stores {
                for _ in 0..<tasks { group.addTask { try await work(store) } }
            }
            return try await group.reduce(0, +)
        }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }
}

extension NodeMeasure {
    // MARK: The bare client

    /// Runs the statements of an append on two connections.
    public func bareAppend(_ rounds: Int, by size: Int) throws -> Double {
        try parallel(rounds, by: size) { client in
            _ = try client.append(size, isFresh: false)
        }
    }

    /// Runs the statements of an append whose deliveries are leased at once, and of their settlement.
    public func bareHandOver(_ rounds: Int, by size: Int) throws -> Double {
        try parallel(rounds, by: size) { client in try client.settle(try client.append(size, isFresh: true)) }
    }

    /// Runs the statements of a claim and of its settlement on each connection.
    public func bareClaim(_ rounds: Int, by size: Int, connections: Int = 1) throws -> Double {
        try parallel(rounds, by: size, connections: connections) { client in
            try client.settle(try client.claim(size))
        }
    }

    private func parallel(
        _ rounds: Int, by size: Int, connections: Int = 2, _ work: @escaping @Sendable (BareWriter) throws -> Void
    ) throws -> Double {
        let clients = try (0..<connections).map { try BareWriter(url: url, body: body, lane: Int64($0)) }
        let clock = ContinuousClock()
        let start = clock.now
        let threads = DispatchGroup()
        for client in clients {
            DispatchQueue.global().async(group: threads) {
                do { for _ in 0..<rounds { try work(client) } } catch { print("the bare client failed: \(error)") }
            }
        }
        threads.wait()
        return Double(connections * rounds * size) / ((clock.now - start) / .seconds(1))
    }
}
