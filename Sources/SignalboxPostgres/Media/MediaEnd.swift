import SignalboxStore

/// The end of one download, as rows. Deliveries become ready when the last download of their event has ended, even if
/// it failed.
struct MediaEnd: Sendable {
    private let settlement: MediaSettlement

    init(_ settlement: MediaSettlement) { self.settlement = settlement }

    /// Returns whether there may be something to download or to release. Changes nothing for a URL whose download has
    /// ended already. Waits for appends that name the URL, so that their deliveries become ready too. Two round trips.
    /// The row of the URL stays locked until the commit.
    func write(in transaction: PostgresTransaction) throws -> Bool {
        let job = PostgresValue.number(settlement.job)
        let row = try transaction.run(
            """
            SELECT m.state, EXISTS (SELECT FROM files f WHERE f.sha256 = m.sha256) FROM media m WHERE m.id = $1
            FOR UPDATE OF m
            """, [job]
        ).first
        // No event waits for a URL that was forgotten meanwhile.
        guard let row else { return false }
        let former = try row.word(0, as: MediaURLRecord.State.self)
        // Another node has downloaded it since, because this one was stopped or declared gone.
        guard former == .wanted || former == .resting else { return false }
        let change = MediaChange(settlement.end, isKept: try row.flag(1), at: transaction.now)
        var statements: [PostgresStatement] = []
        if case .stored(let file, _, _) = settlement.end { statements += MediaIntake(transaction).keep([file]) }
        statements.append(Self.update(change, of: job))
        if let counts = MediaCounts.moved(from: former, to: change.state, in: transaction) { statements.append(counts) }
        if change.hasEnded { statements += Self.settled(job) }
        let results = try transaction.run(all: statements)
        let isReady = change.hasEnded && (results.last?.affected ?? 0) > 0
        return change.wakes || isReady
    }

    /// Changes the row of a URL.
    private static func update(_ change: MediaChange, of job: PostgresValue) -> PostgresStatement {
        var assignments = ["state = '\(change.state.rawValue)'"]
        var values = [job]
        for (column, value) in change.columns {
            let placeholder = "$\(values.count + 1)"
            switch value {
            case .null: assignments.append("\(column) = NULL")
            case .oneMore: assignments.append("\(column) = \(column) + 1")
            case .time(let time):
                assignments.append("\(column) = \(placeholder)")
                values.append(.time(time))
            case .text(let text):
                assignments.append("\(column) = \(placeholder)")
                values.append(.text(text))
            case .textIfAny(let text):
                assignments.append("\(column) = coalesce(\(placeholder), \(column))")
                values.append(.text(text))
            }
        }
        return PostgresStatement("UPDATE media SET \(assignments.joined(separator: ", ")) WHERE id = $1", values)
    }

    /// Marks the held deliveries of events that wait for this download and no other. The waits are locked before the
    /// last statement reads: when two downloads of an event end at once, the second one sees the first.
    private static func settled(_ job: PostgresValue) -> [PostgresStatement] {
        [
            PostgresStatement("UPDATE media_events SET done = true WHERE media = $1 AND NOT done", [job]),
            PostgresStatement(
                """
                SELECT FROM media_waits WHERE NOT ready AND event IN (SELECT event FROM media_events WHERE media = $1)
                ORDER BY delivery FOR UPDATE
                """, [job]),
            PostgresStatement(
                """
                UPDATE media_waits w SET ready = true
                WHERE NOT ready AND event IN (SELECT event FROM media_events WHERE media = $1)
                    AND NOT EXISTS (SELECT FROM media_events o WHERE o.event = w.event AND NOT o.done)
                """, [job]),
        ]
    }
}
