import GRDB
package import SignalboxStore

/// The tables of a queue, for the command line.
extension SQLiteQueue {
    /// Reads which migrations the queue of a data directory has. Writes nothing, also next to a gateway. Throws
    /// ``StoreError/missing(path:)`` without a queue, ``StoreError/directory(path:reason:)`` if this process cannot
    /// look for it, and the errors of a lost one.
    package static func tables(in directory: String) throws(StoreError) -> TableStatus {
        if let loss = QueueLoss(beforeOpening: directory) { throw loss.error(in: directory) }
        let path = directory + "/queue.db"
        try findQueue(in: directory)
        do {
            let (known, applied) = try SQLiteFile.migrations(at: path)
            guard !applied.isEmpty else { throw StoreError.missing(path: directory) }
            let unknown = applied.subtracting(known).sorted()
            return TableStatus(
                place: "the queue \(path)", pending: known.filter { !applied.contains($0) }, unknown: unknown,
                isTooNew: !unknown.isEmpty)
        } catch { throw StoreError(error, path: path) }
    }

    /// Applies the pending migrations; returns their names. `directory`: locked by this process, so no gateway runs.
    /// Throws like ``tables(in:)`` and the initialiser of an owner.
    package static func migrate(_ directory: DataDirectory) throws(StoreError) -> [String] {
        let status = try tables(in: directory.path)
        if !status.fits { _ = try SQLiteQueue(of: directory) }
        return status.pending
    }
}

extension SQLiteFile {
    /// The migrations of this version, in their order, and those of the file. Opens the file for reading only, through
    /// a connection that ends with the call. Waits ``busyTime`` for a lock.
    fileprivate static func migrations(at path: String) throws -> (known: [String], applied: Set<String>) {
        countsNoMemory
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(busyTime)
        let migrator = SQLiteSchema.migrator
        return try DatabaseQueue(path: path, configuration: configuration).read { db in
            (migrator.migrations, try migrator.appliedIdentifiers(db))
        }
    }
}
