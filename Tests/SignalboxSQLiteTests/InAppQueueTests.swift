import Dispatch
import Foundation
import GRDB
import SignalboxInApp
import SignalboxNotification
import SignalboxStoreTesting
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

/// In-app rows in SQLite: query plans, faults and damage.
@Suite(.timeLimit(.minutes(15))) struct InAppQueueTests {
    /// A decision among a million users reads the rows of its own user and device.
    @Test func everyStatementFindsItsRowsByAnIndex() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let removal = [
                InAppRemoval.overMessages, InAppRemoval.endlessMessages, InAppRemoval.seenUser,
                InAppRemoval.seenDevice, InAppRemoval.unseenUsers, InAppRemoval.unseenDevices,
                InAppRemoval.totalsOfMessage,
            ]
            let others = [
                SQLiteQueue.dueDevices, SQLiteQueue.nextDue, SQLiteQueue.page(includingWithdrawn: true),
                SQLiteQueue.page(includingWithdrawn: false),
            ]
            for sql in InAppStatement.allCases.map(\.sql) + removal + others {
                let steps = try await queue.file.pool.read { db in
                    try StoredRow.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)", arguments: Self.arguments(of: sql))
                        .map { try $0.text(3) }
                }
                #expect(steps.allSatisfy { $0.hasPrefix("SEARCH") }, "\(sql): \(steps)")
            }
        }
    }

    private static func arguments(of sql: String) -> StatementArguments {
        StatementArguments(repeatElement(1, count: sql.count { $0 == "?" }))
    }

    /// Decisions, registrations and upkeep throw while the disk is full, and change no row.
    @Test func noInAppRowChangesWhileTheDiskIsFull() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            try await queue.writeInAppRows(0, at: Date())
            let before = try await queue.rows(of: .device("d0", user: "u0"), tallies: ["m0"])
            try await limitPages(of: queue, to: 1)
            let full = StoreError.unavailable(reason: "the disk is full")
            let large = Array(repeating: UInt8(ascii: " "), count: 100_000)
            await #expect(throws: full) { try await queue.register(InAppRegistration(id: "large", body: large)) }
            await #expect(throws: full) {
                try await queue.decide(about: .device("d0", user: "u0"), tallies: []) { rows in
                    var device = rows.state.device
                    device.answers = [.init(key: String(decoding: large, as: UTF8.self), offer: nil)]
                    return InAppStep((), changes: [.device(device), .user("u0", lastNow: 1)])
                }
            }
            let after = try await queue.rows(of: .device("d0", user: "u0"), tallies: ["m0"])
            #expect(after.state == before.state)
            #expect(try await queue.message("large") == nil)
            try await limitPages(of: queue, to: 1_000_000)
            _ = try await queue.register(InAppRegistration(id: "large", body: large))
            #expect(try await queue.audit().isRight)
        }
    }

    private func limitPages(of queue: SQLiteQueue, to count: Int) async throws {
        try await queue.file.pool.writeWithoutTransaction { db in
            _ = try Int.fetchOne(db, sql: "PRAGMA max_page_count = \(count)")
        }
    }

    /// A group looks once whether any message has an address, and again after a message has changed.
    @Test func aDecisionSeesAMessageOfItsGroup() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let subject = InAppSubject.device("d", user: "u")
            // The group behind this decision fills while it waits.
            let gate = DispatchSemaphore(value: 0)
            queue.decide(about: subject, tallies: []) { _ in
                gate.wait()
                return InAppStep(())
            } whenDone: { _ in
            }
            let counts = Mutex<[Int]>([])
            let last = await withCheckedContinuation { (done: CheckedContinuation<Result<Int, StoreError>, Never>) in
                queue.decide(about: subject, tallies: []) {
                    InAppStep($0.addressed.count)
                } whenDone: { result in
                    if let count = try? result.get() { counts.withLock { $0.append(count) } }
                }
                queue.commits.submit(
                    .register(InAppRegistration(id: "m", body: [], address: .user("u"), end: nil)), { _ in })
                queue.decide(about: subject, tallies: []) {
                    InAppStep($0.addressed.count)
                } whenDone: {
                    done.resume(returning: $0)
                }
                gate.signal()
            }
            #expect(try last.get() == 1)
            #expect(counts.withLock { $0 } == [0])
        }
    }

    /// A decision whose event cannot be written fails alone. The others of its group run again, and each takes effect
    /// once.
    @Test func aSplitGroupDecidesOnce() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            try await queue.file.pool.write { db in
                try db.execute(
                    sql: """
                        CREATE TRIGGER bad BEFORE INSERT ON events WHEN NEW.body = x'07'
                        BEGIN SELECT RAISE(ABORT, 'bad'); END
                        """)
            }
            let results = await withTaskGroup(of: Result<Int, StoreError>.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        do throws(StoreError) {
                            return .success(
                                try await queue.decide(about: .device("d", user: "u"), tallies: []) { rows in
                                    Self.next(after: rows.state.device, isBad: number == 50)
                                })
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let sessions = results.compactMap { try? $0.get() }
            #expect(sessions.sorted() == Array(1...99), "each sees those before it")
            #expect(try await queue.rows(of: .device("d", user: "u"), tallies: []).state.device.session == 99)
            #expect(try await queue.eventCount() == 0)
            #expect(queue.health.damage == nil)
        }
    }

    /// Counts the sessions of a device. Returns the number.
    private static func next(after device: DeviceState, isBad: Bool) -> InAppStep<Int> {
        var device = device
        device.session += 1
        let now = Date()
        let event = Event(
            id: EventID(at: now, random: (.random(in: 0 ... .max), .random(in: 0 ... .max))), source: .default,
            acceptedAt: now, vendor: .unknown, kind: .alert, warnings: [], body: [7])
        let events = isBad ? [RoutedEvent(event: event, routes: [], deliveries: [])] : []
        return InAppStep(device.session, changes: [.device(device)], events: events)
    }

    /// Content that the gateway never writes is damage to the audit, to explanations and to decisions.
    @Test(arguments: [
        ("inapp_devices", "state = x'01ff'"), ("inapp_devices", "state = x'02'"), ("inapp_devices", "session = -1"),
        ("inapp_devices", "state = x'01010401020304'"), ("inapp_offers", "state = 'Q'"),
        ("inapp_offers", "lists = x'0101'"), ("inapp_displays", "limits = 'text'"), ("inapp_displays", "count = 1.5"),
        ("inapp_totals", "what = 9"), ("inapp_tallies", "reserved = -5"), ("inapp_messages", "body = 'text'"),
        ("inapp_users", "last_now = 'x'"), ("inapp_messages", "revision = -1"),
        ("inapp_users", "ledger = 'text'"), ("inapp_devices", "ledger = x'02'"), ("inapp_users", "ledger = x'0101'"),
        ("inapp_devices", "offers = '1 x'"), ("inapp_devices", "offers = '99'"), ("inapp_devices", "offers = ''"),
    ])
    func reportsUnreadableRows(_ table: String, _ change: String) async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            for number in 0..<3 { try await queue.writeInAppRows(number, at: Date()) }
            if ["inapp_displays", "inapp_totals"].contains(table) { try await queue.spreadLedgers() }
            #expect(try await queue.audit().isRight)
            try await queue.file.pool.write { try $0.execute(sql: "UPDATE \(table) SET \(change)") }
            let damage = try await queue.audit().damage
            #expect(damage.contains { $0.contains(" of \(table) cannot be read") }, "\(damage)")
            await #expect(throws: StoreError.self) {
                try await queue.rows(of: .device("d2", user: "u2"), tallies: ["m2"])
            }
            await #expect(throws: StoreError.self) {
                try await queue.decide(about: .device("d2", user: "u2"), tallies: ["m2"]) { _ in InAppStep(()) }
            }
            #expect(queue.health.damage != nil)
        }
    }

    @Test(arguments: [("inapp_devices", "offers"), ("inapp_devices", "displays"), ("inapp_users", "totals")])
    func reportsRowsWithoutTheirOwner(_ owners: String, _ rows: String) async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            try await queue.writeInAppRows(1, at: Date())
            try await queue.spreadLedgers()
            try await queue.file.pool.write { try $0.execute(sql: "DELETE FROM \(owners)") }
            let damage = try await queue.audit().damage
            #expect(damage.contains { $0.contains("1 row of inapp_\(rows) belongs to no") }, "\(damage)")
        }
    }

    /// A directory of the version before in-app messages keeps its events and deliveries.
    @Test func opensAFileWithoutInAppTables() async throws {
        try await withTemporaryDirectory { directory in
            let earlier = DamagedFile(directory: directory)
            try await earlier.fill(events: 8)
            let counts = try await Self.removeInAppTables(earlier.path)
            let queue = try SQLiteQueue(in: directory)
            #expect(try await queue.eventCount() == 8)
            #expect(try await queue.counts().values.flatMap(\.values).reduce(0, +) == counts)
            try await queue.writeInAppRows(0, at: Date())
            #expect(try await queue.audit().isRight)
        }
    }

    /// Returns the number of deliveries.
    private static func removeInAppTables(_ path: String) async throws -> Int {
        let file = try DatabaseQueue(path: path)
        defer { try? file.close() }
        return try await file.write { db in
            for table in try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE name GLOB 'inapp_*'")
            where try db.tableExists(table) { try db.drop(table: table) }
            let names = "'inapp', 'ledgers', 'offers', 'numbers'"
            try db.execute(sql: "DELETE FROM grdb_migrations WHERE identifier IN (\(names))")
            return try Int.fetchOne(db, sql: "SELECT count(*) FROM deliveries") ?? 0
        }
    }

    /// Fields that a later version adds are passed over.
    @Test func passesOverUnknownFields() throws {
        var device = DeviceState(id: "d")
        device.answers = [.init(key: "k", offer: "o")]
        var later = FieldWriter()
        later.add(200, "new")
        later.add(201) { $0.add(1, 7) }
        let bytes = DeviceFields.write(device) + later.bytes.dropFirst()
        var read = DeviceState(id: "d")
        try bytes.withUnsafeBytes { try DeviceFields.read($0, into: &read) }
        #expect(read == device)
    }

    /// Sums with such numbers would overflow.
    @Test func rejectsNumbersThatNoColumnHolds() {
        var (late, busy) = (DeviceState(id: "d"), DeviceState(id: "d"))
        late.recent = [.init(event: .sessionStart, at: .min)]
        busy.activity = [Int](repeating: 0, count: 23) + [.max]
        for bytes in [DeviceFields.write(late), DeviceFields.write(busy)] {
            #expect(throws: DamagedValue.self) {
                var read = DeviceState(id: "d")
                try bytes.withUnsafeBytes { try DeviceFields.read($0, into: &read) }
            }
        }
    }

    /// No bytes make the reader trap.
    @Test(arguments: [20_261_122, UInt64.random(in: 0 ... .max)]) func readsAnyBytes(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var device = DeviceState(id: "d")
        device.client.topics = ["news", "sport"]
        device.recent = [.init(event: .event(name: "buy", properties: ["p": .list([.number(1), .text("x")])]), at: 1)]
        let whole = DeviceFields.write(device)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0 ... .max, using: &random)
            }
            bytes.removeLast(Int.random(in: 0...3, using: &random))
            var read = DeviceState(id: "d")
            do {
                try bytes.withUnsafeBytes { try DeviceFields.read($0, into: &read) }
            } catch {
                #expect(error is DamagedValue, "seed \(seed)")
            }
        }
    }
}
