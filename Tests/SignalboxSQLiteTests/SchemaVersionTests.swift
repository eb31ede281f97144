import Foundation
import GRDB
import SignalboxInApp
import SignalboxNotification
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

/// Only the owner of a data directory changes the tables of its queue.
@Suite(.timeLimit(.minutes(15))) struct SchemaVersionTests {
    private func identifiers(in directory: String) async throws -> [String] {
        let pool = try DatabasePool(path: directory + "/queue.db")
        return try await pool.read { try String.fetchAll($0, sql: "SELECT identifier FROM grdb_migrations") }
    }

    @Test func aCommandDoesNotMigrateAnOlderQueue() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/queue.db"
            try SQLiteSchema.migrator.migrate(try DatabasePool(path: path), upTo: "backoffs")
            let older = try await identifiers(in: directory)
            let expected = StoreError.otherSchema(path: path, isNewer: false)
            #expect(throws: expected) { try SQLiteQueue.existing(in: directory) }
            #expect(try await identifiers(in: directory) == older)
            #expect(expected.description.contains("start this version once with: signalbox serve"))

            _ = try SQLiteQueue(of: try DataDirectory(path: directory))
            #expect(try await identifiers(in: directory).count > older.count)
            _ = try SQLiteQueue.existing(in: directory)
        }
    }

    /// A former version counted deliveries and media for each page of metrics.
    @Test func countsTheDeliveriesAndMediaOfAnOlderQueue() async throws {
        try await withTemporaryDirectory { directory in
            let pool = try DatabasePool(path: directory + "/queue.db")
            try SQLiteSchema.migrator.migrate(pool, upTo: "actions")
            try await pool.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO events (id, source, subject, accepted_at, body) VALUES ('e', 's', 'v/alert', 1, x'00');
                        INSERT INTO deliveries (event, destination, state, due) VALUES
                            (1, 'crm', 'waiting', 5), (1, 'crm', 'waiting', 3), (1, 'crm', 'dead', 1),
                            (1, 'erp', 'delivered', 1), (1, 'erp', 'dead', 1), (1, 'erp', 'dead', 2);
                        INSERT INTO ledger (destination, accepted) VALUES ('crm', 3), ('erp', 3);
                        INSERT INTO media (url, host, state, due, wanted_at) VALUES
                            ('a', 'h', 'wanted', 1, 1), ('b', 'h', 'resting', 1, 1), ('c', 'h', 'failed', 1, 1);
                        INSERT INTO files (sha256, bytes, type, kept_at, used_at) VALUES ('x', 70, 't', 1, 1);
                        """)
            }
            try pool.close()

            let queue = try SQLiteQueue(of: try DataDirectory(path: directory))
            let gauges = try await queue.gauges()
            let (crm, erp) = (gauges[DestinationName("crm")], gauges[DestinationName("erp")])
            #expect(crm?.waiting == 2 && crm?.dead == 1 && crm?.accepted == 3)
            #expect(crm?.oldestDue.map { ($0.timeIntervalSince1970 * 1000).rounded() } == 3)
            #expect(erp?.waiting == 0 && erp?.dead == 2 && erp?.oldestDue == nil)
            let accounts = try await queue.accounts()
            #expect(accounts.map(\.missing) == [0, 0])
            #expect(accounts.last?.present == [.delivered: 1, .dead: 2])
            let media = try await queue.mediaGauges()
            #expect(media.wanted == 2 && media.failed == 1 && media.files == 1 && media.bytes == 70 && media.held == 0)
            #expect(try await queue.purge(DeliveryFilter(state: .dead), sparingUndelivered: false) == 3)
            #expect(try await queue.gauges().values.map(\.dead) == [0, 0])
        }
    }

    /// A former version kept the offers in the order of their devices, and users in the order of their ids.
    @Test func keepsTheOffersAndUsersOfAnOlderQueue() async throws {
        try await withTemporaryDirectory { directory in
            let pool = try DatabasePool(path: directory + "/queue.db")
            try SQLiteSchema.migrator.migrate(pool, upTo: "channels")
            let offers = [(1, "d2"), (2, "d1"), (3, "d2")].map { number, device in
                Offer(number, "m", device, "u", at: 1_795_348_800_000)
            }
            let marks = Offer.columns.map { _ in "?" }.joined(separator: ", ")
            let names = Offer.columns.joined(separator: ", ")
            try await pool.write { db in
                let insert = try RowStatement(db, sql: "INSERT INTO inapp_offers (\(names)) VALUES (\(marks))")
                for offer in offers {
                    try insert.run { row in
                        offer.bindKey(&row)
                        offer.bindState(&row)
                    }
                }
                for device in ["d1", "d2", "d3"] {
                    try db.run(
                        """
                        INSERT INTO inapp_devices
                            (id, last_now, last_seen, session, last_order, last_decision, state)
                        VALUES (?, 1, 1, 0, 0, 0, x'010100')
                        """, [device])
                }
                try db.execute(sql: "INSERT INTO inapp_users (id, last_now, seen) VALUES ('u', 7, 7)")
            }
            try pool.close()

            let queue = try SQLiteQueue(in: directory)
            let rows = try await queue.rows(of: .device("d2", user: "u"), tallies: [])
            #expect(rows.state.offers.values.filter { $0.device == "d2" }.map(\.id).sorted() == ["of_1", "of_3"])
            #expect(rows.state.offers["of_3"] == offers[2])
            #expect(rows.state.user.lastNow == 7)
            #expect(try await queue.rows(of: .offer("of_2"), tallies: []).state.device.id == "d1")
            #expect(try await queue.rows(of: .device("d3", user: "v"), tallies: []).state.offers.isEmpty)
            #expect(try await queue.audit().isRight)
        }
    }

    @Test func rejectsTheQueueOfANewerVersion() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            try await queue.file.pool.write {
                try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('of the future')")
            }
            let expected = StoreError.otherSchema(path: directory + "/queue.db", isNewer: true)
            #expect(throws: expected) { try SQLiteQueue.existing(in: directory) }
            #expect(throws: expected) { try SQLiteQueue(of: try DataDirectory(path: directory)) }
        }
    }

    /// A first start that was killed leaves such a file.
    @Test func aCommandMakesNoTables() async throws {
        try await withTemporaryDirectory { directory in
            let pool = try DatabasePool(path: directory + "/queue.db")
            #expect(throws: StoreError.missing(path: directory)) { try SQLiteQueue.existing(in: directory) }
            #expect(try await pool.read { try $0.tableExists("events") } == false)
        }
    }

    /// The value has 32 bits in the file.
    @Test func theNumberOfProbesWraps() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            try await queue.file.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 65535") }
            try await queue.probe()
            #expect(try await queue.file.pool.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 0)
        }
    }

    /// Every tick searches, even while many deliveries with one attempt wait for a paused destination.
    @Test func aSearchForExpiredDeliveriesReadsOnlyThese() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let plan = try await queue.file.pool.read { db in
                try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + SQLiteQueue.overdue, arguments: [1])
                    .map { $0["detail"] as String }
            }
            #expect(plan == ["SEARCH deliveries USING INDEX deliveries_expiring (not_after>? AND not_after<?)"])
        }
    }

    /// A change of many waiting deliveries reads and writes step by step, and no step reads all of them.
    @Test func aStepOfAChangeReadsOnlyItsDeliveries() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let filter = DeliveryFilter(state: .waiting, destination: DestinationName("crm"))
            let (condition, arguments) = filter.sql
            let plans = try await queue.file.pool.read { db in
                try [
                    (SQLiteQueue.nextStep(condition, of: filter), arguments + [0, 500]),
                    (SQLiteQueue.requeueing(condition), ["[]"] + arguments),
                ].map { sql, arguments in
                    try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql, arguments: arguments)
                        .map { $0["detail"] as String }
                }
            }
            #expect(plans.allSatisfy { $0.contains { $0.contains("SEARCH d USING INTEGER PRIMARY KEY") } }, "\(plans)")
            #expect(!plans.contains { $0.contains { $0.contains("TEMP B-TREE") } }, "\(plans)")
            let ofEvent = SQLiteQueue.nextStep("d.event = 1", of: DeliveryFilter(state: .waiting, event: "1"))
            #expect(!ofEvent.contains("NOT INDEXED"), "the index of the event leads to few")
        }
    }

    /// A removal reads step by step; a step that reads all events makes it quadratic.
    @Test func aFilterByAgeDoesNotReadAllEvents() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let (condition, arguments) = DeliveryFilter(acceptedBefore: queue.now).sql
            let plan = try await queue.file.pool.read { db in
                try Row.fetchAll(
                    db,
                    sql:
                        "EXPLAIN QUERY PLAN SELECT d.id FROM deliveries d WHERE \(condition) AND d.id > 0 ORDER BY d.id",
                    arguments: arguments
                ).map { $0["detail"] as String }
            }
            #expect(!plan.isEmpty)
            #expect(!plan.contains { $0.contains("SCAN events") }, "\(plan)")
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
        }
    }
}
