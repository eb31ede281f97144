import Foundation
package import SignalboxInApp
import SignalboxNotification
package import SignalboxStore

/// In-app messages. Their rows are locked in the order of their ids.
extension PostgresStore {
    /// Changes of other nodes are reported at the next tick. Blocks for a round trip at the first call, on the caller's
    /// thread.
    package func openInApp(onChange: @escaping @Sendable ([StoredInAppMessage]) -> Void) {
        inAppChanges.open(onChange)
    }

    /// Reports changes of in-app messages that other nodes made. For each tick: one cheap statement, and none without
    /// an observer.
    func lookForInAppChanges() async throws(StoreError) { try await inAppChanges.lookLater() }

    // MARK: Changes

    /// Durable when it returns. The observer has been called by then, unless the connection has been lost meanwhile.
    package func register(
        _ message: InAppRegistration, as action: OperatorAction?
    ) async throws(StoreError) -> StoredInAppMessage {
        let stored = try await change(message.id, as: action) { now in
            Self.registration(of: [message], isPayload: false, at: now)
        }
        guard let stored else { throw .damaged(path: "in PostgreSQL", reason: "a registered message is missing") }
        return stored
    }

    /// Durable when it returns. The message stays stored until upkeep removes it, so that its offers can be reported.
    package func withdraw(
        message id: MessageID, as action: OperatorAction?
    ) async throws(StoreError) -> StoredInAppMessage? {
        try await change(id, as: action) { now in Self.withdrawal(of: [id], at: now) }
    }

    /// Returns the message after a change; nil for an unknown one.
    private func change(
        _ id: MessageID, as action: OperatorAction?, _ statement: @escaping @Sendable (Date) -> PostgresStatement
    ) async throws(StoreError) -> StoredInAppMessage? {
        let stored = try await writer(.others).write { transaction in
            var statements = [statement(transaction.now), Self.reading(id)]
            if let action { statements.append(try Self.recording(action, count: nil, at: transaction.now)) }
            return try transaction.run(all: statements)[1].first.map { try StoredInAppMessage($0) }
        }
        // Committed: a failure of the look leaves the report to the next tick.
        do throws(StoreError) { try await inAppChanges.lookLater() } catch { return stored }
        return stored
    }

    /// Stores the messages of payloads, for appends: in the order of their events, those of duplicates excluded. One
    /// round trip. A message that an operator withdrew stays withdrawn: the vendor sends a payload to each device, and
    /// a withdrawal lasts while it does. A withdrawal that upkeep made does not: the user or the device of the message
    /// is back. Returns the changed messages; the caller adds them to ``WriteEffects/messages``.
    func registerFromPayload(
        _ messages: [InAppRegistration], in transaction: PostgresTransaction
    ) throws -> [StoredInAppMessage] {
        guard !messages.isEmpty else { return [] }
        let results = try transaction.run(all: [
            Self.refreshing(messages.map(\.id), at: transaction.now),
            Self.registration(of: messages, isPayload: true, at: transaction.now),
        ])
        return try results.flatMap { rows in try rows.map { try StoredInAppMessage($0) } }
    }

    // MARK: Statements

    private static func reading(_ id: MessageID) -> PostgresStatement {
        PostgresStatement("SELECT \(StoredInAppMessage.columns) FROM inapp_messages WHERE id = $1", [.text(id)])
    }

    /// Stores messages that are new or differ, and returns them in their order. Of equal ids the last one counts. An
    /// unchanged message is not locked: events of one campaign all have its message.
    private static func registration(
        of messages: [InAppRegistration], isPayload: Bool, at now: Date
    ) -> PostgresStatement {
        var last = ExactTextMap<Int>()
        for (place, message) in messages.enumerated() { last[message.id] = place }
        let messages = messages.enumerated().filter { last[$0.element.id] == $0.offset }.map(\.element)
        return PostgresStatement(
            register,
            [
                .texts(messages.map(\.id)), .numbers(messages.map(\.end)),
                .texts(messages.map { $0.address?.user }), .texts(messages.map { $0.address?.device }),
                .manyBytes(messages.map(\.body)), .time(now), .flag(isPayload),
            ])
    }

    /// Of a stored message `m`: whether upkeep may have withdrawn it. It withdraws those for one user or device without
    /// an end.
    private static let isUpkeeps = "(m.ends_at IS NULL AND (m.user_id IS NOT NULL OR m.device_id IS NOT NULL))"
    /// The number of the transaction is the server's, of 64 bits, and does not wrap around.
    private static let logged = """
        INSERT INTO inapp_changes (transaction, message, at) SELECT pg_current_xact_id()::text::bigint, id
        """

    /// `$6`: the time, `$7`: whether the messages are those of payloads. Returns changed messages only, in the order of
    /// the arguments.
    private static let register = """
        WITH given AS (
            SELECT * FROM unnest($1, $2, $3, $4, $5) WITH ORDINALITY
                AS given (id, ends_at, user_id, device_id, body, place)
        ), changed AS (
            INSERT INTO inapp_messages AS m (id, revision, registered_at, ends_at, user_id, device_id, body)
            SELECT id, 1, $6, ends_at, user_id, device_id, body FROM given
            WHERE NOT EXISTS (
                SELECT 1 FROM inapp_messages m WHERE m.id = given.id AND CASE WHEN m.withdrawn_at IS NULL
                    THEN m.body = given.body AND m.user_id IS NOT DISTINCT FROM given.user_id
                        AND m.device_id IS NOT DISTINCT FROM given.device_id
                    ELSE $7 AND NOT \(isUpkeeps) END
            ) ORDER BY id
            ON CONFLICT (id) DO UPDATE SET revision = m.revision + 1, registered_at = excluded.registered_at,
                withdrawn_at = NULL, ends_at = excluded.ends_at, user_id = excluded.user_id,
                device_id = excluded.device_id, body = excluded.body
            WHERE CASE WHEN m.withdrawn_at IS NULL
                THEN m.body <> excluded.body OR m.user_id IS DISTINCT FROM excluded.user_id
                    OR m.device_id IS DISTINCT FROM excluded.device_id
                ELSE NOT $7 OR \(isUpkeeps) END
            RETURNING *
        ), ordered AS (SELECT changed.*, place FROM changed JOIN given USING (id) ORDER BY place
        ), logged AS (\(logged), $6 FROM ordered ORDER BY place)
        SELECT \(StoredInAppMessage.columns) FROM ordered ORDER BY place
        """

    /// Moves the withdrawals of an operator by a day at most, since upkeep removes messages some time after it.
    private static func refreshing(_ ids: [MessageID], at now: Date) -> PostgresStatement {
        PostgresStatement(
            """
            WITH changed AS (
                UPDATE inapp_messages m SET withdrawn_at = $2
                WHERE id = ANY($1) AND withdrawn_at <= $2 - \(InAppWalk.day) AND NOT \(isUpkeeps) RETURNING *
            ), logged AS (\(logged), $2 FROM changed)
            SELECT \(StoredInAppMessage.columns) FROM changed
            """, [.texts(ids), .time(now)])
    }

    /// Withdraws messages that are not withdrawn. Repeating it changes nothing and adds nothing to the log of changes.
    static func withdrawal(of ids: [MessageID], at now: Date) -> PostgresStatement {
        PostgresStatement(
            """
            WITH changed AS (
                UPDATE inapp_messages SET withdrawn_at = $2 WHERE id = ANY($1) AND withdrawn_at IS NULL RETURNING id
            ) \(logged), $2 FROM changed
            """, [.texts(ids), .time(now)])
    }

    /// Removes messages that are still over before a time, with their tallies. Returns their ids.
    static func removal(of ids: [MessageID], before: Int64, at now: Date) -> PostgresStatement {
        PostgresStatement(
            """
            WITH changed AS (
                DELETE FROM inapp_messages WHERE id = ANY($1) AND coalesce(withdrawn_at, ends_at) < $3 RETURNING id
            ), tallies AS (DELETE FROM inapp_tallies WHERE message IN (SELECT id FROM changed)
            ), logged AS (\(logged), $2 FROM changed)
            SELECT id FROM changed
            """, [.texts(ids), .time(now), .number(before)])
    }

    // MARK: Reads

    /// With its body, withdrawn or not. Nil once upkeep has removed it.
    package func message(_ id: MessageID) async throws(StoreError) -> StoredInAppMessage? {
        let statement = Self.reading(id)
        return try await readers.first(statement.sql, statement.values) { try StoredInAppMessage($0) }
    }

    /// Each page is a read of its own: a message that is registered between two pages may be missing from both. Walks
    /// the primary key.
    package func messages(
        after id: MessageID?, upTo count: Int, includingWithdrawn: Bool
    ) async throws(StoreError) -> [StoredInAppMessage] {
        // No id is empty.
        try await readers.rows(
            """
            SELECT \(StoredInAppMessage.columns) FROM inapp_messages
            WHERE id > $1 AND ($3 OR withdrawn_at IS NULL) ORDER BY id LIMIT $2
            """, [.text(id ?? ""), .number(Int64(count)), .flag(includingWithdrawn)]
        ) { try StoredInAppMessage($0) }
    }
}
