import SignalboxNotification
import SignalboxStore

extension AppendBatch {
    /// Stores the rows of events; returns the number of each, in ascending order for those without a lasting id; nil
    /// for an event with a lasting id that is stored already. One round trip.
    func store(_ events: [RoutedEvent]) throws -> [Int64?] {
        var plain: [RoutedEvent] = []
        var lasting: [EventID: RoutedEvent] = [:]
        for event in events {
            if !event.hasLastingID {
                plain.append(event)
            } else if lasting[event.event.id] == nil {
                lasting[event.event.id] = event
            }
        }
        var statements: [PostgresStatement] = []
        if !lasting.isEmpty { statements.append(Self.statement(Self.insertUnlessStored, Self.sorted(lasting))) }
        if !plain.isEmpty { statements.append(Self.statement(Self.insert, plain)) }
        var results = try transaction.run(all: statements)[...]
        var known: [String: Int64] = [:]
        if !lasting.isEmpty, let rows = results.popFirst() {
            for (id, number) in try rows.map({ (try $0.text(1), try $0.number(0)) }) { known[id] = number }
        }
        // PostgreSQL inserts and returns the rows in the order of the arrays.
        var numbers = try results.first?.map { try $0.number(0) }[...] ?? []
        return events.map { event in
            // A further event with the same lasting id is a repeat of the first one.
            event.hasLastingID ? known.removeValue(forKey: event.event.id.description) : numbers.popFirst()
        }
    }

    /// In the order of ids, so that nodes that append the same events lock them in one order.
    private static func sorted(_ events: [EventID: RoutedEvent]) -> [RoutedEvent] {
        events.sorted { $0.key.words < $1.key.words }.map(\.value)
    }

    /// The arguments of both statements: arrays of equal length. A payload is NULL unless a destination gets it.
    private static func statement(_ sql: String, _ events: [RoutedEvent]) -> PostgresStatement {
        PostgresStatement(
            sql,
            [
                .ids(events.map(\.event.id)), .texts(events.map(\.event.source.name)),
                .texts(events.map(\.event.subject)), .numbers(events.map(\.event.acceptedAt.milliseconds)),
                .manyBytes(events.map(\.event.body)), .manyBytes(events.map(\.payload)),
            ])
    }

    /// Fails as a whole if one of the ids is in use (SQLSTATE 23505).
    static let insert = """
        INSERT INTO events (id, source, subject, accepted_at, body, payload)
        SELECT * FROM unnest($1, $2, $3, $4, $5, $6) RETURNING seq
        """

    /// Waits for a transaction that has added the same id.
    private static let insertUnlessStored = """
        INSERT INTO events (id, source, subject, accepted_at, body, payload)
        SELECT * FROM unnest($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING RETURNING seq, id::text
        """
}
