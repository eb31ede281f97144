import SignalboxInApp
import SignalboxNotification
import SignalboxSQLite
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// A queue in SQLite that is copied into a database.
@Suite(.timeLimit(.minutes(5))) struct CopyTests {
    private static let key = [UInt8](repeating: 7, count: 32)

    /// The queue that is copied, and an empty schema.
    private func withSample(
        _ body: (SQLiteQueue, EmptySchema, String) async throws -> Void
    ) async throws {
        try await EmptySchema.with { location in
            try await withTemporaryDirectory { path in
                let (directory, queue) = try await CopySample.make(in: path)
                try await body(queue, location, path)
                withExtendedLifetime(directory) {}
            }
        }
    }

    private func copy(_ queue: SQLiteQueue, _ location: EmptySchema) throws -> PostgresCopy {
        let copy = try PostgresCopy(location.target, of: try queue.copySource())
        try copy.run(read: queue.copiedRows) { _, _ in }
        try copy.finish(tokenKey: Self.key)
        return copy
    }

    /// Compares every value of every table, the identity of events and the order aside.
    private func expectEqual(_ queue: SQLiteQueue, _ location: EmptySchema) throws {
        let connection = try PostgresConnection(location.target)
        for table in CopiedTable.all {
            var rows: [String] = []
            var position: CopyPosition?
            while true {
                let batch = try queue.copiedRows(of: table, after: position)
                guard let end = batch.end else { break }
                position = end
                rows += batch.texts
            }
            let columns = table.columns.map { column in
                switch column.kind {
                case .flag: "coalesce((\(column.name)::int)::text, '-')"
                case .bytes: "coalesce(encode(\(column.name), 'hex'), '-')"
                case .digest: "encode(url, 'hex')"
                case .number, .text, .orderKey, .eventID, .reference: "coalesce(\(column.name)::text, '-')"
                }
            }
            let list = columns.joined(separator: ", ")
            let found = try connection.run("SELECT concat_ws('|', \(list)) FROM \(table.name)").map { try $0.text(0) }
            let expected = rows.filter { !$0.hasPrefix("of another gateway") }
            #expect(!expected.isEmpty, "\(table.name)")
            #expect(found.sorted() == expected.sorted(), "\(table.name)")
        }
    }

    @Test func copiesEveryTableWithEqualNumbers() async throws {
        try await withSample { queue, location, _ in
            let copy = try copy(queue, location)
            try expectEqual(queue, location)
            let (before, after) = (try await queue.audit(), try await copy.audit())
            #expect(before.accounts == after.accounts)
            #expect(before.isRight && after.isRight, "\(before) \(after)")
            try copy.complete()

            let store = try PostgresStore(location.target, tables: .current)
            #expect(store.tokenKey == Self.key)
            let statuses = try await store.statuses()
            let expected = try await queue.statuses()
            #expect(statuses == expected)
            let kept = Ledger.Total(count: 3, last: 4)
            let rows = try await store.rows(of: .device("new", user: "old"), tallies: [])
            #expect(rows.state.user.ledger.totals == [.message("welcome"): kept])
        }
    }

    @Test func newNumbersFollowThoseOfTheSource() async throws {
        try await withSample { queue, location, _ in
            try copy(queue, location).complete()
            let connection = try PostgresConnection(location.target)
            for (table, column, next) in [
                ("events", "seq", CopySample.lastEvent + 1), ("queue", "id", CopySample.lastEvent + 1),
                ("variants", "id", 51), ("media", "id", 9), ("files", "id", 4), ("actions", "id", 41),
            ] {
                let row = try connection.run("SELECT nextval(pg_get_serial_sequence('\(table)', '\(column)'))").first
                #expect(try row?.number(0) == next, "\(table)")
            }
        }
    }

    @Test(arguments: [1, 2, 5, 9, 14, 20]) func continuesAfterItWasKilled(_ batches: Int) async throws {
        try await withSample { queue, location, path in
            let source = try queue.copySource()
            var left = batches
            let first = try PostgresCopy(location.target, of: source)
            #expect(!first.isResumed)
            #expect(throws: StoreError.unavailable(reason: "killed")) {
                try first.run { (table, position) throws(StoreError) in
                    guard left > 0 else { throw StoreError.unavailable(reason: "killed") }
                    left -= 1
                    return try queue.copiedRows(of: table, after: position)
                } progress: { _, _ in
                }
            }
            // Gateways would deliver a part of the queue.
            #expect(throws: StoreError.self) { try PostgresStore(location.target) }
            var reads = 0
            // As another process does.
            let queue = try SQLiteQueue.existing(in: path)
            let second = try PostgresCopy(location.target, of: try queue.copySource())
            #expect(second.isResumed)
            try second.run { (table, position) throws(StoreError) in
                reads += 1
                return try queue.copiedRows(of: table, after: position)
            } progress: { _, _ in
            }
            #expect(reads > 0)
            try second.finish(tokenKey: Self.key)
            try expectEqual(queue, location)
            #expect(try await second.audit().isRight)
        }
    }

    @Test func refusesADatabaseWithEventsOfItsOwn() async throws {
        try await withSample { queue, location, _ in
            _ = try PostgresStore(location.target)
            try PostgresAdmin(location.target).run(
                "INSERT INTO ledger (destination, node, lane) VALUES ('crm', 1, 0)")
            try expectRefusal("has events or records of its own", queue, location)
        }
    }

    @Test func refusesARunningGateway() async throws {
        try await withSample { queue, location, _ in
            _ = try PostgresStore(location.target)
            try PostgresAdmin(location.target).run(
                """
                INSERT INTO nodes (name, version, key, started_at, seen_at, is_live)
                VALUES ('a', '1', 'k', 0, clock_timestamp(), true)
                """)
            try expectRefusal("gateway or a command uses", queue, location)
            try PostgresAdmin(location.target).run("UPDATE nodes SET is_live = false")
            _ = try PostgresCopy(location.target, of: try queue.copySource())
        }
    }

    /// The gateway had no heartbeat for long, because it was suspended or could not reach the database; or it opened
    /// the database right before the copy began.
    @Test(arguments: [true, false]) func aGatewayThatComesBackDoesNotWrite(_ isRegistered: Bool) async throws {
        try await withSample { queue, location, _ in
            // Its own target: after a failed attempt, users of the same target soon make none.
            let target = PostgresTarget(url: location.target.url, schema: location.target.schema)
            let store = try PostgresStore(target)
            if isRegistered { _ = try store.membership.current() }
            let connection = try PostgresConnection(location.target)
            _ = try connection.run("UPDATE nodes SET seen_at = seen_at - interval '1 hour'")
            func expectNoWrite(_ words: String) async throws {
                let error = await #expect(throws: StoreError.self) { try await store.probe() }
                #expect(error?.description.contains(words) == true, "\(error as Any)")
                #expect(try connection.run("SELECT FROM nodes WHERE is_live").isEmpty)
            }
            _ = try PostgresCopy(location.target, of: try queue.copySource())
            try await expectNoWrite("is not complete")
            try copy(queue, location).complete()
            // It hashes tokens with another key than the queue.
            try await expectNoWrite("is not the database that the gateway opened")
            try await PostgresStore(location.target).probe()
        }
    }

    @Test func refusesAnotherQueueAndAChangedOne() async throws {
        try await withSample { queue, location, _ in
            let source = try queue.copySource()
            let changed = CopySource(identity: source.identity, version: "1", lastEvent: 0, lastDelivery: 0)
            _ = try PostgresCopy(location.target, of: changed)
            try expectRefusal("has changed since its copy", queue, location)
            try PostgresAdmin(location.target).run("UPDATE copies SET source = 'another'")
            try expectRefusal("has a copy of another queue", queue, location)
        }
    }

    @Test func refusesASecondCopy() async throws {
        try await withSample { queue, location, _ in
            try copy(queue, location).complete()
            // Without advice to drop tables that gateways may use.
            try expectRefusal("already. Start the gateways on it; for a second copy, name another", queue, location)
        }
    }

    private func expectRefusal(_ words: String, _ queue: SQLiteQueue, _ location: EmptySchema) throws {
        let error = #expect(throws: StoreError.self) {
            _ = try PostgresCopy(location.target, of: try queue.copySource())
        }
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }
}

/// A schema of its own in the test server's database.
private struct EmptySchema {
    let target: PostgresTarget

    static func with(_ body: (Self) async throws -> Void) async throws {
        let name = "t\(UInt64.random(in: 1 ... .max))"
        let target = PostgresTarget(url: try await PostgresServer.sharedURL(), schema: name)
        try PostgresAdmin(target).run("CREATE SCHEMA \(name)")
        let result: Result<Void, any Error>
        do { result = .success(try await body(Self(target: target))) } catch { result = .failure(error) }
        try PostgresAdmin(target).run("DROP SCHEMA \(name) CASCADE")
        try result.get()
    }
}

extension CopiedBatch {
    /// A line for each row. A NUL is U+FFFD, as in PostgreSQL.
    fileprivate var texts: [String] {
        (0..<count).map { row in
            columns.map { column in
                switch column {
                case .numbers(let values): values[row].map { String($0) } ?? "-"
                case .texts(let values): values[row]?.replacing("\0", with: "\u{FFFD}") ?? "-"
                case .bytes(let values):
                    values[row].map { bytes in
                        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                    } ?? "-"
                }
            }.joined(separator: "|")
        }
    }
}
