import GRDB
import SignalboxNotification
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

/// The work of SQLite for the rows of an append.
@Suite(.timeLimit(.minutes(5))) struct InsertTests {
    private let crm = DestinationName("crm")

    @Test func insertsFillNoTemporaryTable() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            let statements = [NewEvent.insertion, NewDelivery.insertion].flatMap(\.statements.values)
            let steps = try await queue.file.pool.writeWithoutTransaction { db in
                try statements.map { sql in
                    let statement = try db.makeStatement(sql: "EXPLAIN " + sql)
                    statement.setUncheckedArguments(StatementArguments())
                    return try Row.fetchAll(statement).map { $0["opcode"] as String }
                }
            }
            #expect(steps.count == 12)
            #expect(steps.allSatisfy { $0.contains("Insert") && !$0.contains("OpenEphemeral") })
        }
    }

    @Test func anAuditReportsAStateThatDoesNotExist() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            try await queue.append([RoutedEvent([1], to: crm)])
            let sound = try await queue.audit()
            #expect(sound.isRight)
            try await queue.file.pool.writeWithoutTransaction { db in
                try db.execute(sql: "UPDATE deliveries SET state = 'lost'")
            }
            let found = try await queue.audit()
            #expect(!found.isRight)
        }
    }

    @Test func groupsOfEverySizeAreWritten() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            queue.openLane(crm) {}
            for size in 1...70 {
                try await queue.append((0..<size).map { RoutedEvent([UInt8($0)], to: crm) })
                let leases = try await queue.claim(from: crm, upTo: 100)
                #expect(leases.map(\.body) == (0..<size).map { [UInt8($0)] })
                for lease in leases { try await queue.settle(lease, .delivered(status: 200)) }
            }
            #expect(try await queue.eventCount() == 70 * 71 / 2)
        }
    }
}
