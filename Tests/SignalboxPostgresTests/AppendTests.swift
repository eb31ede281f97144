import Foundation
import SignalboxNotification
import SignalboxStore
import Testing

@testable import SignalboxPostgres

/// Appends of several nodes at once, and appends that the server rejects. `StoreConformance` has the promises that
/// every store keeps.
@Suite(.timeLimit(.minutes(5))) struct AppendTests {
    private let crm = DestinationName("crm")

    // MARK: Several nodes

    @Test func oneOfEqualRequestsOnTwoNodesIsAccepted() async throws {
        try await withNodes { nodes in
            let results = try await onAll(nodes, times: 40) { node, number in
                try await node.append([event()], of: request("k", answer: "\(number)"))
            }
            #expect(results.count { $0 == .appended(duplicates: [:]) } == 1)
            #expect(Set(results.compactMap(\.answer)).count == 1)
            #expect(try await nodes[0].eventCount() == 1)
        }
    }

    /// Begins a transaction of another node that accepts a request.
    private func accept(_ key: String, answer: String, in target: PostgresTarget) throws -> PostgresAdmin {
        let other = try PostgresAdmin(target)
        try other.run("BEGIN")
        try other.run(
            """
            INSERT INTO requests (source, key, digest, answer, status, at)
            VALUES ('default', '\(key)', '\\x01', '\(answer)', 202, 9007199254740991)
            """)
        return other
    }

    @Test func aRequestWaitsForAnEqualOneThatIsBeingAccepted() async throws {
        try await withNodes { nodes in
            let other = try accept("k", answer: "first", in: nodes[0].target)
            async let result = nodes[0].append([event()], of: request("k", answer: "second"))
            try other.run("COMMIT")
            let answer = try await result.answer
            #expect(answer == "first")
            #expect(try await nodes[0].eventCount() == 0)
        }
    }

    @Test func aRequestIsAcceptedWhenAnEqualOneIsRolledBack() async throws {
        try await withNodes { nodes in
            let other = try accept("k", answer: "first", in: nodes[0].target)
            async let result = nodes[0].append([event()], of: request("k", answer: "second"))
            try other.run("ROLLBACK")
            let appended = try await result
            #expect(appended == .appended(duplicates: [:]))
        }
    }

    @Test func anEventWithALastingIDIsStoredOnceByTwoNodes() async throws {
        try await withNodes { nodes in
            let events = (0..<50).map { _ in event(hasLastingID: true) }
            let results = try await onAll(nodes, times: 4) { node, number in
                // Each order of the same events.
                try await node.append(number.isMultiple(of: 2) ? events : events.reversed())
            }
            #expect(results.reduce(0) { $0 + 50 - $1.duplicates.count } == 50)
            #expect(try await nodes[0].eventCount() == 50)
            #expect(try await nodes[1].deliveries(DeliveryFilter(), limit: 100).count == 50)
        }
    }

    @Test func oneOfEqualEventsOnTwoNodesIsNotADuplicate() async throws {
        try await withNodes { nodes in
            let results = try await onAll(nodes, times: 20) { node, number in
                let keys = (0..<10).map { "key \($0)" }
                let events = (number.isMultiple(of: 2) ? keys : keys.reversed()).map { event(repeating: $0) }
                return try await node.append(events)
            }
            #expect(results.reduce(0) { $0 + 10 - $1.duplicates.count } == 10)
            #expect(try await nodes[0].eventCount() == 10)
        }
    }

    @Test func aRequestWithADuplicateStoresTheAnswerThatNamesIt() async throws {
        try await withNodes { nodes in
            let first = event(repeating: "x")
            try await nodes[0].append([first])
            let request = IdempotentRequest(from: .default, key: "k", digest: [1]) { duplicates in
                StoredAnswer(status: 200, body: Array(duplicates.values.joined().utf8))
            }
            let id = first.event.id.description
            let result = try await nodes[1].append([event(repeating: "x")], of: request)
            #expect(result.duplicates == [0: id])
            let repeated = try await nodes[0].append([event(repeating: "x")], of: request)
            #expect(repeated.answer == id)
        }
    }

    // MARK: Errors of the server

    /// A serialisation failure, a deadlock, and a lock that another transaction holds.
    @Test(arguments: ["40001", "40P01", "55P03"]) func anAppendThatMeetsOtherTransactionsIsRunAgain(_ state: String)
        async throws
    {
        try await withNodes { nodes in
            let node = nodes[0]
            node.lanes.open(crm, isOrdered: false) {}
            try fail("queue", with: state, times: 3, in: node.target)
            try await node.append((0..<20).map { _ in event() })
            #expect(try await node.eventCount() == 20)
            #expect(node.heldCount(crm) == 20)
            #expect(node.lanes.withHandOff { $0.reserved } == 20 * (HandOff.overhead + event().event.body.count))
        }
    }

    @Test func anAppendThatFailsFreesItsRoom() async throws {
        try await withNodes { nodes in
            let node = nodes[0]
            node.lanes.open(crm, isOrdered: false) {}
            for table in ["queue", "ledger"] {
                try fail(table, with: "53100", times: 1, in: node.target)
                await #expect(throws: StoreError.self) { try await node.append([event(), event()]) }
                #expect(node.heldCount(crm) == 0)
                #expect(node.lanes.withHandOff { $0.reserved } == 0)
            }
            try await node.append([event()])
            #expect(try await node.eventCount() == 1)
        }
    }

    @Test func anAppendThatCannotBeStoredFailsAlone() async throws {
        try await withNodes { nodes in
            let node = nodes[0]
            let stored = event()
            try await node.append([stored])
            let failures = await withTaskGroup { group in
                for number in 0..<100 {
                    group.addTask {
                        do { try await node.append([number % 25 == 7 ? stored : event()]) } catch { return 1 }
                        return 0
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(failures == 4)
            #expect(try await node.eventCount() == 97)
            #expect(try await node.accounts().map(\.accepted) == [97])
        }
    }

    /// A repeat needs no room. Otherwise the gateway would be ready although it stores no new event.
    @Test func aRepeatedEventDoesNotEndTheFaultOfAFullDisk() async throws {
        try await withNodes { nodes in
            let known = event(hasLastingID: true)
            try await nodes[0].append([known])
            let full = StoreError.unavailable(reason: "the disk of the database is full")
            nodes[0].health.commitFailed(CommitFailure(reason: full, mayBeOfOneWrite: false), ofEvents: true)
            try await nodes[0].append([known])
            #expect(nodes[0].health.fault == full)
            try await nodes[0].append([event()])
            #expect(nodes[0].health.fault == nil)
        }
    }

    // MARK: Order and values

    @Test func appendsWithOrderKeysAreStoredInTheirOrder() async throws {
        try await withNodes { nodes in
            let events = (0..<300).map { _ in event(orderKey: "k") }
            for event in events { nodes[0].append([event]) { _ in } }
            await nodes[0].finish()
            let found = try await nodes[0].deliveries(DeliveryFilter(), limit: 400)
            #expect(found.reversed().map(\.event) == events.map(\.event.id.description))
        }
    }

    @Test func valuesThatPostgreSQLCannotHoldAreReplaced() async throws {
        try await withNodes { nodes in
            let long = (0..<5000).map { "\($0 &* 7919)" }.joined()
            let odd = event(subject: "a\0b", orderKey: long, about: "not a UUID")
            try await nodes[0].append([odd, event(orderKey: long), event(orderKey: long + "x")])
            let stored = try await nodes[0].event(odd.event.id.description)
            #expect(stored?.subject == "a\u{FFFD}b")
            let rows = try await nodes[0].readers.read { connection in
                try connection.run("SELECT order_key FROM queue ORDER BY id").map { try $0.text(0) }
            }
            #expect(Set(rows).count == 2 && rows[0] == rows[1])
            #expect(rows.allSatisfy { $0.utf8.count == 71 })
        }
    }

    @Test(arguments: ["", "x", "01939B4E-7C1A-7D2E-9A54-0C8F6F1F3C11", "{01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c1}"])
    func otherSpellingsOfAnIDAreUnknownEvents(_ id: String) async throws {
        try await withNodes { nodes in
            #expect(PostgresValue.eventID(id) == nil)
            let found = try await nodes[0].event(id)
            #expect(found == nil)
        }
    }

    @Test func aGroupLargerThanAStatementKeepsItsOrder() async throws {
        try await withNodes { nodes in
            let events = (0..<12).map { _ in event(size: AppendBatch.chunkBytes / 5) }
            try await nodes[0].append(events)
            let found = try await nodes[0].deliveries(DeliveryFilter(), limit: 20)
            #expect(found.reversed().map(\.event) == events.map(\.event.id.description))
            #expect(try await nodes[0].accounts().map(\.accepted) == [12])
        }
    }

    // MARK: Steps

    /// Two nodes of one new database.
    private func withNodes(_ body: ([PostgresStore]) async throws -> Void) async throws {
        try await PostgresLocation.withLocation { location in
            try await body([PostgresStore(location.target), PostgresStore(location.target)])
        }
    }

    /// Runs appends on all nodes at once.
    private func onAll(
        _ nodes: [PostgresStore], times: Int,
        _ append: @escaping @Sendable (PostgresStore, Int) async throws -> AppendResult
    ) async throws -> [AppendResult] {
        try await withThrowingTaskGroup { group in
            for number in 0..<times {
                for (index, node) in nodes.enumerated() {
                    group.addTask { try await append(node, number * nodes.count + index) }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Makes the next inserts into a table fail. A sequence counts them, since it is not rolled back.
    private func fail(_ table: String, with state: String, times: Int, in target: PostgresTarget) throws {
        let admin = try PostgresAdmin(target)
        try admin.run("CREATE SEQUENCE \(table)_failures")
        try admin.run(
            """
            CREATE FUNCTION fail_\(table)() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('\(table)_failures') <= \(times) THEN
                    RAISE EXCEPTION 'injected' USING ERRCODE = '\(state)';
                END IF;
                RETURN NULL;
            END $$
            """)
        try admin.run(
            """
            CREATE TRIGGER fails AFTER INSERT ON \(table) FOR EACH STATEMENT EXECUTE FUNCTION fail_\(table)()
            """)
    }

    private func event(
        subject: String = "a/b", orderKey: String? = nil, repeating key: String? = nil, hasLastingID: Bool = false,
        about: String? = nil, size: Int = 10
    ) -> RoutedEvent {
        let now = Date()
        let event = Event(
            id: EventID(at: now, random: (.random(in: 0 ... .max), .random(in: 0 ... .max))), source: .default,
            acceptedAt: now, vendor: .unknown, kind: .alert, warnings: [], subject: subject,
            body: [UInt8](repeating: 32, count: size))
        return RoutedEvent(
            event: event, routes: [], deliveries: [DeliveryOrder(to: crm, orderKey: orderKey)],
            dedupe: key.map { RoutedEvent.Dedupe(key: $0, since: now - 86_400) }, hasLastingID: hasLastingID,
            about: about)
    }

    private func request(_ key: String, answer: String) -> IdempotentRequest {
        IdempotentRequest(from: .default, key: key, digest: [1]) { _ in
            StoredAnswer(status: 202, body: Array(answer.utf8))
        }
    }
}

extension AppendResult {
    /// The answer to a repeated request.
    fileprivate var answer: String? {
        guard case .repeated(let answer) = self else { return nil }
        return String(decoding: answer.body, as: UTF8.self)
    }

    fileprivate var duplicates: [Int: String] {
        guard case .appended(let duplicates) = self else { return [:] }
        return duplicates
    }
}

extension PostgresStore {
    /// The number of leased deliveries.
    fileprivate func heldCount(_ destination: DestinationName) -> Int {
        lanes.withHandOff { $0.lanes[destination]?.held.count ?? 0 }
    }
}
