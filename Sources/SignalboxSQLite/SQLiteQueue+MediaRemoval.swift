import Foundation
import GRDB
package import SignalboxStore

/// Removal of downloads and files.
extension SQLiteQueue {
    /// Limits the files or URLs of one step, and the rows that refer to each of them.
    private static let step = 500

    /// `gone` receives the digests of each step after its commit; the caller then removes the files. Returns the
    /// number of forgotten files. Failed downloads are forgotten after ``StoreLimits/failureMemory``. A crash between
    /// a commit and `gone` leaves files that the store does not know; the sweep removes them.
    package func removeMedia(
        beyond retention: MediaRetention, pause: () async -> Void, gone: ([String]) async -> Void
    ) async throws(StoreError) -> Int {
        let (unused, failed) = (now - retention.unused, now - StoreLimits.failureMemory)
        while try await forgetURLs(in: "failed", checkedBefore: failed) { await pause() }
        while try await forgetURLs(in: "stored", checkedBefore: unused) { await pause() }
        let before = unused.milliseconds
        var surplus = try await mediaBytes() - retention.bytes
        var removed = 0
        var position: MediaRemoval.Position? = MediaRemoval.Position()
        while let start = position {
            let removal = try await write { [surplus] db, _ in
                var removal = MediaRemoval(usedBefore: before, surplus: surplus, step: Self.step)
                try removal.run(after: start, in: db)
                return removal
            }
            surplus = removal.surplus
            removed += removal.removed.count
            if !removal.removed.isEmpty { await gone(removal.removed) }
            position = removal.next
            if position != nil { await pause() }
        }
        return removed
    }

    /// Forgets URLs that no event waits for. True when there may be more. `state`: `stored` or `failed`. The files of
    /// forgotten URLs stay until they are unused. One transaction of at most 500 URLs.
    private func forgetURLs(in state: String, checkedBefore date: Date) async throws(StoreError) -> Bool {
        try await write { db, _ in
            try db.run(
                """
                DELETE FROM media WHERE id IN (
                    SELECT id FROM media WHERE state = '\(state)' AND checked_at < ?
                        AND NOT EXISTS (SELECT 1 FROM media_events WHERE media = media.id)
                    ORDER BY checked_at LIMIT \(Self.step))
                """, [date.milliseconds]) == Self.step
        }
    }

    /// One transaction. Events that still wait for a file request it again; other events keep a link without a file.
    /// Unknown digests are skipped.
    package func forgetMedia(_ digests: [String]) async throws(StoreError) {
        try await write { db, now in
            for digest in digests {
                guard let id = try db.number("SELECT id FROM files WHERE sha256 = ?", [digest]) else { continue }
                try db.run("DELETE FROM event_files WHERE file = ?", [id])
                for row in try db.rows("SELECT id FROM media WHERE sha256 = ?", [digest]) {
                    let url = try row.number(0)
                    // An event may still wait for it. The download is a new one, with its own retry budget.
                    try db.run(
                        """
                        UPDATE media SET state = 'wanted', due = :now, attempts = 0, wanted_at = :now
                        WHERE id = :id AND state = 'stored'
                            AND EXISTS (SELECT 1 FROM media_events WHERE media = :id)
                        """, ["id": url, "now": now.milliseconds])
                    try db.run(
                        """
                        UPDATE media_waits SET ready = 0
                        WHERE event IN (SELECT event FROM media_events WHERE media = ?)
                        """, [url])
                    try db.run("UPDATE media_events SET done = 0 WHERE media = ?", [url])
                    try db.forget(url: url)
                }
                try db.run("DELETE FROM files WHERE id = ?", [id])
            }
        }
    }

    /// The size of all known files, including those that are not on the disk.
    package func mediaBytes() async throws(StoreError) -> Int64 { try await file.read { try $0.mediaBytes() } }

    /// One index lookup for each digest.
    package func knownFiles(of digests: [String]) async throws(StoreError) -> Set<String> {
        try await file.read { db in
            Set(try digests.filter { try db.flag("SELECT 1 FROM files WHERE sha256 = ?", [$0]) })
        }
    }
}

/// One step of a removal of files, least recently used first. Runs in one transaction. After its commit, the caller
/// removes the files from the disk. Files that a waiting delivery needs stay, even beyond the limit on bytes.
struct MediaRemoval: Sendable {
    /// In milliseconds since 1970. Files that were used earlier are removed regardless of the limit on bytes.
    let usedBefore: Int64
    /// Bytes beyond the limit.
    private(set) var surplus: Int64
    /// The most files of the step, and the most references of each file.
    let step: Int
    /// SHA-256 digests of the files.
    private(set) var removed: [String] = []
    /// The position at which the next step continues; nil when there is none.
    private(set) var next: Position?

    /// The last file that was read, by its use and its number.
    struct Position: Sendable {
        /// In milliseconds since 1970.
        var usedAt = Int64.min
        /// Decides between files of the same time.
        var id: Int64 = 0
    }

    /// The result of an attempt to forget one file.
    private enum Finding {
        /// A waiting delivery links to the file, or may link to it after a download.
        case needed
        /// The file is forgotten; the caller removes it from the disk.
        case removed
        /// The file has more references than one step removes.
        case named
    }

    /// Served by the index `files_used`, the least recently used first.
    static let files = """
        SELECT id, sha256, bytes, used_at FROM files WHERE (used_at, id) > (?, ?) ORDER BY used_at, id LIMIT ?
        """

    /// Throws ``DamagedValue`` for an index that is out of order. Removes at most ``step`` files, and stops at a file
    /// that has more references than one step removes.
    mutating func run(after start: Position, in db: Database) throws {
        let rows = try db.rows(Self.files, [start.usedAt, start.id, step])
        var position = start
        for row in rows {
            let (id, sha256, usedAt) = (try row.number(0), try row.text(1), try row.number(3))
            guard (usedAt, id) > (position.usedAt, position.id) else {
                throw DamagedValue("the files are out of order")
            }
            guard usedAt < usedBefore || surplus > 0 else { return next = nil }
            switch try forget(id, sha256, in: db) {
            case .named: return next = position
            case .needed: break
            case .removed:
                removed.append(sha256)
                surplus -= try row.number(2)
            }
            position = Position(usedAt: usedAt, id: id)
        }
        next = rows.count == step ? position : nil
    }

    /// Forgets a file with at most one step of events and URLs. Reads the newest references first, because events that
    /// wait are likely to be among them. Forgets URLs only after checking the references of all events.
    private func forget(_ id: Int64, _ sha256: String, in db: Database) throws -> Finding {
        // Events that wait are likely to be the newest.
        let events = try db.rows(
            """
            SELECT event, EXISTS (SELECT 1 FROM deliveries d WHERE d.event = f.event AND d.state = 'waiting')
            FROM event_files f WHERE file = ? ORDER BY event DESC LIMIT ?
            """, [id, step])
        let urls = try db.rows(
            """
            SELECT id, EXISTS (SELECT 1 FROM media_events WHERE media = m.id) FROM media m WHERE sha256 = ? LIMIT ?
            """, [sha256, step])
        if try (events + urls).contains(where: { try $0.flag(1) }) { return .needed }
        for row in events {
            try db.run("DELETE FROM event_files WHERE file = ? AND event = ?", [id, try row.number(0)])
        }
        // An older event may wait, and then the file stays with its URLs.
        if events.count == step { return .named }
        for row in urls { try db.forget(url: try row.number(0)) }
        if urls.count == step { return .named }
        try db.run("DELETE FROM files WHERE id = ?", [id])
        return .removed
    }
}

extension Database {
    /// Forgets the file of a URL. A requested URL stays, and is then downloaded from scratch. Without validators, the
    /// next download gets the whole file.
    fileprivate func forget(url: Int64) throws {
        let changed = try run(
            """
            UPDATE media SET sha256 = NULL, etag = NULL, last_modified = NULL
            WHERE id = ? AND state IN ('wanted', 'resting')
            """, [url])
        if changed == 0 { try run("DELETE FROM media WHERE id = ?", [url]) }
    }
}
