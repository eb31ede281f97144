import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

@Suite(.timeLimit(.minutes(5))) struct LineFloorsTests {
    // MARK: Against a model

    private static let seed = UInt64.random(in: 0 ... .max)

    /// Transactions, requeues and searches in any order: no delivery waits below the floor that a search applies.
    @Test(arguments: 0..<40) func noDeliveryIsBelowTheFloor(_ part: UInt64) {
        let seed = Self.seed &+ part
        var model = LineModel(seed: seed)
        for step in 0..<2_000 {
            model.step()
            guard model.missed.isEmpty else {
                Issue.record("seed \(seed), step \(step): missed \(model.missed)")
                return
            }
        }
        #expect(model.searchesWithFloor > 100, "seed \(seed)")
    }

    @Test func searchesWithoutAFloorTakeAFiftiethOfTheTime() {
        let floors = LineFloors()
        let zero = ContinuousClock.now
        var at = Duration.zero
        for number in 1...4 {
            let part = LinePart(
                after: nil, upTo: nil, lastKey: nil, isCut: false, firstDelivery: nil,
                lastAssigned: Int64(number) * 10, oldest: Int64(number), transactionID: Int64(number), requeues: 0)
            let floor = floors.floor(of: NodeBench.crm, at: zero + at)
            let took = Duration.milliseconds(number == 3 ? 10 : 1)
            floors.record(NodeBench.crm, part, floor, took: took, ended: zero + at + took)
            at += .milliseconds(10)
        }
        #expect(floors.floor(of: NodeBench.crm, at: zero + .milliseconds(529)).number == 21)
        #expect(floors.floor(of: NodeBench.crm, at: zero + .milliseconds(530)).isNone)
        floors.reset()
        #expect(floors.floor(of: NodeBench.crm, at: zero + .milliseconds(40)).isNone)
    }

    /// A search that was under way at a failover has seen the former numbers.
    @Test func aSearchThatEndsAfterAResetIsNotRecorded() {
        let floors = LineFloors()
        let former = floors.floor(of: NodeBench.crm)
        floors.reset()
        for number in 1...4 {
            let part = LinePart(
                after: nil, upTo: nil, lastKey: nil, isCut: false, firstDelivery: nil,
                lastAssigned: Int64(number) * 10, oldest: Int64(number), transactionID: Int64(number), requeues: 0)
            floors.record(NodeBench.crm, part, former, took: .milliseconds(1))
        }
        #expect(floors.floor(of: NodeBench.crm).isNone)
    }

    // MARK: On the database

    /// Such a search has not seen the later keys, even if it found exactly as many deliveries as it may.
    @Test func aSearchThatReachesItsLimitDoesNotReachTheEnd() async throws {
        try await NodeBench.withNodes(isOrdered: true) { node, _ in
            try await node.append(["c", "b", "a"].enumerated().map { NodeBench.event($0, under: $1) })
            let parts = try [1, 2, 1].map { limit in
                let order = ClaimOrder(
                    destination: NodeBench.crm, limit: limit, isOrdered: true, after: nil, upTo: nil, floor: .none(),
                    unreadable: [], dueSince: .distantPast)
                return try #require(try node.perform([order]).first?.part)
            }
            #expect(parts.map(\.lastKey) == ["a", "c", "c"])
            #expect(parts.map(\.isCut) == [true, true, false])
            #expect(parts.map(\.firstDelivery) == [3, 1, 1])
        }
    }

    @Test func aRequeuedDeliveryBelowTheFloorIsClaimed() async throws {
        try await NodeBench.withNodes(isOrdered: true) { node, other in
            try await node.append((0..<5).map { NodeBench.event($0, under: "k\($0)") })
            for lease in try await node.claim(from: NodeBench.crm, upTo: 5) {
                try await node.settle(Settlement(lease, .dead(status: 400, reason: "answered 400")))
            }
            // Above all, since no delivery waits.
            try await Self.search(node) { $0.number > 5 && $0.requeues == 0 }
            #expect(try await other.retry(DeliveryFilter(ids: [2])) == 1)
            node.wakeAll()
            #expect(try await node.claim(from: NodeBench.crm, upTo: 5).map(\.delivery) == [2])
            // The delivery is leased, but not ended.
            try await Self.search(node) { $0 == LineFloor(number: 2, requeues: 1, generation: 0) }
        }
    }

    /// A failover that lost commits assigns numbers again. The claim that finds it out has the floor of before.
    @Test func aClaimAfterAFailoverFindsDeliveriesBelowTheFormerFloor() async throws {
        try await NodeBench.withNodes(isOrdered: true) { node, _ in
            try await node.append((0..<5).map { NodeBench.event($0, under: "k\($0)") })
            for lease in try await node.claim(from: NodeBench.crm, upTo: 5) {
                try await node.settle(Settlement(lease, .delivered(status: 200)))
            }
            try await Self.search(node) { $0.number > 5 }
            let former = node.floors.floor(of: NodeBench.crm)
            let connection = try PostgresConnection(node.target)
            _ = try connection.run("DELETE FROM ended")
            _ = try connection.run("SELECT setval(pg_get_serial_sequence('queue', 'id'), 1, false)")
            try await node.append([NodeBench.event(5, under: "k")])
            node.membership.replace(try #require(node.membership.incarnation?.node))
            let order = ClaimOrder(
                destination: NodeBench.crm, limit: 5, isOrdered: true, after: nil, upTo: nil, floor: former,
                unreadable: [], dueSince: .distantPast)
            #expect(try node.perform([order]).first?.leases.map(\.delivery) == [1])
        }
    }

    /// The number of a delivery is assigned before those of others that end before its commit.
    @Test func aDeliveryThatIsCommittedLateIsClaimed() async throws {
        try await NodeBench.withNodes(isOrdered: true) { node, _ in
            try await node.append([NodeBench.event(0, under: "a")])
            let late = try PostgresConnection(node.target.with(["idle_in_transaction_session_timeout=0"]))
            _ = try late.run("BEGIN")
            _ = try late.run(
                "INSERT INTO queue (event, destination, due, order_key) SELECT seq, 'crm', 0, 'late' FROM events")
            for number in 1..<20 {
                try await node.append([NodeBench.event(number, under: "a")])
                node.wakeAll()
                for lease in try await node.claim(from: NodeBench.crm, upTo: 5) {
                    try await node.settle(Settlement(lease, .delivered(status: 200)))
                }
            }
            _ = try late.run("COMMIT")
            node.wakeAll()
            #expect(try await node.claim(from: NodeBench.crm, upTo: 5).contains { $0.orderKey == "late" })
        }
    }

    /// A transaction that is newer than all that have ended, and outlives two searches next to which nothing ends. On a
    /// server of its own: transactions of other databases count too.
    @Test func aTransactionThatOutlivesTwoSearchesIsNotPassed() async throws {
        let server = try await PostgresServer.start(.fast)
        let node = try PostgresStore(PostgresTarget(url: server.url))
        node.openLane(NodeBench.crm, isOrdered: true) {}
        while !node.isActive(NodeBench.crm) { await Task.yield() }
        try await node.append([NodeBench.event(0, under: "a")])
        for lease in try await node.claim(from: NodeBench.crm, upTo: 5) {
            try await node.settle(Settlement(lease, .delivered(status: 200)))
        }
        let late = try PostgresConnection(node.target.with(["idle_in_transaction_session_timeout=0"]))
        _ = try late.run("BEGIN")
        let rows = try late.run(
            """
            INSERT INTO queue (event, destination, due, order_key) SELECT seq, 'crm', 0, 'k' FROM events
            RETURNING id
            """)
        for _ in 0..<4 {
            node.wakeAll()
            #expect(try await node.claim(from: NodeBench.crm, upTo: 5).isEmpty)
        }
        _ = try late.run("COMMIT")
        try await node.append([NodeBench.event(1, under: "k")])
        node.wakeAll()
        let number = try #require(try rows.first?.number(0))
        #expect(try await node.claim(from: NodeBench.crm, upTo: 5).map(\.delivery) == [number])
        node.heartbeat.end()
        try await server.stop()
    }

    /// Searches until the floor is as expected. Other transactions of the server, such as heartbeats, may delay it.
    private static func search(_ node: PostgresStore, until isExpected: (LineFloor) -> Bool) async throws {
        repeat {
            node.wakeAll()
            _ = try await node.claim(from: NodeBench.crm, upTo: 5)
        } while !isExpected(node.floors.floor(of: NodeBench.crm))
    }
}

/// A line of deliveries with order keys, in memory, with transactions that commit in any order.
private struct LineModel {
    private struct Transaction {
        let xid: Int64
        var added: [(key: String, id: Int64)] = []
    }

    private var random: SeededGenerator
    private var waiting: [String: Set<Int64>] = [:]
    private var dead: [(key: String, id: Int64)] = []
    private var open: [Transaction] = []
    private var sequence: Int64 = 0
    private var nextXID: Int64 = 1
    private var requeues: Int64 = 0
    private var cursor: String?
    private let floors = LineFloors()
    private var now = ContinuousClock.now
    /// Deliveries that waited below the floor of a search.
    private(set) var missed: [Int64] = []
    private(set) var searchesWithFloor = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func step() {
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2: begin()
        case 3...5: commit()
        case 6...7: end()
        case 8 where Int.random(in: 0..<8, using: &random) == 0: requeue()
        default: search()
        }
    }

    private mutating func begin() {
        guard open.count < 3 else { return }
        var transaction = Transaction(xid: nextXID)
        nextXID += 1
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            sequence += 1
            transaction.added.append(("k\(Int.random(in: 0..<6, using: &random))", sequence))
        }
        open.append(transaction)
    }

    private mutating func commit() {
        guard !open.isEmpty else { return }
        let transaction = open.remove(at: Int.random(in: 0..<open.count, using: &random))
        guard Bool.random(using: &random) || Bool.random(using: &random) else { return }
        for (key, id) in transaction.added { waiting[key, default: []].insert(id) }
    }

    private mutating func end() {
        guard let key = waiting.keys.sorted().randomElement(using: &random),
            let id = waiting[key]?.min()
        else { return }
        waiting[key]?.remove(id)
        if waiting[key]?.isEmpty == true { waiting[key] = nil }
        dead.append((key, id))
    }

    private mutating func requeue() {
        guard let (key, id) = dead.randomElement(using: &random) else { return }
        dead.removeAll { $0.id == id }
        waiting[key, default: []].insert(id)
        requeues += 1
    }

    /// A claim, in one or two parts, that ends after some keys.
    private mutating func search() {
        var (after, upTo): (String?, String?) = (cursor, nil)
        var steps = Int.random(in: 1...8, using: &random)
        while true {
            let (passed, isCut) = look(after: after, upTo: upTo, steps: steps)
            steps -= passed.count
            cursor = passed.last ?? after
            guard !isCut else { return }
            guard upTo == nil, let last = after else { break }
            (after, upTo) = (nil, last)
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: cursor = nil
        case 1: cursor = "k\(Int.random(in: 0..<6, using: &random))"
        default: break
        }
    }

    private mutating func look(after: String?, upTo: String?, steps: Int) -> (passed: [String], isCut: Bool) {
        // A claim is a transaction, which begins before it reads the sequence.
        let own = nextXID
        nextXID += 1
        let lastAssigned = sequence
        // Others go on between the statement that reads the sequence and the one that searches.
        if Bool.random(using: &random) { begin() }
        if Bool.random(using: &random) { commit() }
        let floor = floors.floor(of: NodeBench.crm, at: now)
        let number = floor.requeues == requeues ? floor.number : 0
        if number > 0 { searchesWithFloor += 1 }
        missed += waiting.values.joined().filter { $0 < number }
        let keys = waiting.keys.sorted().filter { key in
            after.map { key > $0 } ?? true && upTo.map { key <= $0 } ?? true
        }
        let passed = Array(keys.prefix(steps))
        let isCut = passed.count < keys.count
        let part = LinePart(
            after: after, upTo: upTo, lastKey: passed.last ?? after, isCut: isCut,
            firstDelivery: passed.compactMap { waiting[$0]?.min() }.min(), lastAssigned: lastAssigned,
            oldest: min(own, open.map(\.xid).min() ?? own), transactionID: own, requeues: requeues)
        let duration = Duration.microseconds(Int.random(in: 1...20, using: &random))
        floors.record(NodeBench.crm, part, floor, took: duration, ended: now + duration)
        now += duration
        return (passed, isCut)
    }
}
