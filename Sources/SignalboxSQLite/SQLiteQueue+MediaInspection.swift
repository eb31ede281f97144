import GRDB
package import SignalboxStore

/// Downloads and files as operators see them.
extension SQLiteQueue {
    /// The most recently used first, then by number; `after` is the last file of the page before. A file has at most
    /// five of its URLs. `after`: also nil for the first page. A file that is used between two pages moves to the
    /// front and is then left out.
    package func mediaFiles(after: MediaFileRecord?, limit: Int) async throws(StoreError) -> [MediaFileRecord] {
        try await file.read { db in
            try db.files(
                "(used_at, id) < (?, ?) ORDER BY used_at DESC, id DESC",
                [after?.usedAt.milliseconds ?? .max, after?.id ?? .max, limit])
        }
    }

    /// In the order of the primary key, which no use of a file changes. A file has at most five of its URLs.
    package func mediaFiles(numberedAfter number: Int64, limit: Int) async throws(StoreError) -> [MediaFileRecord] {
        try await file.read { try $0.files("id > ? ORDER BY id", [number, limit]) }
    }

    /// The newest first; `before` is the last number of the page before. An empty set of states matches no URL.
    /// Numbers grow with the requests, so the newest URL has the largest.
    package func mediaURLs(
        _ states: Set<MediaURLRecord.State>, before: Int64?, limit: Int
    ) async throws(StoreError) -> [MediaURLRecord] {
        let words = states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
        return try await file.read { db in
            try db.rows(
                """
                SELECT \(MediaURLRecord.columns)
                FROM media WHERE state IN (\(words)) AND id < ? ORDER BY id DESC LIMIT ?
                """, [before ?? .max, limit]
            ).map { try MediaURLRecord($0) }
        }
    }
}

/// Used by the listing and by the removal of files.
extension Database {
    /// `condition`: with the order of the files; the last argument is the limit. Throws ``DamagedValue`` for a file
    /// without a digest.
    fileprivate func files(_ condition: String, _ arguments: StatementArguments) throws -> [MediaFileRecord] {
        try rows("SELECT \(MediaFileRecord.columns) FROM files WHERE \(condition) LIMIT ?", arguments).map { row in
            try MediaFileRecord(row) { digest in
                try rows("SELECT url FROM media WHERE sha256 = ? LIMIT 5", [digest]).map { try $0.text(0) }
            }
        }
    }

    /// The size of all files, read from an index.
    func mediaBytes() throws -> Int64 { try number("SELECT coalesce(sum(bytes), 0) FROM files") ?? 0 }
}
