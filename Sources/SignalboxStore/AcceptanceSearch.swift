package import Foundation

/// Finds the events of a period without an index on times: an event that was accepted later has a larger number.
///
/// A clock that was wrong leaves times that do not grow with the numbers. So the search adds ``slack`` on both sides:
/// it finds all events of the period unless the clock was wrong by more than half of the slack.
package enum AcceptanceSearch {
    /// At ten million events a month, 28,000 events on each side.
    private static let slack: Duration = .seconds(7200)

    /// The statement that returns the last number before the events that were accepted at a time or later. No row
    /// without events. Reads about two dozen rows. `time`: the placeholder of milliseconds since 1970.
    package static func sql(before time: String) -> String {
        """
        WITH RECURSIVE search (low, high, time) AS (
            SELECT (SELECT min(seq) FROM events), (SELECT max(seq) FROM events) + 1, \(time)
            UNION ALL
            SELECT CASE WHEN accepted_at < time THEN seq + 1 ELSE low END,
                CASE WHEN accepted_at < time THEN high ELSE (low + high) / 2 END, time
            FROM search JOIN events ON seq = (SELECT min(seq) FROM events WHERE seq >= (low + high) / 2)
            WHERE low < high
        )
        SELECT low - 1 FROM search WHERE low >= high
        """
    }

    /// The number after which the events of a period begin; `Int64.min` without a time. `find`: runs the statement.
    package static func start(since time: Date?, _ find: (Date) throws -> Int64?) rethrows -> Int64 {
        try time.flatMap { try find($0 - slack) } ?? .min
    }

    /// The number before which the events of a period end; `Int64.max` without a time.
    package static func end(until time: Date?, _ find: (Date) throws -> Int64?) rethrows -> Int64 {
        try time.flatMap { try find($0 + slack) }.map { $0 + 1 } ?? .max
    }
}
