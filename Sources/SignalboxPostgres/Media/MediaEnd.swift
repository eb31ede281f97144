import Foundation
import SignalboxNotification
import SignalboxStore

/// The end of one download, as rows. Deliveries become ready when the last download of their event has ended, also by a
/// failure.
struct MediaEnd: Sendable {
    private let settlement: MediaSettlement
    /// The longest explanation that is stored.
    private static let longestWords = 1000

    init(_ settlement: MediaSettlement) { self.settlement = settlement }

    /// The new values of a row.
    private struct Change {
        let state: MediaURLRecord.State
        /// Assignments with placeholders from `$2` on. Constant text, never input.
        let columns: String
        let values: [PostgresValue]
        /// Whether events no longer wait for the URL. False for a retry and for another download.
        var hasEnded = true
        /// Whether there is something to download at once.
        var wakes = false
    }

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
        let change = change(isKept: try row.flag(1), at: transaction.now)
        var statements: [PostgresStatement] = []
        if case .stored(let file, _, _) = settlement.end { statements += MediaIntake(transaction).keep([file]) }
        statements.append(
            PostgresStatement(
                "UPDATE media SET state = '\(change.state.rawValue)', \(change.columns) WHERE id = $1",
                [job] + change.values))
        if let counts = MediaCounts.moved(from: former, to: change.state, in: transaction) { statements.append(counts) }
        if change.hasEnded { statements += Self.settled(job) }
        let results = try transaction.run(all: statements)
        let isReady = change.hasEnded && (results.last?.affected ?? 0) > 0
        return change.wakes || isReady
    }

    /// `isKept`: whether an older file is stored. Failures leave it in use for `keptStale`, and remove it from the URL
    /// for `failed`.
    private func change(isKept: Bool, at now: Date) -> Change {
        switch settlement.end {
        case .stored(let file, let freshness, let remarks): return Self.stored(file, freshness, remarks, at: now)
        case .unchanged where !isKept:
            // The stored file was removed meanwhile.
            return Change(
                state: .wanted, columns: "due = $2, etag = NULL, last_modified = NULL, sha256 = NULL",
                values: [.time(now)], hasEnded: false, wakes: true)
        case .unchanged(let freshness):
            // A 304 response leaves out what stays as it was (RFC 9111, 4.3.4).
            return Change(
                state: .stored,
                columns: """
                    checked_at = $2, fresh_until = $3, etag = coalesce($4, etag),
                    last_modified = coalesce($5, last_modified), reason = NULL, words = NULL
                    """,
                values: [
                    .time(now), .time(freshness.until), .text(freshness.validators.etag),
                    .text(freshness.validators.lastModified),
                ])
        case .retry(let wait, let failure):
            return Change(
                state: .resting, columns: "due = $2, attempts = attempts + 1, reason = $3, words = $4",
                values: [.time(now + wait)] + Self.values(failure), hasEnded: false)
        case .keptStale(let failure, let time) where isKept:
            return Change(
                state: .stored, columns: "checked_at = $2, fresh_until = $3, reason = $4, words = $5",
                values: [.time(now), .time(now + time)] + Self.values(failure))
        case .failed(let failure), .keptStale(let failure, _):
            return Change(
                state: .failed,
                columns: """
                    checked_at = $2, fresh_until = NULL, etag = NULL, last_modified = NULL, sha256 = NULL,
                    remarks = NULL, reason = $3, words = $4
                    """, values: [.time(now)] + Self.values(failure))
        }
    }

    /// A successful download clears the reason of an earlier failure.
    private static func stored(
        _ file: MediaFile, _ freshness: MediaFreshness, _ remarks: [MediaRemark], at now: Date
    ) -> Change {
        let codes = remarks.map(\.rawValue).joined(separator: " ")
        return Change(
            state: .stored,
            columns: """
                checked_at = $2, fresh_until = $3, etag = $4, last_modified = $5, sha256 = $6, reason = NULL,
                words = NULL, remarks = $7
                """,
            values: [
                .time(now), .time(freshness.until), .text(freshness.validators.etag),
                .text(freshness.validators.lastModified), .text(file.sha256), .text(codes.isEmpty ? nil : codes),
            ])
    }

    /// The columns `reason` and `words`.
    private static func values(_ failure: MediaFailure) -> [PostgresValue] {
        [.text(failure.code.rawValue), .text(String(failure.words.prefix(longestWords)))]
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
