import Foundation
import GRDB
import SignalboxNotification
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

/// A data directory whose queue is missing, empty or lacks accepted events is not treated as a new one.
@Suite(.timeLimit(.minutes(15))) struct QueueLossTests {
    private let crm = DestinationName("crm")

    private func event(_ number: UInt8) -> RoutedEvent { RoutedEvent([number], to: crm) }

    /// Opens the queue as the gateway does, appends one event, and calls `body` while it is open.
    private func append(
        _ number: UInt8, in path: String, acceptsLoss: Bool = false,
        _ body: (SQLiteQueue) async throws -> Void = { _ in }
    ) async throws {
        let directory = try DataDirectory(path: path)
        let queue = try SQLiteQueue(of: directory, acceptsLoss: acceptsLoss)
        try await queue.append([event(number)])
        try await body(queue)
        try await queue.checkpoint()
        withExtendedLifetime(directory) {}
    }

    /// Removes files. A queue that closes may remove its log first.
    private func remove(_ names: String..., in path: String) throws {
        for name in names {
            do {
                try FileManager.default.removeItem(atPath: path + "/" + name)
            } catch let error as CocoaError where error.code == .fileNoSuchFile {}
        }
    }

    /// Expects that neither the gateway nor a command opens the queue, and that the reason contains a word.
    private func expectLoss(of path: String, naming word: String) throws {
        #expect {
            let directory = try DataDirectory(path: path)
            _ = try SQLiteQueue(of: directory)
        } throws: { error in
            guard case .lost(path, let reason) = error as? StoreError else { return false }
            return reason.contains(word)
        }
    }

    /// A process that is killed during its first start leaves a file and a log without a queue in them.
    @Test(arguments: [nil, "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)"])
    func startsAfterAFirstStartThatWasKilled(_ sql: String?) async throws {
        try await withTemporaryDirectory { path in
            try await withTemporaryDirectory { other in
                let pool = try DatabasePool(path: other + "/queue.db")
                if let sql { try await pool.write { try $0.execute(sql: sql) } }
                // A killed process leaves the same files as a copy of open ones.
                for name in ["queue.db", "queue.db-wal"] {
                    try FileManager.default.copyItem(atPath: other + "/" + name, toPath: path + "/" + name)
                }
                withExtendedLifetime(pool) {}
            }
            try await append(1, in: path)
            #expect(FileManager.default.fileExists(atPath: path + "/queue.id"))
        }
    }

    @Test(arguments: [["queue.id"], ["queue.id", "token.key"], ["queue.db-wal"], ["token.key", "queue.db-wal"]])
    func rejectsAMissingQueueIfAnotherFileIsThere(_ signs: [String]) async throws {
        try await withTemporaryDirectory { path in
            try await removeQueue(in: path, leaving: signs)
            try expectLoss(of: path, naming: signs[0])
            #expect(!FileManager.default.fileExists(atPath: path + "/queue.db"), "the attempt leaves no queue")
            #expect { try SQLiteQueue.existing(in: path) } throws: {
                if case .lost = $0 as? StoreError { true } else { false }
            }
            try remove("queue.db-wal", in: path)
            try await append(2, in: path, acceptsLoss: true)
            try await append(3, in: path) { queue throws in #expect(try await queue.eventCount() == 2) }
        }
    }

    /// A secret manager may put the key into a directory before the gateway starts there for the first time.
    @Test func asksWhetherADirectoryWithOnlyAKeyIsNew() async throws {
        try await withTemporaryDirectory { path in
            try await removeQueue(in: path, leaving: ["token.key"])
            let expected = StoreError.keyWithoutQueue(directory: path)
            #expect(throws: expected) { try SQLiteQueue(of: try DataDirectory(path: path)) }
            #expect(throws: expected) { try SQLiteQueue.existing(in: path) }
            #expect(!FileManager.default.fileExists(atPath: path + "/queue.db"), "the attempt leaves no queue")
            #expect(expected.description.contains("token.key is there but queue.db is not. If this is a new directory"))
            #expect(expected.description.contains("start once with: signalbox serve --accept-queue-loss"))
            try await append(2, in: path, acceptsLoss: true)
            try await append(3, in: path) { queue throws in #expect(try await queue.eventCount() == 2) }
        }
    }

    /// Leaves only these files of a data directory, each with some content.
    private func removeQueue(in path: String, leaving names: [String]) async throws {
        try await append(1, in: path)
        try remove("queue.db", "queue.db-wal", "queue.db-shm", "queue.id", in: path)
        for name in names { try Data("something".utf8).write(to: URL(fileURLWithPath: path + "/" + name)) }
    }

    @Test func rejectsAnEmptiedQueue() async throws {
        try await withTemporaryDirectory { path in
            try await append(1, in: path)
            try remove("queue.db-wal", "queue.db-shm", in: path)
            try Data().write(to: URL(fileURLWithPath: path + "/queue.db"))
            try expectLoss(of: path, naming: "missing or empty")
        }
    }

    /// An earlier version may have left all its writes in the log.
    @Test func rejectsAQueueWithoutTablesIfAKeyIsThere() async throws {
        try await withTemporaryDirectory { path in
            try await append(1, in: path)
            try remove("queue.db", "queue.db-wal", "queue.db-shm", "queue.id", in: path)
            try Data("key".utf8).write(to: URL(fileURLWithPath: path + "/token.key"))
            try makeEmptyDatabase(at: path + "/queue.db")
            try expectLoss(of: path, naming: "queue.db-wal")
        }
    }

    @Test func rejectsAQueueWhoseLogWasRemoved() async throws {
        try await withTemporaryDirectory { path in
            try await append(1, in: path)
            try await append(2, in: path) { queue throws in
                // As after a crash, but without the log.
                try FileManager.default.createDirectory(atPath: path + "/crash", withIntermediateDirectories: false)
                for name in ["queue.db", "queue.id"] {
                    try FileManager.default.copyItem(atPath: path + "/" + name, toPath: path + "/crash/" + name)
                }
                try expectLoss(of: path + "/crash", naming: "ends at number 1, but 2 was accepted")
                let audit = try await SQLiteQueue.existing(in: path + "/crash").audit()
                #expect(!audit.isRight)
                #expect(audit.loss?.contains("ends at number 1, but 2 was accepted") == true)
                #expect(try await SQLiteQueue.existing(in: path).audit().loss == nil, "while it runs")
            }
        }
    }

    @Test func rejectsAnotherQueue() async throws {
        try await withTemporaryDirectory { path in
            try await append(1, in: path + "/a")
            try await append(1, in: path + "/b")
            try remove("queue.db", "queue.db-wal", "queue.db-shm", in: path + "/a")
            try FileManager.default.copyItem(atPath: path + "/b/queue.db", toPath: path + "/a/queue.db")
            try expectLoss(of: path + "/a", naming: "another queue")
            try await append(2, in: path + "/a", acceptsLoss: true)
            try await append(3, in: path + "/a")
        }
    }

    @Test func aPurgeIsNotALoss() async throws {
        try await withTemporaryDirectory { path in
            try await append(1, in: path)
            try await append(2, in: path) { queue throws in
                #expect(try await queue.purge(DeliveryFilter(state: .waiting)) == 2)
            }
            try await append(3, in: path) { queue throws in #expect(try await queue.audit().isRight) }
        }
    }

    @Test(arguments: ["", "nonsense", "a b c", String(repeating: "0", count: 32) + " -1 0"])
    func anIncompleteRecordIsIgnored(_ text: String) async throws {
        try await withTemporaryDirectory { path in
            try await append(1, in: path)
            try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/queue.id"))
            #expect(QueueRecord(in: path) == nil)
            try await append(2, in: path)
            #expect(QueueRecord(in: path)?.event == 2)
        }
    }

    @Test func copiesAllCommitsIntoTheFile() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try SQLiteQueue(in: directory)
            try await queue.append([event(1)])
            try await queue.checkpoint()
            let log = try FileManager.default.attributesOfItem(atPath: directory + "/queue.db-wal")
            #expect(log[.size] as? Int == 0, "the next start reads all of it")
            try FileManager.default.copyItem(atPath: directory + "/queue.db", toPath: directory + "/copy.db")
            let count = try await DatabaseQueue(path: directory + "/copy.db").read { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM deliveries")
            }
            #expect(count == 1)
        }
    }

    @Test func opensADirectoryOfAnEarlierVersion() async throws {
        try await withTemporaryDirectory { path in
            try await append(1, in: path)
            try remove("queue.id", in: path)
            try Data("key".utf8).write(to: URL(fileURLWithPath: path + "/token.key"))
            try await append(2, in: path) { queue throws in #expect(try await queue.eventCount() == 2) }
        }
    }

    /// A database that SQLite has created without tables.
    private func makeEmptyDatabase(at path: String) throws {
        let database = try DatabaseQueue(path: path)
        try database.inDatabase { try $0.execute(sql: "CREATE TABLE a (b); DROP TABLE a") }
        try database.close()
    }
}
