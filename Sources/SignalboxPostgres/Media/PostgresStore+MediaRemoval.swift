import Foundation
package import SignalboxStore

/// Removal of downloads and files.
extension PostgresStore {
    /// Limits the files or URLs of one step, and the rows that refer to each of them.
    private static let step = FileRemoval.most

    /// `gone` receives the digests of each step after its commit; the caller then removes the files. Returns the number
    /// of forgotten files. Failed downloads are forgotten after ``StoreLimits/failureMemory``. Throws the first
    /// failure; the steps before it stay, and their digests were passed to `gone`.
    package func removeMedia(
        beyond retention: MediaRetention, pause: () async -> Void, gone: ([String]) async -> Void
    ) async throws(StoreError) -> Int {
        let (unused, failed) = (now - retention.unused, now - StoreLimits.failureMemory)
        try await leaveDownloads()
        while try await forgetURLs(in: .failed, checkedBefore: failed) { await pause() }
        while try await forgetURLs(in: .stored, checkedBefore: unused) { await pause() }
        return try await FileRemoval.run(
            usedBefore: unused.milliseconds, surplus: try await mediaBytes() - retention.bytes, pause: pause, gone: gone
        ) { (removal, start) throws(StoreError) in
            try await self.writer(.others).write { transaction in
                var removal = removal
                try removal.run(after: start, in: transaction)
                return removal
            }
        }
    }

    /// Removes the nodes that are gone from those that download.
    private func leaveDownloads() async throws(StoreError) {
        try await writer(.others).write { transaction in
            _ = try transaction.run(
                "DELETE FROM media_nodes m WHERE NOT EXISTS (SELECT FROM nodes n WHERE n.id = m.node AND n.is_live)")
        }
    }

    /// Forgets URLs that no event waits for. True when there may be more. The files of forgotten URLs stay until they
    /// are unused. The URLs are locked first: an append that names one of them either came before, and keeps it, or
    /// requests it anew.
    private func forgetURLs(
        in state: MediaURLRecord.State, checkedBefore date: Date
    ) async throws(StoreError) -> Bool {
        let (candidates, forget) = (
            """
            SELECT id FROM media WHERE state = '\(state.rawValue)' AND checked_at < $1
                AND NOT EXISTS (SELECT FROM media_events WHERE media = media.id)
            ORDER BY checked_at LIMIT \(Self.step) FOR UPDATE SKIP LOCKED
            """,
            """
            WITH gone AS (
                DELETE FROM media m WHERE id = ANY ($3) AND NOT EXISTS (SELECT FROM media_events WHERE media = m.id)
                RETURNING 1
            ), \(MediaCounts.added(
                "0, \(state == .stored ? "-count(*), 0" : "0, -count(*)"), 0, 0, 0", from: "gone"))
            SELECT count(*) FROM gone
            """
        )
        return try await writer(.others).write { transaction in
            let ids = try transaction.run(candidates, [.time(date)]).map { try $0.number(0) }
            guard !ids.isEmpty else { return false }
            let gone = try transaction.run(forget, MediaCounts.place(transaction) + [.numbers(ids)])
            return try ids.count == Self.step && gone.first?.number(0) ?? 0 > 0
        }
    }

    /// One transaction. Events that still wait for a file request it again, as a new download with its own budget;
    /// other events keep a link without a file. Unknown digests are skipped.
    package func forgetMedia(_ digests: [String]) async throws(StoreError) {
        let digests = Set(digests).sorted()
        guard !digests.isEmpty else { return }
        let wakes = try await writer(.others).write { transaction in
            let files = try transaction.run(
                "SELECT id FROM files WHERE sha256 = ANY ($1) ORDER BY sha256 FOR UPDATE", [.texts(digests)]
            ).map { try $0.number(0) }
            guard !files.isEmpty else { return false }
            let urls = try transaction.run(
                "SELECT id FROM media WHERE sha256 = ANY ($1) ORDER BY url FOR UPDATE", [.texts(digests)]
            ).map { try $0.number(0) }
            let list = PostgresValue.numbers(urls)
            let place = MediaCounts.place(transaction)
            try transaction.run(all: [
                PostgresStatement("DELETE FROM event_files WHERE file = ANY ($1)", [.numbers(files)]),
                PostgresStatement(Self.requestNeeded, place + [list, .time(transaction.now)]),
                PostgresStatement(
                    """
                    UPDATE media_waits SET ready = false WHERE delivery IN (
                        SELECT delivery FROM media_waits
                        WHERE event IN (SELECT event FROM media_events WHERE media = ANY ($1))
                        ORDER BY delivery FOR UPDATE)
                    """, [list]),
                PostgresStatement("UPDATE media_events SET done = false WHERE media = ANY ($1)", [list]),
            ])
            try transaction.run(all: FileRemoval.forget(urls: urls, files: files, in: transaction))
            return true
        }
        if wakes { lanes.wakeDownloads() }
    }

    /// One transaction. Unknown digests are skipped.
    package func expireMedia(_ digests: [String]) async throws(StoreError) {
        try await writer(.others).write { transaction in
            _ = try transaction.run(
                """
                UPDATE media SET fresh_until = 0, etag = NULL, last_modified = NULL WHERE id IN (
                    SELECT id FROM media WHERE sha256 = ANY ($1) AND state = 'stored'
                    ORDER BY url FOR NO KEY UPDATE)
                """, [.texts(Set(digests).sorted())])
        }
    }

    /// `$3`: URLs, `$4`: the time. Only stored URLs that an event still names.
    private static let requestNeeded = """
        WITH again AS (
            UPDATE media m SET state = 'wanted', due = $4, attempts = 0, wanted_at = $4
            WHERE id = ANY ($3) AND state = 'stored' AND EXISTS (SELECT FROM media_events WHERE media = m.id)
            RETURNING 1
        ), \(MediaCounts.added("count(*), -count(*), 0, 0, 0, 0", from: "again"))
        SELECT 1
        """
}

/// One step of a removal.
extension FileRemoval {
    /// The references of a file: the newest of its events, because those that wait are likely to be among them.
    private struct References {
        var events: [Int64] = []
        var urls: [Int64] = []
        var isNeeded = false
    }

    /// Files that another transaction has locked are left to a later removal. Locks the files in this order, then their
    /// URLs.
    fileprivate mutating func run(after start: Position, in transaction: PostgresTransaction) throws {
        // PostgreSQL locks after it has ordered: a row that was used meanwhile has its new time at its former position.
        let candidates = try transaction.run(
            """
            SELECT \(Candidate.columns) FROM files WHERE (used_at, id) > ($1, $2) ORDER BY used_at, id LIMIT $3
            FOR UPDATE SKIP LOCKED
            """, [.number(start.usedAt), .number(start.id), .number(Int64(Self.most))]
        ).map { try Candidate($0) }.sorted()
        let references = try references(of: candidates, in: transaction)
        var (files, urls, events) = ([Int64](), [Int64](), (files: [Int64](), events: [Int64]()))
        try forget(candidates, after: start) { file in
            let named = references[file.id] ?? References()
            if named.isNeeded { return .needed }
            events.files += named.events.map { _ in file.id }
            events.events += named.events
            if named.events.count < Self.most { urls += named.urls }
            guard named.events.count < Self.most, named.urls.count < Self.most else { return .named }
            files.append(file.id)
            return .removed
        }
        let links = PostgresStatement(
            """
            DELETE FROM event_files e USING unnest($1::bigint[], $2::bigint[]) AS i (file, event)
            WHERE e.file = i.file AND e.event = i.event
            """, [.numbers(events.files), .numbers(events.events)])
        try transaction.run(all: [links] + Self.forget(urls: urls, files: files, in: transaction))
    }

    /// One round trip. Locks the URLs until the commit: an append that names one waits.
    private func references(
        of files: [Candidate], in transaction: PostgresTransaction
    ) throws -> [Int64: References] {
        guard !files.isEmpty else { return [:] }
        let (ids, digests) = (files.map(\.id), files.map(\.sha256))
        // An append that names one of the URLs either came before, and is read here, or requests it anew.
        let results = try transaction.run(all: [
            PostgresStatement(
                """
                SELECT FROM media WHERE id IN (
                    SELECT m.id FROM unnest($1::text[]) AS f (sha256) CROSS JOIN LATERAL (
                        SELECT id FROM media WHERE sha256 = f.sha256 ORDER BY id LIMIT $2) m)
                ORDER BY url FOR UPDATE
                """, [.texts(digests), .number(Int64(Self.most))]),
            PostgresStatement(
                """
                SELECT f.id, e.event, EXISTS (SELECT FROM queue q WHERE q.event = e.event)
                FROM unnest($1::bigint[]) AS f (id) CROSS JOIN LATERAL (
                    SELECT event FROM event_files WHERE file = f.id ORDER BY event DESC LIMIT $2) e
                """, [.numbers(ids), .number(Int64(Self.most))]),
            PostgresStatement(
                """
                SELECT f.id, m.id, EXISTS (SELECT FROM media_events e WHERE e.media = m.id)
                FROM unnest($1::bigint[], $2::text[]) AS f (id, sha256) CROSS JOIN LATERAL (
                    SELECT id FROM media WHERE sha256 = f.sha256 ORDER BY id LIMIT $3) m
                """, [.numbers(ids), .texts(digests), .number(Int64(Self.most))]),
        ])
        var references: [Int64: References] = [:]
        for row in results[1] {
            references[try row.number(0), default: References()].events.append(try row.number(1))
            if try row.flag(2) { references[try row.number(0), default: References()].isNeeded = true }
        }
        for row in results[2] {
            references[try row.number(0), default: References()].urls.append(try row.number(1))
            if try row.flag(2) { references[try row.number(0), default: References()].isNeeded = true }
        }
        return references
    }

    /// Forgets URLs and files. A requested URL stays, and is then downloaded from scratch: without validators, the next
    /// download gets the whole file.
    fileprivate static func forget(
        urls: [Int64], files: [Int64], in transaction: PostgresTransaction
    ) -> [PostgresStatement] {
        let place = MediaCounts.place(transaction)
        return [
            PostgresStatement(
                """
                UPDATE media SET sha256 = NULL, etag = NULL, last_modified = NULL
                WHERE id = ANY ($1) AND state IN ('wanted', 'resting')
                """, [.numbers(urls)]),
            PostgresStatement(
                """
                WITH gone AS (
                    DELETE FROM media WHERE id = ANY ($3) AND state NOT IN ('wanted', 'resting') RETURNING state
                ), \(MediaCounts.added(
                    """
                    0, -count(*) FILTER (WHERE state = 'stored'), -count(*) FILTER (WHERE state = 'failed'), 0, 0, 0
                    """, from: "gone"))
                SELECT 1
                """, place + [.numbers(urls)]),
            PostgresStatement(
                """
                WITH gone AS (DELETE FROM files WHERE id = ANY ($3) RETURNING bytes),
                \(MediaCounts.added("0, 0, 0, -count(*), -coalesce(sum(bytes), 0)::bigint, 0", from: "gone"))
                SELECT 1
                """, place + [.numbers(files)]),
        ]
    }
}
