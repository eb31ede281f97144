package import Foundation
import GRDB
package import SignalboxNotification
package import SignalboxStore
import Synchronization

/// Downloads that are due, and deliveries that wait for them.
extension SQLiteQueue {
    /// The most downloads that become due in one step after a failure.
    private static let step = 1000

    /// Called once, at the start. Held deliveries whose wait ended while the gateway was stopped get time for their
    /// release. Throws before it has set `wake`, so a failed call may be repeated.
    package func openMedia(wake: @escaping @Sendable () -> Void) async throws(StoreError) {
        try await write { db, now in
            let grace = now.milliseconds + StoreLimits.releaseGrace
            try db.run(
                """
                UPDATE deliveries SET due = :grace
                WHERE id IN (SELECT delivery FROM media_waits WHERE until < :now)
                    AND state = 'waiting' AND begun = 0 AND due < :grace
                """, ["grace": grace, "now": now.milliseconds])
        }
        file.lanes.openDownloads(wake)
        wake()
    }

    /// Makes no reservation: the caller excludes what it has begun.
    package func dueMedia(
        upTo limit: Int, perHost: Int, busy: [String: Int], excluding: Set<Int64>, dueSince recent: Date
    ) async throws(StoreError) -> [MediaJob] {
        guard limit > 0 else { return [] }
        try await requestAgain()
        let start = mediaTurn.withLock(\.self)
        let jobs = try await file.read { db in
            var search = MediaSearch(
                limit: limit, perHost: perHost, busy: busy, excluding: excluding, recent: recent.milliseconds)
            try search.run(after: start ?? "", upTo: nil, in: db)
            if let start { try search.run(after: "", upTo: start, in: db) }
            return search.jobs
        }
        if let last = jobs.last { mediaTurn.withLock { $0 = last.host } }
        return jobs
    }

    /// Requests failed downloads again whose pause is over. Writes only if a pause is over.
    private func requestAgain() async throws(StoreError) {
        guard let next = try await nextMediaDue(), next <= now else { return }
        try await write { db, now in
            try db.run(
                """
                UPDATE media SET state = 'wanted'
                WHERE id IN (SELECT id FROM media WHERE state = 'resting' AND due <= ? ORDER BY due LIMIT ?)
                """, [now.milliseconds, Self.step])
        }
    }

    /// When the next failed download is requested again; nil when none waits.
    package func nextMediaDue() async throws(StoreError) -> Date? {
        try await file.read { try $0.number("SELECT min(due) FROM media WHERE state = 'resting'") }
            .map { Date(milliseconds: $0) }
    }

    /// Durable when it returns. Has no effect for a URL that was forgotten meanwhile.
    package func settle(media settlement: MediaSettlement) async throws(StoreError) {
        try await commit(.settleMedia(settlement))
    }

    /// All releases in one transaction, durable when it returns. Released deliveries are due at once, unless they are
    /// scheduled.
    package func release(_ releases: [MediaRelease]) async throws(StoreError) {
        if !releases.isEmpty { try await commit(.release(releases)) }
    }

    /// One transaction. Unknown digests are skipped.
    package func expireMedia(_ digests: [String]) async throws(StoreError) {
        try await write { db, _ in
            for digest in digests {
                try db.run(
                    """
                    UPDATE media SET fresh_until = 0, etag = NULL, last_modified = NULL
                    WHERE sha256 = ? AND state = 'stored'
                    """, [digest])
            }
        }
    }

    /// Ready ones first, then those whose wait is over. Removes waits of ended deliveries on the way. Throws for
    /// damage only if it blocks every other delivery.
    package func heldDeliveries(upTo limit: Int) async throws(StoreError) -> [HeldDelivery] {
        try await followClock()
        let now = now.milliseconds
        var former: [HeldSearch.Ended] = []
        while true {
            let skipped = unreadableHeld.withLock(\.self)
            let search = try await file.read { [file] db in
                var search = HeldSearch(now: now)
                let ids = try HeldSearch.ids(upTo: limit + skipped.count, by: now, in: db)
                try search.run(ids.filter { !skipped.contains($0) }.prefix(limit), path: file.path, in: db)
                return search
            }
            if let damage = search.damage {
                health.recordDamage(damage)
                unreadableHeld.withLock { $0.formUnion(search.unreadable) }
            }
            if !search.ended.isEmpty {
                try await write { db, _ in
                    for ended in search.ended { try db.endWait(of: ended.delivery, event: ended.event) }
                }
            }
            // Deliveries after those that have ended can be found now.
            if !search.held.isEmpty || (search.ended.isEmpty && search.damage == nil) { return search.held }
            guard search.damage != nil || search.ended != former else {
                throw file.failure(DamagedValue("waits for files cannot be removed"))
            }
            former = search.ended
        }
    }

    /// Nil when no delivery is held. A wait whose delivery has ended counts until ``heldDeliveries(upTo:)`` removes it.
    package func lastMediaUntil() async throws(StoreError) -> Date? {
        try await file.read { try $0.number("SELECT max(until) FROM media_waits") }.map { Date(milliseconds: $0) }
    }

    /// When the next wait ends; nil when no delivery is held. Includes deliveries whose files are ready.
    package func nextMediaUntil() async throws(StoreError) -> Date? {
        try await file.read { try $0.number("SELECT min(until) FROM media_waits") }.map { Date(milliseconds: $0) }
    }
}

/// Finds due downloads host by host in an index, so that the waiting downloads of a busy host are not read. Hosts
/// take turns: the search starts after the host that was served last and wraps around.
struct MediaSearch {
    /// The most downloads to find.
    let limit: Int
    /// The most concurrent downloads of one host.
    let perHost: Int
    /// Downloads in progress, by host.
    let busy: [String: Int]
    /// Downloads in progress, by number.
    let excluding: Set<Int64>
    /// Downloads that became due since this time come first. In milliseconds since 1970.
    let recent: Int64
    /// Host by host, in the order of the search.
    private(set) var jobs: [MediaJob] = []

    /// Searches the hosts after one, in their order, up to another. Throws ``DamagedValue`` when the index of hosts
    /// does not advance, because the search would not end.
    mutating func run(after start: String, upTo end: String?, in db: Database) throws {
        var position = start
        while jobs.count < limit,
            let host = try db.row(Self.nextHost, ["position": position, "end": end])?.optionalText(0)
        {
            // In the order of the index, which is that of bytes.
            guard position.utf8.lexicographicallyPrecedes(host.utf8) else {
                throw DamagedValue("the index of hosts is out of order")
            }
            position = host
            var places = min(perHost - busy[host, default: 0], limit - jobs.count)
            for line in [Self.recentFirst, Self.earlier] where places > 0 {
                places -= try add(upTo: places, of: host, from: line, in: db)
            }
        }
    }

    /// Returns the number of downloads that it adds. `line`: one of the statements below.
    private mutating func add(upTo places: Int, of host: String, from line: String, in db: Database) throws -> Int {
        let rows = try StoredRow.fetchCursor(
            db.cachedStatement(sql: line), arguments: ["host": host, "recent": recent])
        var added = 0
        while added < places, let row = try rows.next() {
            let id = try row.number(0)
            guard !excluding.contains(id) else { continue }
            jobs.append(
                MediaJob(
                    id: id, url: try row.text(1), host: host, attempts: try row.count(2),
                    validators: try MediaValidators(row, from: 3), stored: try row.optionalText(5)))
            added += 1
        }
        return added
    }

    /// A step in the index `media_wanted`, so its cost does not depend on the number of downloads.
    static let nextHost = """
        SELECT min(host) FROM media WHERE state = 'wanted' AND host > :position AND (:end IS NULL OR host <= :end)
        """
    /// The downloads of one host that became due recently, the longest due first.
    static let recentFirst = """
        SELECT id, url, attempts, etag, last_modified, sha256 FROM media
        WHERE state = 'wanted' AND host = :host AND due >= :recent ORDER BY due, id
        """
    /// The other downloads of one host, the last due first.
    static let earlier = """
        SELECT id, url, attempts, etag, last_modified, sha256 FROM media
        WHERE state = 'wanted' AND host = :host AND due < :recent ORDER BY due DESC, id DESC
        """
}

/// Reads held deliveries, with the state of their files. Bounded by the number of deliveries and by the bytes of
/// their bodies.
struct HeldSearch: Sendable {
    /// In milliseconds since 1970.
    let now: Int64
    /// Bytes that further bodies may have. The first body may have any size.
    private(set) var room = 16 * 1024 * 1024
    /// In the order of the search.
    private(set) var held: [HeldDelivery] = []
    /// Deliveries that are no longer held.
    private(set) var ended: [Ended] = []
    /// The files of the last event, by whether its wait is over.
    private(set) var last: (event: Int64, isOver: Bool, media: ExactTextMap<MediaState>)?
    /// Deliveries that cannot be read, and the reason of the first.
    private(set) var unreadable: [Int64] = []
    /// Nil while every delivery could be read.
    private(set) var damage: StoreError?

    /// A wait without a delivery to release.
    struct Ended: Sendable, Equatable {
        /// The primary key of its wait.
        let delivery: Int64
        /// The primary key of its event, whose requests for files end with the last wait.
        let event: Int64
    }

    /// Deliveries whose files are ready come first, then those whose wait is over. Two index lookups; reads no body.
    static func ids(upTo limit: Int, by now: Int64, in db: Database) throws -> [Int64] {
        let ready = try db.rows(Self.ready, [limit]).map { try $0.number(0) }
        guard ready.count < limit else { return ready }
        return ready + (try db.rows(Self.over, [now, limit - ready.count]).map { try $0.number(0) })
    }

    /// Served by the index `media_waits_ready`.
    static let ready = "SELECT delivery FROM media_waits WHERE ready = 1 ORDER BY delivery LIMIT ?"
    /// Served by the index `media_waits_until`.
    static let over = "SELECT delivery FROM media_waits WHERE until <= ? AND ready = 0 ORDER BY until LIMIT ?"
    /// The downloads of one event, with their stored files.
    static let states = """
        SELECT m.url, m.state, e.done, m.reason, m.words, m.remarks,
            m.sha256, f.bytes, f.type, f.width, f.height, f.duration
        FROM media_events e JOIN media m ON m.id = e.media LEFT JOIN files f ON f.sha256 = m.sha256
        WHERE e.event = ?
        """

    /// Adds deliveries while there is room. A damaged one does not block the others. Rethrows errors other than
    /// damage. Stops at the first body for which there is no room; the caller searches again after the release.
    mutating func run(_ ids: some Sequence<Int64>, path: String, in db: Database) throws {
        for id in ids {
            do {
                guard try add(id, in: db) else { return }
            } catch {
                let reason = StoreError(error, path: path)
                guard case .damaged = reason else { throw error }
                unreadable.append(id)
                damage = damage ?? reason
            }
        }
    }

    /// Adds one; false when there is no room for it. A wait without a waiting delivery goes to ``ended``.
    private mutating func add(_ id: Int64, in db: Database) throws -> Bool {
        let row = try db.row(
            """
            SELECT w.event, w.until, d.destination, coalesce(v.body, e.body), w.shape
            FROM media_waits w LEFT JOIN deliveries d ON d.id = w.delivery AND d.state = 'waiting' AND d.begun = 0
                LEFT JOIN events e ON e.seq = d.event LEFT JOIN variants v ON v.id = d.variant
            WHERE w.delivery = ?
            """, [id])
        guard let row else { return true }
        let event = try row.number(0)
        guard let destination = try row.optionalText(2), let body = try row.optionalBytes(3) else {
            ended.append(Ended(delivery: id, event: event))
            return true
        }
        guard held.isEmpty || body.count <= room else { return false }
        room -= body.count
        let isOver = try row.number(1) <= now
        held.append(
            HeldDelivery(
                delivery: id, event: event, destination: DestinationName(destination), body: body,
                media: try media(of: event, isOver: isOver, in: db), transformRoute: try row.optionalText(4)))
        return true
    }

    /// Deliveries of one event are neighbours, so the files of the last event are reused.
    private mutating func media(of event: Int64, isOver: Bool, in db: Database) throws -> ExactTextMap<MediaState> {
        if let last, last.event == event, last.isOver == isOver { return last.media }
        let media = try db.rows(Self.states, [event]).reduce(into: ExactTextMap()) { media, row in
            media[try row.text(0)] = try MediaState(row, from: 1, isOver: isOver)
        }
        last = (event, isOver, media)
        return media
    }
}
