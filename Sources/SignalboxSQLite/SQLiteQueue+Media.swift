package import Foundation
import GRDB
package import SignalboxNotification
package import SignalboxStore
import Synchronization

/// Downloads as who makes them sees them: which are due, and how they ended. Who makes which is the caller's to know: after
/// a crash everything that is wanted is due again.
extension SQLiteQueue {
    /// How many that rested become due in one step.
    private static let step = 1000

    /// Opens the queue for downloads; to be called before lanes are opened. Deliveries whose time ended while nobody was
    /// there are held a minute longer, so that they can be released as they should be. `wake` is called, from any
    /// thread, when there may be something to download or to release.
    package func openMedia(wake: @escaping @Sendable () -> Void) async throws(StoreError) {
        let now = now()
        let grace = now.addingTimeInterval(SQLiteWriter.releaseGrace).milliseconds
        try await write { db in
            try db.execute(
                sql: """
                    UPDATE deliveries SET due = :grace
                    WHERE id IN (SELECT delivery FROM media_waits WHERE until < :now)
                        AND state = 'waiting' AND begun = 0 AND due < :grace
                    """, arguments: ["grace": grace, "now": now.milliseconds])
        }
        mediaWaker.open(wake)
        wake()
    }

    /// Downloads that are due, at most `limit`: of each host the oldest first, and no more than `perHost` less what is
    /// under way there (`busy`); hosts take turns. `excluding`: those that are under way.
    package func dueMedia(
        upTo limit: Int, perHost: Int, busy: [String: Int], excluding: Set<Int64>
    ) async throws(StoreError) -> [MediaJob] {
        guard limit > 0 else { return [] }
        try await wantRested()
        let start = mediaTurn.withLock(\.self)
        let (jobs, last) = try await read { db in
            var search = MediaSearch(limit: limit, perHost: perHost, busy: busy, excluding: excluding)
            try search.run(behind: start, in: db)
            return (search.jobs, search.last)
        }
        if let last { mediaTurn.withLock { $0 = last } }
        return jobs
    }

    /// What rested until now is wanted again.
    private func wantRested() async throws(StoreError) {
        let now = now().milliseconds
        guard let next = try await nextMediaDue()?.milliseconds, next <= now else { return }
        try await write { db in
            try db.execute(
                sql: """
                    UPDATE media SET state = 'wanted'
                    WHERE id IN (SELECT id FROM media WHERE state = 'resting' AND due <= ? ORDER BY due LIMIT ?)
                    """, arguments: [now, Self.step])
        }
    }

    /// When the next download is to be tried again; nil when none is. What is wanted and does not rest is due now.
    package func nextMediaDue() async throws(StoreError) -> Date? {
        try await read { try Int64.fetchOne($0, sql: "SELECT min(due) FROM media WHERE state = 'resting'") }
            .map { Date(milliseconds: $0) }
    }

    /// Records how a download ended. Durable when it returns; when it throws, nothing has changed.
    package func settle(media settlement: MediaSettlement) async throws(StoreError) {
        if case .retry = settlement.end { clockNotes.note(media: settlement.job) }
        try await commit(.settleMedia(settlement))
    }

    /// Lets deliveries go that were held: all of them with what they carry, or none. Durable when it returns.
    package func release(_ releases: [MediaRelease]) async throws(StoreError) {
        if !releases.isEmpty { try await commit(.release(releases)) }
    }
}

/// Finds due downloads host by host in an index, so that a long line at a host that takes none is never read.
struct MediaSearch {
    let limit: Int
    let perHost: Int
    let busy: [String: Int]
    let excluding: Set<Int64>
    private(set) var jobs: [MediaJob] = []
    /// The host that had its turn last.
    private(set) var last: String?

    init(limit: Int, perHost: Int, busy: [String: Int], excluding: Set<Int64>) {
        self.limit = limit
        self.perHost = perHost
        self.busy = busy
        self.excluding = excluding
    }

    /// Hosts behind one, in their order, then those from the beginning up to it.
    mutating func run(behind start: String?, in db: Database) throws {
        try search(behind: start ?? "", upTo: nil, in: db)
        if let start { try search(behind: "", upTo: start, in: db) }
    }

    private mutating func search(behind start: String, upTo end: String?, in db: Database) throws {
        var place = start
        while jobs.count < limit, let host = try Self.host(behind: place, upTo: end, in: db) {
            guard host > place else { throw DamagedValue("the index of hosts is out of order") }
            place = host
            let places = min(perHost - busy[host, default: 0], limit - jobs.count)
            if places > 0 { try take(places, of: host, in: db) }
        }
    }

    private static func host(behind place: String, upTo end: String?, in db: Database) throws -> String? {
        try String.fetchOne(db.cachedStatement(sql: nextHost), arguments: ["place": place, "end": end])
    }

    private mutating func take(_ places: Int, of host: String, in db: Database) throws {
        let rows = try StoredRow.fetchCursor(db.cachedStatement(sql: Self.line), arguments: [host])
        var left = places
        while left > 0, let row = try rows.next() {
            let id = try row.number(0)
            guard !excluding.contains(id) else { continue }
            let validators = MediaValidators(etag: try row.optionalText(3), lastModified: try row.optionalText(4))
            let isKnown = try row.flag(5)
            jobs.append(
                MediaJob(
                    id: id, url: try row.text(1), host: host, attempts: try row.count(2),
                    validators: isKnown && validators != MediaValidators() ? validators : nil))
            left -= 1
            last = host
        }
    }

    static let nextHost = """
        SELECT min(host) FROM media WHERE state = 'wanted' AND host > :place AND (:end IS NULL OR host <= :end)
        """
    static let line = """
        SELECT id, url, attempts, etag, last_modified, sha256 IS NOT NULL FROM media
        WHERE state = 'wanted' AND host = ? ORDER BY due, id
        """
}
