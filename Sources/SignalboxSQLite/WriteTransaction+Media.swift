import Foundation
import GRDB
import SignalboxNotification
import SignalboxStore

/// A URL that was looked up. Valid within one transaction, until a download is settled. Saves a lookup for each
/// further event with this URL.
struct KnownURL {
    /// The primary key in `media`.
    let id: Int64
    /// Whether its file or its recent failure can be used without another download.
    let isSettled: Bool
}

/// Media of appended events.
extension WriteTransaction {
    /// Requests the files that an event waits for: those that are unknown, stale, or failed a while ago. `isHeld`:
    /// whether any delivery of the event waits. Returns true when all files are settled. Looks each URL up once per
    /// transaction. If the event is held, records each of its URLs, so that its deliveries can become ready.
    mutating func request(_ list: [String], for event: Int64, isHeld: Bool) throws -> Bool {
        var isReady = true
        for url in list {
            let known = try urls[url] ?? request(url)
            urls[url] = known
            isReady = isReady && known.isSettled
            guard isHeld else { continue }
            try db.run(
                "INSERT OR IGNORE INTO media_events (event, media, done) VALUES (?, ?, ?)",
                [event, known.id, known.isSettled])
        }
        effects.wakesDownloads = true
        return isReady
    }

    /// Looks the URL up, or requests it for the first time. A URL whose file is stale, or whose download failed long
    /// ago, is requested again with a new retry budget. Throws ``DamagedValue`` for an unknown state.
    private func request(_ url: String) throws -> KnownURL {
        let now = now.milliseconds
        let row = try db.row("SELECT id, state, checked_at, fresh_until FROM media WHERE url = ?", [url])
        guard let row else {
            try db.run(
                "INSERT INTO media (url, host, due, wanted_at) VALUES (?, ?, ?, ?)",
                [url, MediaJob.host(of: url), now, now])
            return KnownURL(id: db.lastInsertedRowID, isSettled: false)
        }
        let (id, state) = (try row.number(0), try row.word(1, as: MediaURLRecord.State.self))
        let (checked, freshUntil) = (try row.optionalNumber(2) ?? 0, try row.optionalNumber(3) ?? 0)
        let isSettled =
            switch state {
            case .wanted, .resting: false
            // A clock that was ahead when it checked a file must not keep that file fresh for too long.
            case .stored: freshUntil > now && checked <= now + StoreLimits.failurePause
            case .failed: abs(now - checked) < StoreLimits.failurePause
            }
        if !isSettled, state == .stored || state == .failed {
            try db.run(
                "UPDATE media SET state = 'wanted', due = :now, attempts = 0, wanted_at = :now WHERE id = :id",
                ["now": now, "id": id])
        }
        return KnownURL(id: id, isSettled: isSettled)
    }

    /// Records that a delivery is held. `until`: the latest release. `isReady`: whether it can be released now.
    /// `transformRoute`: the route that transforms the event on release; nil for none. The delivery's own `due` is
    /// later, so an unreleased one is sent a minute after `until`.
    func hold(_ delivery: Int64, of event: Int64, until: Date, isReady: Bool, transformRoute: String?) throws {
        try db.run(
            "INSERT INTO media_waits (delivery, event, until, ready, shape) VALUES (?, ?, ?, ?, ?)",
            [delivery, event, until.milliseconds, isReady, transformRoute])
    }

    /// Records stored files that an event points to. For files that this gateway made, such as calendar files.
    func use(_ files: [MediaFile], by event: Int64) throws {
        for file in files {
            try keep(file)
            try use(file.sha256, by: event)
        }
    }

    /// Records that a file is stored and used. The digest identifies a file: equal content of several URLs has one
    /// row.
    private func keep(_ file: MediaFile) throws {
        // abs(): otherwise every use would write after the clock was set back.
        try db.run(
            """
            INSERT INTO files (sha256, bytes, type, width, height, duration, kept_at, used_at)
            VALUES (:sha256, :bytes, :type, :width, :height, :duration, :now, :now)
            ON CONFLICT (sha256) DO UPDATE SET type = excluded.type, width = excluded.width,
                height = excluded.height, duration = excluded.duration, used_at = excluded.used_at
            WHERE abs(used_at - excluded.used_at) >= \(StoreLimits.usedEvery) OR type <> excluded.type
                OR width IS NOT excluded.width OR height IS NOT excluded.height
                OR duration IS NOT excluded.duration
            """,
            [
                "sha256": file.sha256, "bytes": file.bytes, "type": file.contentType, "width": file.width,
                "height": file.height, "duration": file.milliseconds, "now": now.milliseconds,
            ])
    }

    /// Protects the file from removal while a delivery of the event waits. Has no effect for an unknown file.
    private func use(_ sha256: String, by event: Int64) throws {
        try db.run(
            "INSERT OR IGNORE INTO event_files (event, file) SELECT ?, id FROM files WHERE sha256 = ?", [event, sha256])
    }
}

/// Ends of downloads.
extension WriteTransaction {
    /// Records the end of a download. Wakes the media service if deliveries become ready or a download is due.
    /// Deliveries become ready when the last download of their event has ended, even if it failed.
    mutating func settle(_ settlement: MediaSettlement) throws {
        urls.removeAll()
        let job = settlement.job
        let row = try db.row(
            "SELECT EXISTS (SELECT 1 FROM files f WHERE f.sha256 = m.sha256) FROM media m WHERE m.id = ?", [job])
        // No event waits for a URL that was forgotten meanwhile.
        guard let row else { return }
        let change = MediaChange(settlement.end, isKept: try row.flag(0), at: now)
        if case .stored(let file, _, _) = settlement.end { try keep(file) }
        try write(change, of: job)
        if change.wakes { effects.wakesDownloads = true }
        guard change.hasEnded else { return }
        if try db.run(Self.becomeReady, ["job": job]) > 0 { effects.wakesDownloads = true }
        try db.run(Self.becomeDone, [job])
    }

    /// Changes the row of a URL.
    private func write(_ change: MediaChange, of job: Int64) throws {
        var assignments = ["state = '\(change.state.rawValue)'"]
        var arguments = StatementArguments()
        for (column, value) in change.columns {
            switch value {
            case .null: assignments.append("\(column) = NULL")
            case .oneMore: assignments.append("\(column) = \(column) + 1")
            case .time(let time):
                assignments.append("\(column) = ?")
                arguments += [time.milliseconds]
            case .text(let text):
                assignments.append("\(column) = ?")
                arguments += [text]
            case .textIfAny(let text):
                assignments.append("\(column) = coalesce(?, \(column))")
                arguments += [text]
            }
        }
        try db.run("UPDATE media SET \(assignments.joined(separator: ", ")) WHERE id = ?", arguments + [job])
    }

    /// Marks the held deliveries of events that wait for this download and no other.
    static let becomeReady = """
        UPDATE media_waits SET ready = 1
        WHERE ready = 0 AND event IN (SELECT event FROM media_events WHERE media = :job AND done = 0)
            AND NOT EXISTS (SELECT 1 FROM media_events o
                WHERE o.event = media_waits.event AND o.done = 0 AND o.media <> :job)
        """
    /// Must run after ``becomeReady``, which reads the former state.
    static let becomeDone = "UPDATE media_events SET done = 1 WHERE media = ? AND done = 0"
}

/// Releases of held deliveries.
extension WriteTransaction {
    /// Releases a delivery with its final body. If it is no longer held, removes its wait only. Deletes the former
    /// variant unless another delivery of the event has it. A delivery that has begun, ended or was purged keeps its
    /// body.
    mutating func release(_ release: MediaRelease) throws {
        let delivery = release.held.delivery
        let row = try db.row(
            """
            SELECT d.event, d.destination, d.state = 'waiting' AND d.begun = 0, d.variant, coalesce(v.plain, 1),
                d.not_before
            FROM media_waits w JOIN deliveries d ON d.id = w.delivery LEFT JOIN variants v ON v.id = d.variant
            WHERE w.delivery = ?
            """, [delivery])
        guard let row else { return }
        let (event, isUnsent) = (try row.number(0), try row.flag(2))
        if isUnsent {
            let (destination, former) = (DestinationName(try row.text(1)), try row.optionalNumber(3))
            let (isPlain, notBefore) = (try row.flag(4), try row.optionalNumber(5))
            var variant = former
            if let body = release.body { variant = try self.variant(Data(body), of: event, isPlain: isPlain) }
            let due = max(now.milliseconds, notBefore ?? .min)
            try db.run("UPDATE deliveries SET due = ?, variant = ? WHERE id = ?", [due, variant, delivery])
            if let former, former != variant {
                try db.run(
                    """
                    DELETE FROM variants
                    WHERE id = :id AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event = :event AND variant = :id)
                    """, ["id": former, "event": event])
            }
            for file in release.files {
                try db.run(
                    """
                    UPDATE files SET used_at = :now
                    WHERE sha256 = :file AND abs(used_at - :now) >= \(StoreLimits.usedEvery)
                    """, ["now": now.milliseconds, "file": file])
                try use(file, by: event)
            }
            effects.spilled.insert(destination)
        }
        try db.endWait(of: delivery, event: event)
    }

    /// The row of the body that a delivery carries: nil for the event's own body, otherwise the row of another delivery
    /// with the same body, or a new row. `isPlain`: whether it is the stored event except for its media. Compares
    /// bodies, so equal bodies are stored once per event.
    private func variant(_ body: Data, of event: Int64, isPlain: Bool) throws -> Int64? {
        if try db.flag("SELECT body = ? FROM events WHERE seq = ?", [body, event]) { return nil }
        let same = try db.number(
            "SELECT id FROM variants WHERE event = ? AND plain = ? AND body = ?", [event, isPlain, body])
        if let same { return same }
        try db.run("INSERT INTO variants (event, body, plain) VALUES (?, ?, ?)", [event, body, isPlain])
        return db.lastInsertedRowID
    }
}

/// Also called by removals, which end waits without a release.
extension Database {
    /// Removes the wait of a delivery. After the last wait of an event, removes the event's requests for files.
    func endWait(of delivery: Int64, event: Int64) throws {
        try run("DELETE FROM media_waits WHERE delivery = ?", [delivery])
        try run(Self.endEvent, ["event": event])
    }

    /// Argument: the event.
    static let endEvent = """
        DELETE FROM media_events
        WHERE event = :event AND NOT EXISTS (SELECT 1 FROM media_waits WHERE event = :event)
        """
}
