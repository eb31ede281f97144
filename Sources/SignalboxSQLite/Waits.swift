import Foundation
import GRDB
import SignalboxStore

/// Times until which deliveries, downloads and destinations wait. Deliveries wait in `deliveries.due` and
/// `media_waits.until`, downloads in `media.due`, destinations in `backoffs.until`.
enum Waits {
    /// Moves all waits along with a clock that was set by `jump` seconds and now says `now`, so that they last as
    /// long as before. Set back, the clock would stall them; set forward, it would end them all at once. Scheduled
    /// times are an event's own and stay. Takes about a second per 200,000 waiting deliveries. `jump`: positive for a
    /// clock that was set forward. Runs once for each jump, in the transaction that notices it.
    static func move(by jump: TimeInterval, at now: Date, in db: Database) throws {
        let jump = Int64(jump * 1000)
        // Deliveries that are due by both clocks need no change.
        let first = min(now.milliseconds, now.milliseconds - jump)
        try db.run("UPDATE media_waits SET until = until + ?", [jump])
        try db.run(
            """
            UPDATE deliveries
            SET due = iif(not_before IS NULL, due + :jump,
                max(not_before, :grace + (SELECT until FROM media_waits WHERE delivery = id)))
            WHERE id IN (SELECT delivery FROM media_waits) AND begun = 0
            """, ["jump": jump, "grace": StoreLimits.releaseGrace])
        try db.run(
            """
            UPDATE deliveries INDEXED BY deliveries_due SET due = due + :jump
            WHERE state = 'waiting' AND due > :first AND (not_before IS NULL OR attempts > 0)
                AND (begun > 0 OR id NOT IN (SELECT delivery FROM media_waits))
            """, ["jump": jump, "first": first])
        try db.run("UPDATE media SET due = due + ? WHERE state = 'resting'", [jump])
        // The lanes measure a backoff by their own clock; operators read these times. An end that has passed stays: a
        // changed one would count as a resume by another process.
        try db.run(
            "UPDATE backoffs SET since = since + :jump, until = until + :jump WHERE until > :former",
            ["jump": jump, "former": now.milliseconds - jump])
    }
}
