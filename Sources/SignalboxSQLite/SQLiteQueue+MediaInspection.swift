import Foundation
import GRDB
import SignalboxNotification
package import SignalboxStore

/// Downloads and files as operators look at them.
extension SQLiteQueue {
    /// Counted in indexes: cheap enough to be asked every few seconds.
    package func mediaGauges() async throws(StoreError) -> MediaGauges {
        try await read { db in
            func count(_ state: MediaURLRecord.State) throws -> Int {
                try Int.fetchOne(db, sql: "SELECT count(*) FROM media WHERE state = '\(state.rawValue)'") ?? 0
            }
            var gauges = MediaGauges()
            gauges.wanted = try count(.wanted) + count(.resting)
            gauges.stored = try count(.stored)
            gauges.failed = try count(.failed)
            if let row = try StoredRow.fetchOne(db, sql: "SELECT count(*), coalesce(sum(bytes), 0) FROM files") {
                (gauges.files, gauges.bytes) = (try row.count(0), try row.number(1))
            }
            gauges.held = try Int.fetchOne(db, sql: "SELECT count(*) FROM media_waits") ?? 0
            return gauges
        }
    }

    /// Files, the one that was used last first, at most `limit`. `after`: the last one of the page before.
    package func mediaFiles(
        after: MediaFileRecord?, limit: Int
    ) async throws(StoreError) -> [MediaFileRecord] {
        try await read { db in
            try StoredRow.fetchAll(
                db,
                sql: """
                    SELECT id, sha256, bytes, type, width, height, duration, kept_at, used_at FROM files
                    WHERE (used_at, id) < (?, ?) ORDER BY used_at DESC, id DESC LIMIT ?
                    """, arguments: [after?.usedAt.milliseconds ?? .max, after?.id ?? .max, limit]
            ).map { row in
                let urls = try String.fetchAll(
                    db.cachedStatement(sql: "SELECT url FROM media WHERE sha256 = ? LIMIT 5"),
                    arguments: [try row.text(1)])
                return try MediaFileRecord(row, urls: urls.sorted())
            }
        }
    }

    /// URLs in these states, the newest first, at most `limit`. `before`: the last one's id of the page before.
    package func mediaURLs(
        _ states: Set<MediaURLRecord.State>, before: Int64?, limit: Int
    ) async throws(StoreError) -> [MediaURLRecord] {
        let words = states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
        return try await read { db in
            try StoredRow.fetchAll(
                db,
                sql: """
                    SELECT id, url, state, attempts, due, wanted_at, checked_at, reason, words, sha256, remarks
                    FROM media WHERE state IN (\(words)) AND id < ? ORDER BY id DESC LIMIT ?
                    """, arguments: [before ?? .max, limit]
            ).map { try MediaURLRecord($0) }
        }
    }
}

extension MediaFile {
    fileprivate init(inspected row: StoredRow) throws {
        self.init(
            sha256: try row.text(1), bytes: try row.count(2), contentType: try row.text(3),
            width: try row.optionalCount(4), height: try row.optionalCount(5), milliseconds: try row.optionalCount(6))
    }
}

extension MediaFileRecord {
    fileprivate init(_ row: StoredRow, urls: [String]) throws {
        self.init(
            id: try row.number(0), file: try MediaFile(inspected: row), urls: urls, keptAt: try row.date(7),
            usedAt: try row.date(8))
    }
}

extension MediaURLRecord {
    fileprivate init(_ row: StoredRow) throws {
        let (reason, words) = (try row.optionalText(7), try row.optionalText(8))
        let code = reason.flatMap { MediaFailure.Code(rawValue: $0) }
        self.init(
            id: try row.number(0), url: try row.text(1), state: try row.word(2), attempts: try row.count(3),
            due: try row.date(4), wantedAt: try row.date(5), checkedAt: try row.optionalDate(6),
            failure: code.map { MediaFailure($0, words ?? "") }, sha256: try row.optionalText(9),
            remarks: [MediaRemark](codes: try row.optionalText(10)))
    }
}

extension [MediaRemark] {
    /// As a row has them.
    init(codes: String?) {
        self = codes?.split(separator: " ").compactMap { MediaRemark(rawValue: String($0)) } ?? []
    }
}
