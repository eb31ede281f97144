import CPostgres
import Foundation
import SignalboxNotification
import SignalboxPostgres
import SignalboxStore

/// The store of several nodes, and a bare client that runs the same statements, in one schema of a database. Rates are
/// events a second.
public struct NodeMeasure: Sendable {
    private let target: PostgresTarget
    private let url: String
    private let body: [UInt8]
    private static let destination = DestinationName("crm")

    /// `url`: a database whose schema `schema` is made anew. `bytes`: of each event.
    public init(url: String, schema: String, bytes: Int = 1200) throws {
        target = PostgresTarget(url: url, schema: schema)
        self.url = url + (url.contains("?") ? "&" : "?") + "options=-csearch_path%3D\(schema)"
        body = [UInt8](repeating: UInt8(ascii: "x"), count: bytes)
        let admin = try PostgresAdmin(PostgresTarget(url: url))
        try admin.run("DROP SCHEMA IF EXISTS \(schema) CASCADE")
        try admin.run("CREATE SCHEMA \(schema)")
        _ = try PostgresStore(target)
    }

    // MARK: The store

    /// A store that stays open for a measurement. `isOpen`: hands new deliveries to its lane in memory.
    private func store(isOpen: Bool) async throws -> PostgresStore {
        let store = try PostgresStore(target)
        if isOpen {
            store.openLane(Self.destination) {}
            // The first heartbeat makes claims possible.
            while !store.isActive(Self.destination) { try await store.tick() }
        }
        return store
    }

    private func events(_ count: Int) -> [RoutedEvent] {
        let now = Date()
        return (0..<count).map { _ in
            RoutedEvent(
                event: Event(
                    id: EventID(at: now, random: (.random(in: 0 ... .max), .random(in: 0 ... .max))), source: .default,
                    acceptedAt: now, vendor: .unknown, kind: .alert,
                    warnings: [], body: body),
                routes: [], deliveries: [DeliveryOrder(to: Self.destination)])
        }
    }

    /// Appends batches from two tasks, as often as the bare client does on two connections.
    public func append(_ rounds: Int, by size: Int) async throws -> Double {
        let store = try await store(isOpen: false)
        return try await rate {
            try await withThrowingTaskGroup { group in
                for _ in 0..<2 {
                    group.addTask { for _ in 0..<rounds { try await store.append(events(size)) } }
                }
                try await group.waitForAll()
            }
            return 2 * rounds * size
        }
    }

    /// Appends batches that the lane takes over in memory, and settles each of their deliveries. In a schema without
    /// other deliveries.
    public func handOver(_ rounds: Int, by size: Int) async throws -> Double {
        let store = try await store(isOpen: true)
        return try await rate {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        var count = 0
                        for _ in 0..<rounds {
                            try await store.append(events(size))
                            count += try await settle(
                                try await store.claim(from: Self.destination, upTo: size), in: store)
                        }
                        return count
                    }
                }
                return try await group.reduce(0, +)
            }
        }
    }

    /// Claims and settles what ``fill(_:)`` left.
    public func claim(_ rounds: Int, by size: Int) async throws -> Double {
        let store = try await store(isOpen: true)
        return try await rate {
            var count = 0
            for _ in 0..<rounds {
                count += try await settle(try await store.claim(from: Self.destination, upTo: size), in: store)
            }
            return count
        }
    }

    /// Returns the number of leases.
    private func settle(_ leases: [Lease], in store: PostgresStore) async throws -> Int {
        try await withThrowingTaskGroup { group in
            for lease in leases {
                group.addTask {
                    try await store.settle(Settlement(lease, .delivered(status: 200), attempt: attempt))
                }
            }
            try await group.waitForAll()
        }
        return leases.count
    }

    private var attempt: Attempt {
        Attempt(startedAt: Date(), duration: .milliseconds(3), remote: "127.0.0.1:443")
    }

    /// Appends deliveries that no lane holds; `count` is rounded down to whole hundreds.
    public func fill(_ count: Int) async throws {
        let store = try await store(isOpen: false)
        for _ in 0..<count / 100 { try await store.append(events(100)) }
    }

    /// Events a second. `work`: returns the number of events.
    private func rate(_ work: () async throws -> Int) async throws -> Double {
        let start = ContinuousClock.now
        let count = try await work()
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

    /// Runs the statements of a claim and of its settlement on one connection.
    public func bareClaim(_ rounds: Int, by size: Int) throws -> Double {
        let client = try BareWriter(url: url, body: body, lane: 0)
        let clock = ContinuousClock()
        let time = try clock.measure {
            for _ in 0..<rounds { try client.settle(try client.claim(size)) }
        }
        return Double(rounds * size) / (time / .seconds(1))
    }

    private func parallel(
        _ rounds: Int, by size: Int, _ work: @escaping @Sendable (BareWriter) throws -> Void
    ) throws -> Double {
        let clients = try (0..<2).map { try BareWriter(url: url, body: body, lane: Int64($0)) }
        let clock = ContinuousClock()
        let start = clock.now
        let threads = DispatchGroup()
        for client in clients {
            DispatchQueue.global().async(group: threads) {
                do { for _ in 0..<rounds { try work(client) } } catch { print("the bare client failed: \(error)") }
            }
        }
        threads.wait()
        return Double(2 * rounds * size) / ((clock.now - start) / .seconds(1))
    }
}

/// The statements of the store's writes, run by a bare client under a node of its own. Unchecked: each is used by one
/// thread.
private final class BareWriter: @unchecked Sendable {
    private let client: BareClient
    private let body: [UInt8]
    private let lane: Int64
    private let node: Int64
    private var number: Int64 = 0

    init(url: String, body: [UInt8], lane: Int64) throws {
        client = try BareClient(url: url)
        (self.body, self.lane) = (body, lane)
        var node: Int64 = 0
        try client.run([
            (
                """
                WITH made AS (
                    INSERT INTO nodes (name, version, key, started_at, seen_at, is_live)
                    VALUES ('bare', '', '', 0, clock_timestamp() + interval '1 hour', true) RETURNING id
                )
                INSERT INTO marks (node, lane, number) SELECT id, 0, 0 FROM made UNION ALL SELECT id, 1, 0 FROM made
                RETURNING node
                """, Arguments()
            )
        ]) { node = Self.number($1, 0, 0) }
        self.node = node
    }

    private static func number(_ result: OpaquePointer, _ row: Int, _ column: Int) -> Int64 {
        UnsafeRawPointer(PQgetvalue(result, Int32(row), Int32(column))).map {
            Int64(bigEndian: $0.loadUnaligned(as: Int64.self))
        } ?? 0
    }

    private static func numbers(_ result: OpaquePointer, _ column: Int) -> [Int64] {
        (0..<Int(PQntuples(result))).map { number(result, $0, column) }
    }

    /// The beginning of a transaction.
    private func opening() -> [(String, Arguments)] {
        number += 1
        var arguments = Arguments()
        for value in [node, lane, number] { arguments.add(value) }
        return [("BEGIN", Arguments()), (FrequentStatements.mark, arguments)]
    }

    private func commit() throws {
        try client.run([(FrequentStatements.commit, Arguments()), ("COMMIT", Arguments())])
    }

    private var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    /// Returns the numbers of the deliveries.
    func append(_ count: Int, isFresh: Bool) throws -> [Int64] {
        var events = Arguments()
        events.addIDs(count)
        events.add("default", times: count)
        events.add("unknown/alert", times: count)
        events.add([Int64](repeating: now, count: count))
        events.add(body, times: count)
        events.addNulls((1001, 17), times: count)
        var numbers: [Int64] = []
        try client.run(opening() + [(FrequentStatements.events, events)]) {
            if $0 == 2 { numbers = Self.numbers($1, 0) }
        }
        var deliveries = Arguments()
        deliveries.add(node)
        deliveries.add(numbers)
        deliveries.add("crm", times: count)
        deliveries.add([Int64](repeating: now, count: count))
        deliveries.addNulls((1016, 20), times: count)
        deliveries.addNulls((1016, 20), times: count)
        deliveries.addNulls((1009, 25), times: count)
        deliveries.addNulls((1016, 20), times: count)
        deliveries.add(isFresh, times: count)
        try client.run([
            (FrequentStatements.deliveries, deliveries),
            (FrequentStatements.ledger, ledger(accepted: count, waiting: count, delivered: 0)),
        ]) { if $0 == 0 { numbers = Self.numbers($1, 0) } }
        try commit()
        return numbers
    }

    private func ledger(accepted: Int, waiting: Int, delivered: Int) -> Arguments {
        var arguments = Arguments()
        arguments.add(node)
        arguments.add(lane)
        arguments.add("crm", times: 1)
        for value in [accepted, waiting, 0, delivered, 0] { arguments.add([Int64(value)]) }
        return arguments
    }

    func claim(_ count: Int) throws -> [Int64] {
        var claim = Arguments()
        claim.add("crm")
        claim.add(now)
        claim.add(Int64(count))
        claim.add(node)
        claim.add([Int64]())
        var next = Arguments()
        next.add("crm")
        next.add(now)
        var numbers: [Int64] = []
        try client.run(opening() + [(FrequentStatements.claim, claim), (FrequentStatements.nextDue, next)]) {
            if $0 == 2 { numbers = Self.numbers($1, 2) }
        }
        try commit()
        return numbers
    }

    func settle(_ deliveries: [Int64]) throws {
        let count = deliveries.count
        var ended = Arguments()
        ended.add(node)
        ended.add(deliveries)
        ended.add([Int64](repeating: 1, count: count))
        ended.add("delivered", times: count)
        ended.add([Int64](repeating: now, count: count))
        ended.add([Int64](repeating: 200, count: count))
        ended.addNulls((1009, 25), times: count)
        ended.add([Int64](repeating: now, count: count))
        ended.add([Int64](repeating: 3, count: count))
        ended.addNulls((1009, 25), times: count)
        ended.add("127.0.0.1:443", times: count)
        ended.addNulls((1001, 17), times: count)
        ended.addNulls((1001, 17), times: count)
        try client.run(opening() + [(FrequentStatements.ended, ended)])
        try client.run([(FrequentStatements.ledger, ledger(accepted: 0, waiting: -count, delivered: count))])
        try commit()
    }
}
