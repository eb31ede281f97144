/// Finds the events of a period without an index on times: an event that was accepted later has a larger number.
///
/// A clock that was wrong leaves times that do not grow with the numbers. So the search adds ``slack`` on both sides.
/// If the clock was wrong by more, it may end at a wrong bound, beyond which there are events of the period. So it
/// looks beyond the bound at doubling distances, and gives up if it meets one. It can still miss a few events, rarely
/// more than were accepted while the clock was wrong.
package enum AcceptanceSearch {
    /// At ten million events a month, 28,000 events on each side. In milliseconds.
    private static let slack = 7_200_000

    /// The statement that returns the number after which the events since a time begin. No row without events, and if
    /// the clock was wrong. Reads about six dozen rows. `time`: the placeholder of milliseconds since 1970.
    package static func start(since time: String) -> String {
        """
        \(bound(at: "(SELECT since - \(slack) FROM period)", time: time, named: "since"))
        SELECT last FROM bound WHERE NOT EXISTS (
            SELECT 1 FROM steps JOIN events ON seq = (SELECT max(seq) FROM events WHERE seq <= last - step)
            WHERE accepted_at >= (SELECT since FROM period))
        """
    }

    /// The statement that returns the number before which the events until a time end. No row without events, and if
    /// the clock was wrong. Reads about six dozen rows. `time`: the placeholder of milliseconds since 1970.
    package static func end(until time: String) -> String {
        """
        \(bound(at: "(SELECT until + \(slack) FROM period)", time: time, named: "until"))
        SELECT last + 1 FROM bound WHERE NOT EXISTS (
            SELECT 1 FROM steps JOIN events ON seq = (SELECT min(seq) FROM events WHERE seq > last + step)
            WHERE accepted_at < (SELECT until FROM period))
        """
    }

    /// Tables of a statement: `bound` has the last number before the events that were accepted at a time or later,
    /// `steps` has the distances at which the times of other events are compared.
    private static func bound(at moment: String, time: String, named name: String) -> String {
        """
        WITH RECURSIVE period (\(name)) AS (SELECT \(time)),
        search (low, high) AS (
            SELECT (SELECT min(seq) FROM events), (SELECT max(seq) FROM events) + 1
            UNION ALL
            SELECT CASE WHEN accepted_at < \(moment) THEN seq + 1 ELSE low END,
                CASE WHEN accepted_at < \(moment) THEN high ELSE (low + high) / 2 END
            FROM search JOIN events ON seq = (SELECT min(seq) FROM events WHERE seq >= (low + high) / 2)
            WHERE low < high
        ),
        bound (last) AS (SELECT low - 1 FROM search WHERE low >= high),
        steps (step) AS (
            SELECT CAST(1 AS bigint) UNION ALL SELECT 2 * step FROM steps
            WHERE step < (SELECT max(seq) FROM events) - (SELECT min(seq) FROM events)
        )
        """
    }
}
