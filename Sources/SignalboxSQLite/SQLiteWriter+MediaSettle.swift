import Foundation
import GRDB
import SignalboxNotification
import SignalboxStore

/// What becomes of a download, and of the deliveries that wait for it.
extension SQLiteWriter {
    /// How long an explanation may be.
    private static let words = 1000

    func settle(_ settlement: MediaSettlement, in db: Database, _ transaction: inout Transaction) throws {
        transaction.media.urls = [:]
        let row = try StoredRow.fetchOne(
            db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM files f WHERE f.sha256 = m.sha256) FROM media m WHERE m.id = ?"),
            arguments: [settlement.job])
        // Forgotten meanwhile: then nobody waits for it either.
        guard let row else { return }
        let isKept = try row.flag(0)
        switch settlement.end {
        case .stored(let file, let freshness, let remarks):
            try keep(file, in: db, &transaction)
            try store(settlement.job, file, freshness, remarks, in: db, transaction)
        case .unchanged(let freshness):
            guard isKept else { return try wantFromScratch(settlement.job, in: db, &transaction) }
            try renew(settlement.job, freshness, in: db, transaction)
        case .keptStale(let failure, let until):
            if isKept {
                try keepStale(settlement.job, failure, until, in: db, transaction)
            } else {
                try fail(settlement.job, failure, in: db, transaction)
            }
        case .failed(let failure): try fail(settlement.job, failure, in: db, transaction)
        case .retry(let date, let failure): return try rest(settlement.job, until: date, failure, in: db)
        }
        try finish(settlement.job, in: db, &transaction)
    }

    /// Tells the events that wait for it. Those that wait for nothing else are ready.
    private func finish(_ job: Int64, in db: Database, _ transaction: inout Transaction) throws {
        try db.cachedStatement(sql: Self.becomeReady).execute(arguments: ["job": job])
        if db.changesCount > 0 { transaction.media.isChanged = true }
        try db.cachedStatement(sql: Self.becomeDone).execute(arguments: [job])
    }

    static let becomeReady = """
        UPDATE media_waits SET ready = 1
        WHERE ready = 0 AND event IN (SELECT event FROM media_events WHERE media = :job AND done = 0)
            AND NOT EXISTS (SELECT 1 FROM media_events o
                WHERE o.event = media_waits.event AND o.done = 0 AND o.media <> :job)
        """
    static let becomeDone = "UPDATE media_events SET done = 1 WHERE media = ? AND done = 0"

    private func store(
        _ job: Int64, _ file: MediaFile, _ freshness: MediaFreshness, _ remarks: [MediaRemark], in db: Database,
        _ transaction: Transaction
    ) throws {
        let codes = remarks.map(\.rawValue).joined(separator: " ")
        try db.cachedStatement(
            sql: """
                UPDATE media SET state = 'stored', checked_at = ?, fresh_until = ?, etag = ?, last_modified = ?,
                    sha256 = ?, reason = NULL, words = NULL, remarks = ?
                WHERE id = ?
                """
        ).execute(arguments: [
            transaction.now.milliseconds, freshness.until.milliseconds, freshness.validators.etag,
            freshness.validators.lastModified, file.sha256, codes.isEmpty ? nil : codes, job,
        ])
    }

    /// What an answer of 304 leaves out stays as it was (RFC 9111, 4.3.4).
    private func renew(
        _ job: Int64, _ freshness: MediaFreshness, in db: Database, _ transaction: Transaction
    ) throws {
        try db.cachedStatement(
            sql: """
                UPDATE media SET state = 'stored', checked_at = ?, fresh_until = ?, etag = coalesce(?, etag),
                    last_modified = coalesce(?, last_modified), reason = NULL, words = NULL
                WHERE id = ?
                """
        ).execute(arguments: [
            transaction.now.milliseconds, freshness.until.milliseconds, freshness.validators.etag,
            freshness.validators.lastModified, job,
        ])
    }

    /// What it is unchanged from was removed while it was asked.
    private func wantFromScratch(_ job: Int64, in db: Database, _ transaction: inout Transaction) throws {
        try db.cachedStatement(
            sql: """
                UPDATE media SET state = 'wanted', due = ?, etag = NULL, last_modified = NULL, sha256 = NULL
                WHERE id = ?
                """
        ).execute(arguments: [transaction.now.milliseconds, job])
        transaction.media.isChanged = true
    }

    private func keepStale(
        _ job: Int64, _ failure: MediaFailure, _ until: Date, in db: Database, _ transaction: Transaction
    ) throws {
        try db.cachedStatement(
            sql: """
                UPDATE media SET state = 'stored', checked_at = ?, fresh_until = ?, reason = ?, words = ? WHERE id = ?
                """
        ).execute(arguments: [
            transaction.now.milliseconds, until.milliseconds, failure.code.rawValue,
            String(failure.words.prefix(Self.words)), job,
        ])
    }

    private func fail(
        _ job: Int64, _ failure: MediaFailure, in db: Database, _ transaction: Transaction
    ) throws {
        try db.cachedStatement(
            sql: """
                UPDATE media SET state = 'failed', checked_at = ?, fresh_until = NULL, etag = NULL,
                    last_modified = NULL, sha256 = NULL, remarks = NULL, reason = ?, words = ?
                WHERE id = ?
                """
        ).execute(arguments: [
            transaction.now.milliseconds, failure.code.rawValue, String(failure.words.prefix(Self.words)), job,
        ])
    }

    private func rest(_ job: Int64, until date: Date, _ failure: MediaFailure, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE media SET state = 'resting', due = ?, attempts = attempts + 1, reason = ?, words = ?
                WHERE id = ?
                """
        ).execute(arguments: [
            date.milliseconds, failure.code.rawValue, String(failure.words.prefix(Self.words)), job,
        ])
    }
}
