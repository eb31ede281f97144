import Foundation
import GRDB
import SignalboxNotification
import SignalboxStore

/// What an append notes of an event's files. Events without any never come here.
extension SQLiteWriter {
    /// What a transaction knows of media, for the events that follow.
    struct MediaNotes {
        fileprivate var statements: MediaStatements?
        /// URLs that were looked up, by which many events of one campaign cost one look.
        var urls: [String: KnownMedia] = [:]
        /// Whether somebody should look: something is wanted, or held, or ready.
        var isChanged = false
        /// When deliveries that are held are sent all the same.
        private(set) var expected: [DestinationName: Date] = [:]

        mutating func expect(_ destination: DestinationName, at due: Date) {
            expected[destination] = min(expected[destination] ?? due, due)
        }
    }

    struct KnownMedia {
        let id: Int64
        /// Whether it counts as it is.
        let isSettled: Bool
    }

    /// How long after a delivery's time is over it is sent as it is, should nobody have released it.
    static let releaseGrace: TimeInterval = 60
    /// For how long what failed is not tried again, in milliseconds.
    static let failureMemory: Int64 = 60_000
    /// How exactly it is known when a file was last used, in milliseconds: more often it is not written.
    static let usedEvery: Int64 = 3_600_000

    /// Notes what an event waits for: what is not known, too old, or failed a while ago is wanted. `isHeld`: whether any of
    /// its deliveries waits. True when nothing is missing.
    func note(
        _ wait: MediaWait, of event: Int64, isHeld: Bool, in db: Database, _ transaction: inout Transaction
    ) throws -> Bool {
        let statements = try mediaStatements(in: db, &transaction)
        var isWhole = true
        for url in wait.urls {
            let media = try transaction.media.urls[url] ?? want(url, in: db, &transaction)
            transaction.media.urls[url] = media
            if !media.isSettled { isWhole = false }
            guard isHeld else { continue }
            try statements.event.run { row in
                row.bind(event)
                row.bind(media.id)
                row.bind(media.isSettled ? 1 : 0)
            }
        }
        transaction.media.isChanged = true
        return isWhole
    }

    /// Notes that a delivery is held.
    func hold(
        _ delivery: Int64, of event: Int64, until: Date, isReady: Bool, shape: String?, in db: Database,
        _ transaction: inout Transaction
    ) throws {
        clockNotes.note(delivery: delivery)
        try mediaStatements(in: db, &transaction).wait.run { row in
            row.bind(delivery)
            row.bind(event)
            row.bind(until.milliseconds)
            row.bind(isReady ? 1 : 0)
            row.bind(shape)
        }
    }

    /// Notes files that are kept already and that an event points to.
    func note(_ files: [MediaFile], of event: Int64, in db: Database, _ transaction: inout Transaction) throws {
        for file in files {
            try keep(file, in: db, &transaction)
            try use(file.sha256, by: event, in: db, &transaction)
        }
    }

    /// Notes that there is a file, and that it is used.
    func keep(_ file: MediaFile, in db: Database, _ transaction: inout Transaction) throws {
        let now = transaction.now.milliseconds
        try mediaStatements(in: db, &transaction).file.run { row in
            row.bind(file.sha256)
            row.bind(file.bytes)
            row.bind(file.contentType)
            row.bind(file.width)
            row.bind(file.height)
            row.bind(file.milliseconds)
            row.bind(now)
            row.bind(now)
        }
    }

    /// Notes that an event points to a file that is there.
    func use(_ sha256: String, by event: Int64, in db: Database, _ transaction: inout Transaction) throws {
        try mediaStatements(in: db, &transaction).use.run { row in
            row.bind(event)
            row.bind(sha256)
        }
    }

    private func want(
        _ url: String, in db: Database, _ transaction: inout Transaction
    ) throws -> KnownMedia {
        let now = transaction.now.milliseconds
        let row = try StoredRow.fetchOne(
            db.cachedStatement(sql: "SELECT id, state, checked_at, fresh_until FROM media WHERE url = ?"),
            arguments: [url])
        guard let row else {
            try db.cachedStatement(sql: "INSERT INTO media (url, host, due, wanted_at) VALUES (?, ?, ?, ?)")
                .execute(arguments: [url, MediaJob.host(of: url), now, now])
            return KnownMedia(id: db.lastInsertedRowID, isSettled: false)
        }
        let (id, state) = (try row.number(0), try row.word(1, as: MediaURLRecord.State.self))
        if state == .wanted || state == .resting { return KnownMedia(id: id, isSettled: false) }
        let checked = try row.optionalNumber(2) ?? 0
        let freshUntil = try row.optionalNumber(3) ?? 0
        // What was checked by a clock that was ahead would stay fresh for as long as that.
        let isFresh = freshUntil > now && checked <= now + Self.failureMemory
        let counts = state == .stored ? isFresh : abs(now - checked) < Self.failureMemory
        if counts { return KnownMedia(id: id, isSettled: true) }
        try db.cachedStatement(
            sql: "UPDATE media SET state = 'wanted', due = :now, attempts = 0, wanted_at = :now WHERE id = :id"
        ).execute(arguments: ["now": now, "id": id])
        return KnownMedia(id: id, isSettled: false)
    }

    private func mediaStatements(in db: Database, _ transaction: inout Transaction) throws -> MediaStatements {
        let statements = try transaction.media.statements ?? MediaStatements(db)
        transaction.media.statements = statements
        return statements
    }
}

/// What is written of an event that has media, looked up once in a transaction.
private struct MediaStatements {
    let event: RowStatement
    let wait: RowStatement
    let file: RowStatement
    let use: RowStatement

    init(_ db: Database) throws {
        event = try RowStatement(db, sql: "INSERT OR IGNORE INTO media_events (event, media, done) VALUES (?, ?, ?)")
        wait = try RowStatement(
            db, sql: "INSERT INTO media_waits (delivery, event, until, ready, shape) VALUES (?, ?, ?, ?, ?)")
        // A clock that was set back must not make every use a write: hence the absolute value.
        file = try RowStatement(
            db,
            sql: """
                INSERT INTO files (sha256, bytes, type, width, height, duration, kept_at, used_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (sha256) DO UPDATE SET type = excluded.type, width = excluded.width,
                    height = excluded.height, duration = excluded.duration, used_at = excluded.used_at
                WHERE abs(used_at - excluded.used_at) >= \(SQLiteWriter.usedEvery) OR type <> excluded.type
                    OR width IS NOT excluded.width OR height IS NOT excluded.height
                    OR duration IS NOT excluded.duration
                """)
        use = try RowStatement(
            db, sql: "INSERT OR IGNORE INTO event_files (event, file) SELECT ?, id FROM files WHERE sha256 = ?")
    }
}
