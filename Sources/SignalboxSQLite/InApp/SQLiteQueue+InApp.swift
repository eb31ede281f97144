import GRDB
package import SignalboxInApp
package import SignalboxStore
import Synchronization

/// In-app messages and decisions.
extension SQLiteQueue {
    package func openInApp(onChange: @escaping @Sendable ([StoredInAppMessage]) -> Void) {
        file.inAppObserver.withLock { $0 = onChange }
    }

    package func decide<Result: Sendable>(
        about subject: InAppSubject, tallies: [MessageID], _ step: @escaping @Sendable (InAppRows) -> InAppStep<Result>
    ) async throws(StoreError) -> Result {
        if let damage = health.damage { throw damage }
        let decision = InAppDecision(subject: subject, tallies: tallies) { rows in
            let made = step(rows)
            return InAppStep(
                InAppDecision.Decided(result: made.result), changes: made.changes, nextDue: made.nextDue,
                events: made.events)
        }
        let output = try await commits.write(.decide(decision), hasDeadline: true)
        guard case .decided(let decided) = output, let decided = decided as? InAppDecision.Decided<Result> else {
            preconditionFailure("The write is not this decision.")
        }
        return decided.result
    }

    package func rows(of subject: InAppSubject, tallies: [MessageID]) async throws(StoreError) -> InAppRows {
        try await file.read { db in
            var reader = InAppReader(db)
            return try reader.load(subject, tallies: tallies).rows
        }
    }

    // MARK: Messages

    package func register(_ message: InAppRegistration) async throws(StoreError) -> StoredInAppMessage {
        guard let stored = try await write(message: .register(message)) else {
            preconditionFailure("A registration stores no message.")
        }
        return stored
    }

    package func withdraw(message id: MessageID) async throws(StoreError) -> StoredInAppMessage? {
        try await write(message: .withdraw(id))
    }

    private func write(message write: SQLiteWrite) async throws(StoreError) -> StoredInAppMessage? {
        if let damage = health.damage { throw damage }
        guard case .message(let stored) = try await commits.write(write, hasDeadline: true) else {
            preconditionFailure("The write is not of a message.")
        }
        return stored
    }

    package func message(_ id: MessageID) async throws(StoreError) -> StoredInAppMessage? {
        try await file.read { db in
            var reader = InAppReader(db)
            return try reader.message(id)
        }
    }

    package func messages(
        after id: MessageID?, upTo count: Int, includingWithdrawn: Bool
    ) async throws(StoreError) -> [StoredInAppMessage] {
        try await file.read { db in
            let statement = try RowStatement(db, sql: Self.page(includingWithdrawn: includingWithdrawn))
            var messages: [StoredInAppMessage] = []
            // No id is empty.
            try statement.forEach({ row in
                row.bind(id ?? "")
                row.bind(count)
            }) { messages.append(try StoredInAppMessage(&$0)) }
            return messages
        }
    }

    /// Arguments: the last id of the previous page, and the number of messages.
    static func page(includingWithdrawn: Bool) -> String {
        """
        SELECT \(StoredInAppMessage.columns) FROM inapp_messages
        WHERE id > ? \(includingWithdrawn ? "" : "AND withdrawn_at IS NULL") ORDER BY id LIMIT ?
        """
    }

    // MARK: Due devices

    /// Arguments: the time, and the number of devices.
    static let dueDevices = "SELECT id FROM inapp_devices WHERE next_due <= ? ORDER BY next_due LIMIT ?"
    static let nextDue = "SELECT min(next_due) FROM inapp_devices WHERE next_due IS NOT NULL"

    package func dueDevices(at now: Instant, upTo limit: Int) async throws(StoreError) -> [DeviceID] {
        try await file.read { db in try db.rows(Self.dueDevices, [now, limit]).map { try $0.text(0) } }
    }

    package func nextInAppDue() async throws(StoreError) -> Instant? {
        try await file.read { try $0.number(Self.nextDue) }
    }
}
