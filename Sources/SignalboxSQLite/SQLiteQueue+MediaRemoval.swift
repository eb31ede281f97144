import Foundation
import GRDB
package import SignalboxStore

/// Removal of downloads and files.
extension SQLiteQueue {
    /// Limits the files or URLs of one step, and the rows that refer to each of them.
    private static let step = FileRemoval.most

    /// `gone` receives the digests of each step after its commit; the caller then removes the files. Returns the
    /// number of forgotten files. Failed downloads are forgotten after ``StoreLimits/failureMemory``. A crash between
    /// a commit and `gone` leaves files that the store does not know; the sweep removes them.
    package func removeMedia(
        beyond retention: MediaRetention, pause: () async -> Void, gone: ([String]) async -> Void
    ) async throws(StoreError) -> Int {
        let (unused, failed) = (now - retention.unused, now - StoreLimits.failureMemory)
        while try await forgetURLs(in: "failed", checkedBefore: failed) { await pause() }
        while try await forgetURLs(in: "stored", checkedBefore: unused) { await pause() }
        return try await FileRemoval.run(
            usedBefore: unused.milliseconds, surplus: try await mediaBytes() - retention.bytes, pause: pause, gone: gone
        ) { (removal, start) throws(StoreError) in
            try await self.write { db, _ in
                var removal = removal
                let files = try db.rows(Self.files, [start.usedAt, start.id, Self.step])
                try removal.forget(try files.map { try FileRemoval.Candidate($0) }, after: start) { file in
                    try db.forget(file, step: Self.step)
                }
                return removal
            }
        }
    }

    /// Served by the index `files_used`, the least recently used first.
    static let files = """
        SELECT \(FileRemoval.Candidate.columns) FROM files WHERE (used_at, id) > (?, ?) ORDER BY used_at, id LIMIT ?
        """

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

extension Database {
    /// Forgets a file with at most one step of events and URLs. Reads the newest references first, because events that
    /// wait are likely to be among them. Forgets URLs only after checking the references of all events.
    fileprivate func forget(_ file: FileRemoval.Candidate, step: Int) throws -> FileRemoval.Finding {
        // Events that wait are likely to be the newest.
        let events = try rows(
            """
            SELECT event, EXISTS (SELECT 1 FROM deliveries d WHERE d.event = f.event AND d.state = 'waiting')
            FROM event_files f WHERE file = ? ORDER BY event DESC LIMIT ?
            """, [file.id, step])
        let urls = try rows(
            """
            SELECT id, EXISTS (SELECT 1 FROM media_events WHERE media = m.id) FROM media m WHERE sha256 = ? LIMIT ?
            """, [file.sha256, step])
        if try (events + urls).contains(where: { try $0.flag(1) }) { return .needed }
        for row in events {
            try run("DELETE FROM event_files WHERE file = ? AND event = ?", [file.id, try row.number(0)])
        }
        // An older event may wait, and then the file stays with its URLs.
        if events.count == step { return .named }
        for row in urls { try forget(url: try row.number(0)) }
        if urls.count == step { return .named }
        try run("DELETE FROM files WHERE id = ?", [file.id])
        return .removed
    }

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
