import Foundation
import SignalboxNotification
import SignalboxStore

/// Media of appended events: set-based, for all events of a commit group.
///
/// Rows of URLs are locked in the order of the URLs. An append keeps the weakest lock on each (FOR KEY SHARE), so
/// appends of one URL do not wait for each other; the end of its download and its removal wait for them.
struct MediaIntake {
    /// The files of one event.
    struct Request {
        /// `events.seq`.
        let event: Int64
        /// Each URL once.
        let urls: [String]
        /// Whether any delivery of the event waits.
        let isHeld: Bool
    }

    /// A delivery that waits for the files of its event. Its own `due` is at least ``StoreLimits/releaseGrace`` after
    /// `until`, so an unreleased one is sent unchanged then.
    struct Hold {
        /// `queue.id`.
        let delivery: Int64
        let event: Int64
        /// The latest release.
        let until: Date
        /// Whether it can be released now; see ``MediaIntake/request(_:)``.
        let isReady: Bool
        /// The route that transforms the event on release; nil for none.
        let transformRoute: String?
    }

    /// Of the name of a host that is stored, in bytes. Valid names are shorter, and a longer one has no place in an
    /// index.
    private static let longestHost = 300

    /// The transaction of the append, release or download that the statements belong to.
    let tx: PostgresTransaction

    init(_ tx: PostgresTransaction) { self.tx = tx }

    // MARK: URLs

    private static func host(of url: String) -> String {
        let host = MediaJob.host(of: url)
        return host.utf8.count <= longestHost ? host : String(decoding: host.utf8.prefix(longestHost), as: UTF8.self)
    }

    /// Requests the files that events wait for: those that are unknown, stale, or failed a while ago. Returns the
    /// events whose files are all settled; an event without URLs is one of them. Records the URLs of held events, so
    /// that their deliveries can become ready. One round trip. The caller wakes the downloads after the commit.
    func request(_ requests: [Request]) throws -> Set<Int64> {
        var ready = Set(requests.map(\.event))
        let urls = ExactTextSet(requests.flatMap(\.urls)).inOrder()
        guard !urls.isEmpty else { return ready }
        let now = tx.now.milliseconds
        let list = PostgresValue.manyBytes(urls.map { Array($0.utf8) })
        let hosts = PostgresValue.texts(urls.map(Self.host))
        let named = requests.flatMap { request in request.urls.map { (request, $0) } }
        let results = try tx.run(all: [
            PostgresStatement(Self.add, MediaCounts.place(tx) + [list, hosts, .number(now)]),
            PostgresStatement(Self.requestAgain, MediaCounts.place(tx) + [list, .number(now)]),
            PostgresStatement(
                Self.record,
                [
                    list, .numbers(named.map(\.0.event)), .manyBytes(named.map { Array($0.1.utf8) }),
                    .flags(named.map(\.0.isHeld)),
                ]),
        ])
        for event in try results[2].map({ try $0.number(0) }) { ready.remove(event) }
        return ready
    }

    /// `NOT EXISTS` spares a number of the sequence for each URL that is known.
    private static let add = """
        WITH added AS (
            INSERT INTO media (url, digest, host, due, wanted_at)
            SELECT n.url, sha256(n.url), n.host, $5, $5 FROM unnest($3::bytea[], $4::text[]) AS n (url, host)
            WHERE NOT EXISTS (SELECT 1 FROM media m WHERE m.digest = sha256(n.url))
            ORDER BY n.url
            ON CONFLICT (digest) DO NOTHING RETURNING 1
        ), \(MediaCounts.added("count(*), 0, 0, 0, 0, 0", from: "added"))
        SELECT 1
        """

    /// Requests stale URLs, and those that failed a while ago, with a new retry budget. A clock that was ahead when it
    /// checked a file must not keep that file fresh for too long.
    private static let requestAgain = """
        WITH known AS (
            SELECT m.id, m.state FROM media m
            WHERE m.digest IN (SELECT sha256(url) FROM unnest($3::bytea[]) AS n (url)) AND \(stale)
            ORDER BY m.url FOR NO KEY UPDATE
        ), again AS (
            UPDATE media m SET state = 'wanted', due = $4, attempts = 0, wanted_at = $4
            FROM known WHERE m.id = known.id RETURNING known.state
        ), \(MediaCounts.added(
            "count(*), -count(*) FILTER (WHERE state = 'stored'), -count(*) FILTER (WHERE state = 'failed'), 0, 0, 0",
            from: "again"))
        SELECT 1
        """

    /// A condition over `m`; `$4` is the time. URLs that are requested already, or rest after a failure, are not stale.
    private static let stale = """
        CASE m.state
            WHEN 'stored' THEN m.fresh_until <= $4 OR m.checked_at > $4 + \(StoreLimits.failurePause)
            WHEN 'failed' THEN abs($4 - m.checked_at) >= \(StoreLimits.failurePause)
            ELSE false
        END
        """

    /// Returns the events that wait. A download that ended since ``requestAgain`` counts as settled. The lock is held
    /// until the commit, so the end of a download finds the rows that are added here.
    private static let record = """
        WITH known AS MATERIALIZED (
            SELECT id, url, state NOT IN ('wanted', 'resting') AS done FROM media
            WHERE digest IN (SELECT sha256(url) FROM unnest($1::bytea[]) AS n (url))
            ORDER BY url FOR KEY SHARE
        ), named AS (
            SELECT n.event, n.held, known.id, known.done
            FROM unnest($2::bigint[], $3::bytea[], $4::boolean[]) AS n (event, url, held) JOIN known USING (url)
        ), added AS (
            INSERT INTO media_events (event, media, done) SELECT event, id, done FROM named WHERE held
            ON CONFLICT DO NOTHING
        )
        SELECT DISTINCT event FROM named WHERE NOT done
        """

    // MARK: Held deliveries

    /// Records that deliveries are held. One round trip.
    func hold(_ holds: [Hold]) throws {
        guard !holds.isEmpty else { return }
        try tx.run(
            Self.hold,
            MediaCounts.place(tx) + [
                .numbers(holds.map(\.delivery)), .numbers(holds.map(\.event)),
                .numbers(holds.map(\.until.milliseconds)), .flags(holds.map(\.isReady)),
                .texts(holds.map(\.transformRoute)),
            ])
    }

    /// Adds to the count of held deliveries in the same statement.
    private static let hold = """
        WITH added AS (
            INSERT INTO media_waits (delivery, event, until, ready, route)
            SELECT * FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[], $7::text[]) RETURNING 1
        ), \(MediaCounts.added("0, 0, 0, 0, 0, count(*)", from: "added"))
        SELECT 1
        """

    // MARK: Files

    /// Records stored files that events point to, for files that this gateway made, such as calendar files. Protects
    /// them from removal while a delivery of the event waits. One round trip.
    func use(_ uses: [(event: Int64, files: [MediaFile])]) throws {
        var files: [String: MediaFile] = [:]
        for file in uses.flatMap(\.files) { files[file.sha256] = file }
        let named = uses.flatMap { use in use.files.map { (use.event, $0.sha256) } }
        guard !named.isEmpty else { return }
        try tx.run(all: keep(Array(files.values)) + [use(events: named.map(\.0), digests: named.map(\.1))])
    }

    /// Records that files are stored and used. The digest identifies a file: equal content of several URLs has one
    /// row. `files`: each digest once.
    func keep(_ files: [MediaFile]) -> [PostgresStatement] {
        let files = files.sorted { $0.sha256 < $1.sha256 }
        let digests = PostgresValue.texts(files.map(\.sha256))
        return [
            PostgresStatement("SELECT 1 FROM files WHERE sha256 = ANY($1) ORDER BY sha256 FOR KEY SHARE", [digests]),
            PostgresStatement(
                Self.keep,
                MediaCounts.place(tx) + [
                    digests, .numbers(files.map { Int64($0.bytes) }), .texts(files.map(\.contentType)),
                    .numbers(files.map { $0.width.map(Int64.init) }), .numbers(files.map { $0.height.map(Int64.init) }),
                    .numbers(files.map { $0.milliseconds.map(Int64.init) }), .number(tx.now.milliseconds),
                ]),
        ]
    }

    /// Locks only rows that change: many events may use one file. The absolute value, so that not every use is a write
    /// when the clock was set back. `xmax` is 0 in a new row.
    private static let keep = """
        WITH kept AS (
            INSERT INTO files AS f (sha256, bytes, type, width, height, duration, kept_at, used_at)
            SELECT n.*, $9, $9
            FROM unnest($3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[])
                AS n (sha256, bytes, type, width, height, duration)
            WHERE NOT EXISTS (
                SELECT 1 FROM files o WHERE o.sha256 = n.sha256 AND abs(o.used_at - $9) < \(StoreLimits.usedEvery)
                    AND (o.type, o.width, o.height, o.duration)
                        IS NOT DISTINCT FROM (n.type, n.width, n.height, n.duration))
            ORDER BY n.sha256
            ON CONFLICT (sha256) DO UPDATE SET type = excluded.type, width = excluded.width,
                height = excluded.height, duration = excluded.duration, used_at = excluded.used_at
            RETURNING f.xmax = 0 AS is_new, f.bytes
        ), \(MediaCounts.added(
            "0, 0, 0, count(*) FILTER (WHERE is_new), coalesce(sum(bytes) FILTER (WHERE is_new), 0)::bigint, 0",
            from: "kept"))
        SELECT 1
        """

    /// Has no effect for unknown files. The two lists are pairs.
    func use(events: [Int64], digests: [String]) -> PostgresStatement {
        PostgresStatement(
            """
            WITH known AS MATERIALIZED (
                SELECT id, sha256 FROM files WHERE sha256 = ANY($2) ORDER BY sha256 FOR KEY SHARE
            )
            INSERT INTO event_files (file, event)
            SELECT DISTINCT known.id, n.event FROM unnest($1::bigint[], $2::text[]) AS n (event, sha256)
                JOIN known USING (sha256)
            ORDER BY 1, 2
            ON CONFLICT DO NOTHING
            """, [.numbers(events), .texts(digests)])
    }
}
