import Foundation
import GRDB
import SignalboxInApp
import SignalboxNotification
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

/// Files that are read-only, damaged, torn by a power cut, or made by an earlier version.
@Suite(.timeLimit(.minutes(15))) struct UnusualFileTests {
    private let crm = DestinationName("crm")

    private func event(_ number: UInt8, size: Int = 1) -> RoutedEvent {
        RoutedEvent(Array(repeating: number, count: size), to: crm)
    }

    private func open(_ directory: String) throws -> SQLiteQueue {
        let queue = try SQLiteQueue(in: directory)
        queue.openLane(crm) {}
        return queue
    }

    /// An operator may have made the directory, with the usual mode. The files contain the text of payloads.
    @Test func newFilesAreReadableByTheOwnerOnly() async throws {
        try await withTemporaryDirectory { directory in
            try #require(chmod(directory, 0o755) == 0)
            let queue = try open(directory)
            for name in ["queue.db", "queue.db-wal", "queue.db-shm"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: directory + "/" + name)
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
            }
            withExtendedLifetime(queue) {}
        }
    }

    /// A full or read-only /var/tmp must not stop a gateway whose data directory has space.
    @Test func temporaryFilesAreInTheFirstDataDirectoryOfTheProcess() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let place = try await queue.file.pool.read { try String.fetchOne($0, sql: "PRAGMA temp_store_directory") }
            // Another test may have opened the first queue, in a directory next to this one.
            let parent = URL(fileURLWithPath: directory).deletingLastPathComponent().path
            #expect(place.map { $0.hasPrefix(parent + "/") } == true, "\(place ?? "no directory")")
        }
    }

    /// A command must not report a queue that it cannot see as missing.
    @Test func aDirectoryThatCannotBeSearchedIsReportedWithTheReason() async throws {
        try await withTemporaryDirectory { directory in
            let data = directory + "/data"
            try FileManager.default.createSymbolicLink(atPath: data, withDestinationPath: "data")
            let error = StoreError.directory(path: data, reason: "Too many levels of symbolic links")
            #expect(throws: error) { try SQLiteQueue.existing(in: data) }
            #expect(throws: error) { try SQLiteQueue.tables(in: data) }
        }
    }

    /// Does not apply to root, which may search any directory.
    @Test(.enabled(if: getuid() != 0)) func aDirectoryOfAnotherUserIsReportedWithTheReason() async throws {
        try await withTemporaryDirectory { directory in
            _ = try open(directory)
            try #require(chmod(directory, 0) == 0)
            defer { chmod(directory, 0o700) }
            let error = StoreError.directory(path: directory, reason: "Permission denied")
            #expect(throws: error) { try SQLiteQueue.existing(in: directory) }
        }
    }

    /// Does not apply to root, which may write to any directory.
    @Test(.enabled(if: getuid() != 0)) func aReadOnlyDirectoryIsReportedUntilItIsWritable() async throws {
        try await withTemporaryDirectory { directory in
            try await open(directory).append([event(1)])
            try #require(chmod(directory + "/queue.db", 0o400) == 0)
            try #require(chmod(directory, 0o500) == 0)
            defer { chmod(directory, 0o700) }
            #expect {
                _ = try SQLiteQueue(in: directory)
            } throws: {
                if case .unavailable = $0 as? StoreError { true } else { false }
            }
            #expect {
                _ = try DataDirectory(path: directory)
            } throws: {
                if case .directory(directory, _) = $0 as? StoreError { true } else { false }
            }
            try #require(chmod(directory, 0o700) == 0)
            try #require(chmod(directory + "/queue.db", 0o600) == 0)
            #expect(try await open(directory).claim(from: crm, upTo: 5).map(\.body) == [[1]])
        }
    }

    @Test func reportsAReadOnlyFile() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            try await queue.file.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 1") }
            let reason = "the file system or the file is read-only"
            await #expect(throws: StoreError.unavailable(reason: reason)) { try await queue.append([event(1)]) }
            await #expect(throws: StoreError.unavailable(reason: reason)) { try await queue.probe() }
            try await queue.file.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA query_only = 0") }
            try await queue.append([event(2)])
            #expect(try await queue.claim(from: crm, upTo: 5).map(\.body) == [[2]])
        }
    }

    /// Another program overwrote pages. The queue does not open, or its audit finds the damage.
    @Test func aDamagedFileIsFound() async throws {
        try await withTemporaryDirectory { directory in
            try await open(directory).append((0..<200).map { event($0, size: 3000) })
            let path = directory + "/queue.db"
            try DatabaseQueue(path: path).inDatabase { _ = try $0.checkpoint(.truncate) }
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            let file = try #require(FileHandle(forWritingAtPath: path))
            for page in 20..<120 {
                try file.seek(toOffset: UInt64(page * 4096))
                try file.write(contentsOf: Data(repeating: 0xA5, count: 4096))
            }
            try file.close()
            do throws(StoreError) {
                let audit = try await SQLiteQueue(in: directory).audit()
                #expect(!audit.isRight)
                #expect(!audit.damage.isEmpty)
            } catch {
                guard case .damaged(path, _) = error else { throw error }
            }
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            try whole.write(to: URL(fileURLWithPath: path))
            let restored = try open(directory)
            #expect(try await restored.audit().isRight)
            #expect(try await restored.claim(from: crm, upTo: 500).count == 200)
        }
    }

    /// Another program changed a number of the ledger.
    @Test func aWrongNumberOfTheLedgerIsFound() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            try await queue.append([event(1), event(2)])
            #expect(try await queue.audit().isRight)
            let edit = "UPDATE ledger SET waiting_now = 7"
            try await queue.file.pool.writeWithoutTransaction { try $0.execute(sql: edit) }
            let audit = try await queue.audit()
            #expect(!audit.isRight && audit.accounts.map(\.miscounted) == [[.waiting]])
            #expect(audit.accounts.map(\.missing) == [0])
            let ledger = try await queue.accounts()
            #expect(ledger.map(\.missing) == [-5])
        }
    }

    /// An operator removed the file, or put a backup instead of it, while the gateway was using it. Writes to the open
    /// file would be lost with the process.
    @Test func aFileThatIsNotAtItsPathAcceptsNoEventAndNoChange() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            try await queue.append([event(1), event(2)])
            let lease = try #require(try await queue.claim(from: crm, upTo: 1).first)
            let (path, other) = (directory + "/queue.db", directory + "/other.db")
            try FileManager.default.moveItem(atPath: path, toPath: other)
            let reason = "queue.db was removed, moved or replaced while the gateway was using it"
            for isReplaced in [false, true] {
                if isReplaced { try FileManager.default.copyItem(atPath: other, toPath: path) }
                let error = StoreError.unavailable(reason: reason)
                await #expect(throws: error) { try await queue.append([event(3)]) }
                await #expect(throws: error) { try await queue.probe() }
                await #expect(throws: error) { try await queue.register(InAppRegistration(id: "m", body: [])) }
                await #expect(throws: error) {
                    try await queue.decide(about: .device("d", user: "u"), tallies: []) { _ in InAppStep(()) }
                }
                await #expect(throws: error) { try await queue.set(.paused, of: crm) }
            }
            try await queue.settle(lease, .delivered(status: 200))
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: other, toPath: path)
            try await queue.probe()
            try await queue.append([event(4)])
            #expect(try await queue.claim(from: crm, upTo: 5).map(\.body) == [[2], [4]])
        }
    }

    /// The latest commits are in the log only. Without it, a crash would lose them.
    @Test func aQueueWhoseLogWasRemovedAcceptsNoEvent() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            let (path, other) = (directory + "/queue.db-wal", directory + "/other")
            try FileManager.default.moveItem(atPath: path, toPath: other)
            let reason = "queue.db-wal was removed, moved or replaced while the gateway was using it"
            for isReplaced in [false, true] {
                if isReplaced { try FileManager.default.copyItem(atPath: other, toPath: path) }
                await #expect(throws: StoreError.unavailable(reason: reason)) { try await queue.append([event(1)]) }
                await #expect(throws: StoreError.unavailable(reason: reason)) { try await queue.probe() }
            }
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.moveItem(atPath: other, toPath: path)
            try await queue.append([event(2)])
            #expect(try await queue.claim(from: crm, upTo: 5).map(\.body) == [[2]])
        }
    }

    /// A write fails on a full disk, where operators need the commands that only read.
    @Test func readingNextToTheOwnerDoesNotWrite() async throws {
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            try await queue.append([event(1), event(2)])
            let log = URL(fileURLWithPath: directory + "/queue.db-wal")
            let before = try Data(contentsOf: log)
            let command = try SQLiteQueue.existing(in: directory)
            #expect(try await command.deliveries(DeliveryFilter(), limit: 5).count == 2)
            #expect(try await command.audit().isRight)
            #expect(try Data(contentsOf: log) == before)
            try await queue.append([event(3)])
        }
    }

    /// A power cut tears the end of the log. The file then has the first commits, each of them whole.
    @Test func aTornLogLosesWholeCommitsOnly() async throws {
        var random = SeededGenerator(seed: 20_261_121)
        try await withTemporaryDirectory { directory in
            let queue = try open(directory)
            for number in 0..<20 {
                let first = UInt8(number * 3)
                try await queue.append([event(first), event(first + 1, size: 3000), event(first + 2)])
            }
            let (file, log) = ("/queue.db", "/queue.db-wal")
            let whole = try Data(contentsOf: URL(fileURLWithPath: directory + log))
            for _ in 0..<40 {
                let length = Int.random(in: 0...whole.count, using: &random)
                // After the tear, the log ends or has older bytes.
                let isGarbled = Bool.random(using: &random)
                let rest = Data(repeating: 0xA5, count: isGarbled ? whole.count - length : 0)
                try await withTemporaryDirectory { copy in
                    try FileManager.default.copyItem(atPath: directory + file, toPath: copy + file)
                    try (whole.prefix(length) + rest).write(to: URL(fileURLWithPath: copy + log))
                    let torn = try open(copy)
                    #expect(try await torn.audit().isRight, "\(length) of \(whole.count)")
                    let count = try await torn.eventCount()
                    #expect(count.isMultiple(of: 3), "\(length) of \(whole.count)")
                    let found = try await torn.claim(from: crm, upTo: 100).compactMap(\.body.first)
                    #expect(found == (0..<count).map { UInt8($0) })
                    try await torn.append([event(99)])
                    #expect(try await torn.claim(from: crm, upTo: 1).map(\.body) == [[99]])
                }
            }
        }
    }

    /// A file that an earlier version made cannot return pages to the file system. A removal from it must still end.
    @Test func removesFromAFileThatCannotShrink() async throws {
        try await withTemporaryDirectory { directory in
            let old = try DatabaseQueue(path: directory + "/queue.db")
            try old.inDatabase { db in
                try db.execute(sql: "PRAGMA auto_vacuum = NONE")
                try db.execute(sql: "CREATE TABLE older (id INTEGER PRIMARY KEY)")
            }
            try old.close()
            let queue = try open(directory)
            try await queue.append((0..<200).map { event($0, size: 5000) })
            for lease in try await queue.claim(from: crm, upTo: 200) {
                try await queue.settle(lease, .delivered(status: 200))
            }
            let before = try await queue.fileBytes()
            #expect(try await queue.purge(DeliveryFilter(state: .delivered)) == 200)
            #expect(try await queue.fileBytes() < before)
        }
    }
}
