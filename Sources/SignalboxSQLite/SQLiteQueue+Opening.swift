import Foundation
import GRDB
import SignalboxNotification
package import SignalboxStore

/// The two ways to open a queue: as its owner, or next to it.
extension SQLiteQueue {
    /// Opens the queue of a gateway that may be running. Throws when there is none. For commands that run next to the
    /// gateway: it takes no lock on the directory and writes no record. Throws ``StoreError/missing(path:)`` without
    /// a file, ``StoreError/directory(path:reason:)`` if it may not look for one, and the same errors for a lost queue
    /// as the owner's initializer. Reads and writes through connections of its own; SQLite's locks order its writes
    /// with the gateway's. Applies no migrations, because a running gateway relies on its tables: throws
    /// ``StoreError/otherSchema(path:isNewer:)`` for the queue of another version.
    package static func existing(in directory: String) throws(StoreError) -> SQLiteQueue {
        if let loss = QueueLoss(beforeOpening: directory) { throw loss.error(in: directory) }
        try findQueue(in: directory)
        return try SQLiteQueue(in: directory, mustExist: QueueLoss.isExpected(in: directory), migrates: false)
    }

    /// Throws ``StoreError/missing(path:)`` for a directory without a queue, and
    /// ``StoreError/directory(path:reason:)`` for one in which this process cannot look for it.
    static func findQueue(in directory: String) throws(StoreError) {
        guard let error = (directory + "/queue.db").lookupError else { return }
        guard error == ENOENT else { throw .directory(path: directory, reason: String(cString: strerror(error))) }
        throw .missing(path: directory)
    }

    /// The file of a queue that this process may not read and write, with the reason, as a clause; nil if it may.
    /// Usually another user owns the file. `path`: of the main file.
    package static func denial(of path: String) -> String? {
        for file in files(of: path) where access(file, R_OK | W_OK) != 0 && errno != ENOENT {
            return "\(file) cannot be opened: \(String(cString: strerror(errno)))"
        }
        return nil
    }

    /// The main file, the write-ahead log and the index of the log, which exist only while the queue is open.
    static func files(of path: String) -> [String] { ["", "-wal", "-shm"].map { path + $0 } }

    /// Opens or creates the queue of a data directory for its owner. Unless `acceptsLoss`, throws
    /// ``StoreError/lost(directory:reason:)`` when a former queue is gone or the file lacks accepted events, and
    /// ``StoreError/keyWithoutQueue(directory:)`` when it cannot tell a lost queue from a new directory. A damaged
    /// file opens without a record, so that readable deliveries can still be sent. The directory must outlive the
    /// queue: its lock keeps a second gateway out. Applies pending migrations. Throws
    /// ``StoreError/otherSchema(path:isNewer:)`` for the queue of a newer version.
    package convenience init(of directory: DataDirectory, acceptsLoss: Bool = false) throws(StoreError) {
        let path = directory.path
        if !acceptsLoss, let loss = QueueLoss(beforeOpening: path) { throw loss.error(in: path) }
        let former = QueueRecord(in: path)
        try self.init(in: path, mustExist: !acceptsLoss && QueueLoss.isExpected(in: path))
        let record: QueueRecord
        do {
            record = try file.pool.read { try QueueRecord(of: $0) }
        } catch {
            let reason = file.failure(error)
            guard case .damaged = reason else { throw reason }
            // Until the file is repaired, no event is accepted and the record does not change. Readable deliveries are
            // sent.
            return
        }
        if !acceptsLoss, let loss = QueueLoss(former, of: record) { throw loss.error(in: path) }
        try file.record.begin(record, in: path)
    }
}
