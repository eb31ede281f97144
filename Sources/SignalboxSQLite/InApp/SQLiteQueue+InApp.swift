import Foundation
import GRDB
package import SignalboxInApp
package import SignalboxStore
import Synchronization

/// In-app messages and decisions.
/// Decisions and changes of messages are writes of the commit group: they share commits with accepted events, and
/// run one after another on the writer's thread. Reads use the other connections and see the last commit.
extension SQLiteQueue {
    /// Stored with the file; the observer is called after each commit that changed messages, on the writer's thread.
    package func openInApp(onChange: @escaping @Sendable ([StoredInAppMessage]) -> Void) {
        file.inAppObserver.withLock { $0 = onChange }
    }

    /// The step runs on the writer's thread, within the transaction of its group. A group that fails is split and
    /// run again, and the step with it; the rows are those of the repeated run. A crash before the sync leaves
    /// nothing of the decision; after `done` all of its rows, events and deliveries are on disk. Fails with the
    /// damage of the file, with ``StoreError/stalled(for:)`` or ``StoreError/undecided(after:)`` if the disk hangs,
    /// and with ``StoreError/unavailable(reason:)`` if the write fails.
    package func decide(
        _ decision: InAppDecision, whenDone done: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        if let damage = health.damage { return done(.failure(damage)) }
        commits.submit(.decide(decision), hasDeadline: true) { result in done(result.map { _ in }) }
    }

    /// Reads in a transaction of its own; decisions that are committed meanwhile do not change the result.
    package func rows(of subject: InAppSubject, tallies: [MessageID]) async throws(StoreError) -> InAppRows {
        try await file.read { db in
            var reader = InAppReader(db)
            return try reader.load(subject, tallies: tallies).rows(of: subject, tallies: tallies)
        }
    }

    // MARK: Messages

    /// Durable when it returns. The observer has been called by then.
    package func register(
        _ message: InAppRegistration, as action: OperatorAction?
    ) async throws(StoreError) -> StoredInAppMessage {
        guard let stored = try await write(message: SQLiteWrite.register(message).recorded(as: action)) else {
            preconditionFailure("A registration stores no message.")
        }
        return stored
    }

    /// Durable when it returns. The message stays stored until upkeep removes it, so that its offers can be
    /// reported.
    package func withdraw(
        message id: MessageID, as action: OperatorAction?
    ) async throws(StoreError) -> StoredInAppMessage? {
        try await write(message: SQLiteWrite.withdraw(id).recorded(as: action))
    }

    /// Rejects the write at once while the file is damaged.
    private func write(message write: SQLiteWrite) async throws(StoreError) -> StoredInAppMessage? {
        if let damage = health.damage { throw damage }
        guard case .message(let stored) = try await commits.write(write, hasDeadline: true) else {
            preconditionFailure("The write is not of a message.")
        }
        return stored
    }

    /// With its body, withdrawn or not.
    package func message(_ id: MessageID) async throws(StoreError) -> StoredInAppMessage? {
        try await file.read { db in
            var reader = InAppReader(db)
            return try reader.message(id)
        }
    }

    /// Each page is a read of its own: a message that is registered between two pages may be missing from both.
    /// Reads at most `count` rows, or all withdrawn ones in between.
    package func messages(
        after id: MessageID?, upTo count: Int, includingWithdrawn: Bool
    ) async throws(StoreError) -> [StoredInAppMessage] {
        try await file.read { db in
            try RowStatement(db, sql: Self.page(includingWithdrawn: includingWithdrawn)).all({ row in
                // No id is empty.
                row.bind(id ?? "")
                row.bind(count)
            }) { try StoredInAppMessage($0) }
        }
    }

    /// Arguments: the last id of the previous page, and the number of messages.
    /// Walks the primary key.
    static func page(includingWithdrawn: Bool) -> String {
        """
        SELECT \(StoredInAppMessage.columns) FROM inapp_messages
        WHERE id > ? \(includingWithdrawn ? "" : "AND withdrawn_at IS NULL") ORDER BY id LIMIT ?
        """
    }

    // MARK: Due devices

    /// Arguments: the time, and the number of devices.
    static let dueDevices = "SELECT id FROM inapp_devices WHERE next_due <= ? ORDER BY next_due LIMIT ?"
    /// Reads the first entry of the index of due times.
    static let nextDue = "SELECT min(next_due) FROM inapp_devices WHERE next_due IS NOT NULL"

    /// Reads an index that has only devices with a due time.
    package func dueDevices(at now: Instant, upTo limit: Int) async throws(StoreError) -> [DeviceID] {
        try await file.read { db in try db.rows(Self.dueDevices, [now, limit]).map { try $0.text(0) } }
    }

    /// One step in the same index.
    package func nextInAppDue() async throws(StoreError) -> Instant? {
        try await file.read { try $0.number(Self.nextDue) }
    }

    // MARK: Size

    /// Bytes of the in-app tables and their indexes, up to an hour old, because each of their pages must be read. 0 if
    /// SQLite was built without the table `dbstat`.
    func inAppBytes(at now: Date) async throws(StoreError) -> Int64 {
        if let size = inAppUpkeep.withLock({ $0.size }), !InAppWalk.isDue(after: size.at, at: now) {
            return size.bytes
        }
        let bytes = try await readInAppBytes()
        inAppUpkeep.withLock { $0.size = (now, bytes) }
        return bytes
    }

    /// Does not block the writer; the write-ahead log cannot start anew meanwhile.
    private func readInAppBytes() async throws(StoreError) -> Int64 {
        try await file.read { db in
            guard try db.flag("SELECT 1 FROM pragma_module_list WHERE name = 'dbstat'") else { return 0 }
            let names = try db.rows("SELECT name FROM sqlite_schema WHERE tbl_name GLOB 'inapp_*' AND rootpage > 0", [])
                .map { try $0.text(0) }
            let size = "SELECT sum(pgsize) FROM dbstat WHERE name = ? AND aggregate = TRUE"
            return try names.map { try db.number(size, [$0]) ?? 0 }.reduce(0, +)
        }
    }
}

/// The last results of upkeep that takes long.
/// Both cost a pass over many rows, and upkeep runs every minute.
struct InAppUpkeep {
    /// The end of the last walk through addressed messages without an end; nil before the first.
    var endless: Date?
    /// The size of the in-app rows, and when it was read.
    var size: (at: Date, bytes: Int64)?
}
