import Foundation
import GRDB
import SignalboxNotification
package import SignalboxStore

/// How downloads and files leave. Done in small steps: between two of them others write.
extension SQLiteQueue {
    /// The most files or URLs that one step looks at, and the most rows that name one of them.
    private static let step = 500

    /// Forgets files and URLs that have been kept long enough, or for which there is no room; returns how many files. None
    /// that a waiting delivery points to, or may come to point to. `gone` is told the digests of files that are forgotten;
    /// their contents are its to remove, but for those that were kept again a moment ago. `pause` is called between
    /// two steps.
    package func removeMedia(
        beyond retention: MediaRetention, pause: () async -> Void, gone: ([String]) async -> Void
    ) async throws(StoreError) -> Int {
        let now = now()
        let unused = now.addingTimeInterval(-(retention.unused / .seconds(1)))
        let failed = now.addingTimeInterval(-(retention.failures / .seconds(1)))
        while try await forgetURLs(in: "failed", checkedBefore: failed) { await pause() }
        while try await forgetURLs(in: "stored", checkedBefore: unused) { await pause() }
        var surplus = try await mediaBytes() - retention.bytes
        var removed = 0
        var place: MediaRemoval.Place? = MediaRemoval.Place()
        while let start = place {
            let removal = try await removeFiles(usedBefore: unused, surplus: surplus, behind: start)
            surplus = removal.surplus
            removed += removal.removed.count
            if !removal.removed.isEmpty { await gone(removal.removed) }
            place = removal.next
            if place != nil { await pause() }
        }
        return removed
    }

    private func removeFiles(
        usedBefore: Date, surplus: Int64, behind place: MediaRemoval.Place
    ) async throws(StoreError) -> MediaRemoval {
        try await write { db in
            var removal = MediaRemoval(usedBefore: usedBefore.milliseconds, surplus: surplus, step: Self.step)
            try removal.run(behind: place, in: db)
            return removal
        }
    }

    /// Of those that no event waits for; true when there may be more.
    private func forgetURLs(in state: String, checkedBefore date: Date) async throws(StoreError) -> Bool {
        try await write { db in
            try db.cachedStatement(
                sql: """
                    DELETE FROM media WHERE id IN (
                        SELECT id FROM media WHERE state = '\(state)' AND checked_at < ?
                            AND NOT EXISTS (SELECT 1 FROM media_events WHERE media = media.id)
                        ORDER BY checked_at LIMIT \(Self.step))
                    """
            ).execute(arguments: [date.milliseconds])
            return db.changesCount == Self.step
        }
    }

    /// Forgets files that are not there any more, or not as they were, whoever needs them: they are downloaded again when
    /// an event asks for them.
    package func forgetMedia(_ digests: [String]) async throws(StoreError) {
        try await write { db in
            for digest in digests {
                let id = try Int64.fetchOne(
                    db.cachedStatement(sql: "SELECT id FROM files WHERE sha256 = ?"), arguments: [digest])
                guard let id else { continue }
                try db.cachedStatement(sql: "DELETE FROM event_files WHERE file = ?").execute(arguments: [id])
                let urls = try Int64.fetchAll(
                    db.cachedStatement(sql: "SELECT id FROM media WHERE sha256 = ?"), arguments: [digest])
                for url in urls {
                    // An event may wait for it yet.
                    try db.cachedStatement(
                        sql: """
                            UPDATE media SET state = 'wanted' WHERE id = :id AND state = 'stored'
                                AND EXISTS (SELECT 1 FROM media_events WHERE media = :id)
                            """
                    ).execute(arguments: ["id": url])
                    try db.cachedStatement(
                        sql: """
                            UPDATE media_waits SET ready = 0
                            WHERE event IN (SELECT event FROM media_events WHERE media = ?)
                            """
                    ).execute(arguments: [url])
                    try db.cachedStatement(sql: "UPDATE media_events SET done = 0 WHERE media = ?")
                        .execute(arguments: [url])
                    try MediaRemoval.forget(url: url, in: db)
                }
                try db.cachedStatement(sql: "DELETE FROM files WHERE id = ?").execute(arguments: [id])
            }
        }
    }

    /// Of all files that are known; counted in an index.
    package func mediaBytes() async throws(StoreError) -> Int64 {
        try await read { try Int64.fetchOne($0, sql: "SELECT coalesce(sum(bytes), 0) FROM files") ?? 0 }
    }

    /// Which of these digests are of files that are kept: what lies on disk beside them is nobody's.
    package func knownFiles(of digests: [String]) async throws(StoreError) -> Set<String> {
        try await read { db in
            let statement = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM files WHERE sha256 = ?)")
            return Set(try digests.filter { try Bool.fetchOne(statement, arguments: [$0]) == true })
        }
    }
}

/// One step of a removal of files.
struct MediaRemoval: Sendable {
    let usedBefore: Int64
    /// By how many bytes there are too many.
    private(set) var surplus: Int64
    let step: Int
    private(set) var removed: [String] = []
    /// Where the next step goes on; nil when there is none.
    private(set) var next: Place?

    struct Place: Sendable {
        var usedAt = Int64.min
        var id: Int64 = 0
    }

    private enum Finding {
        /// A waiting delivery points to it, or may come to.
        case needed
        case removed
        /// Too much names it for one step; the rest is for the next one.
        case named
    }

    init(usedBefore: Int64, surplus: Int64, step: Int) {
        self.usedBefore = usedBefore
        self.surplus = surplus
        self.step = step
    }

    static let files = """
        SELECT id, sha256, bytes, used_at FROM files WHERE (used_at, id) > (?, ?) ORDER BY used_at, id LIMIT ?
        """

    /// Looks at the files behind a place, those first whose use is longest ago.
    mutating func run(behind start: Place, in db: Database) throws {
        let rows = try StoredRow.fetchAll(
            db.cachedStatement(sql: Self.files), arguments: [start.usedAt, start.id, step])
        var place = start
        for row in rows {
            let (id, sha256, bytes) = (try row.number(0), try row.text(1), try row.number(2))
            let usedAt = try row.number(3)
            guard (usedAt, id) > (place.usedAt, place.id) else { throw DamagedValue("the files are out of order") }
            guard usedAt < usedBefore || surplus > 0 else { return next = nil }
            switch try forget(id, sha256, in: db) {
            case .named: return next = place
            case .needed: break
            case .removed:
                removed.append(sha256)
                surplus -= bytes
            }
            place = Place(usedAt: usedAt, id: id)
        }
        next = rows.count == step ? place : nil
    }

    private func forget(_ id: Int64, _ sha256: String, in db: Database) throws -> Finding {
        // Those that wait are likely to be the newest.
        let events = try StoredRow.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT event, EXISTS (SELECT 1 FROM deliveries d WHERE d.event = f.event AND d.state = 'waiting')
                    FROM event_files f WHERE file = ? ORDER BY event DESC LIMIT ?
                    """), arguments: [id, step])
        let urls = try StoredRow.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT id, EXISTS (SELECT 1 FROM media_events WHERE media = m.id) FROM media m
                    WHERE sha256 = ? LIMIT ?
                    """), arguments: [sha256, step])
        if try (events + urls).contains(where: { try $0.flag(1) }) { return .needed }
        for row in events {
            try db.cachedStatement(sql: "DELETE FROM event_files WHERE file = ? AND event = ?")
                .execute(arguments: [id, try row.number(0)])
        }
        for row in urls { try Self.forget(url: try row.number(0), in: db) }
        if events.count == step || urls.count == step { return .named }
        try db.cachedStatement(sql: "DELETE FROM files WHERE id = ?").execute(arguments: [id])
        return .removed
    }

    /// What is wanted stays, and is then downloaded from scratch.
    static func forget(url: Int64, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                UPDATE media SET sha256 = NULL, etag = NULL, last_modified = NULL
                WHERE id = ? AND state IN ('wanted', 'resting')
                """
        ).execute(arguments: [url])
        if db.changesCount > 0 { return }
        try db.cachedStatement(sql: "DELETE FROM media WHERE id = ?").execute(arguments: [url])
    }
}
