package import Foundation
import GRDB
package import SignalboxNotification
package import SignalboxStore
import Synchronization

/// Deliveries that wait for files.
extension SQLiteQueue {
    /// Of the bodies that are handed out at once; one is handed out however large it is.
    private static let heldBytes = 16 * 1024 * 1024

    /// Deliveries that can be released, at most `limit`: those whose files are all settled, then those whose time is over.
    /// A file that is not there yet is `pending`, unless an older one is kept: that counts once the time is over.
    package func heldDeliveries(upTo limit: Int) async throws(StoreError) -> [HeldDelivery] {
        try await followClock()
        let now = now().milliseconds
        var former: [HeldSearch.Ended] = []
        while true {
            let skipped = unreadableHeld.withLock(\.self)
            let search = try await read { [path] db in
                var search = HeldSearch(now: now, bytes: Self.heldBytes)
                let ids = try HeldSearch.ids(upTo: limit + skipped.count, by: now, in: db)
                try search.run(ids.filter { !skipped.contains($0) }.prefix(limit), path: path, in: db)
                return search
            }
            if let damage = search.damage {
                health.note(damage)
                unreadableHeld.withLock { $0.formUnion(search.unreadable) }
            }
            if !search.ended.isEmpty { try await endWaits(of: search.ended) }
            // Those that have ended are gone from the line now, and others may stand behind them.
            if !search.held.isEmpty || (search.ended.isEmpty && search.damage == nil) { return search.held }
            guard search.damage != nil || search.ended != former else {
                throw failure(DamagedValue("waits for files cannot be removed"))
            }
            former = search.ended
        }
    }

    /// When the time of the next delivery is over that waits for files; nil when none does.
    package func nextMediaUntil() async throws(StoreError) -> Date? {
        try await read { try Int64.fetchOne($0, sql: "SELECT min(until) FROM media_waits") }
            .map { Date(milliseconds: $0) }
    }

    /// Of deliveries that have ended or were sent as they are.
    private func endWaits(of deliveries: [HeldSearch.Ended]) async throws(StoreError) {
        try await write { db in
            for ended in deliveries { try SQLiteWriter.endWait(of: ended.delivery, event: ended.event, in: db) }
        }
    }
}

/// Reads deliveries that are held, with what is known of their files.
struct HeldSearch: Sendable {
    let now: Int64
    private var bytes: Int
    private(set) var held: [HeldDelivery] = []
    /// Those that are not held any more.
    private(set) var ended: [Ended] = []
    /// What is known of the files of the last event, by whether the time is over.
    private var last: (event: Int64, isOver: Bool, media: [String: MediaState])?

    /// Deliveries that cannot be read, and the reason of the first.
    private(set) var unreadable: [Int64] = []
    private(set) var damage: StoreError?

    struct Ended: Sendable, Equatable {
        let delivery: Int64
        let event: Int64
    }

    init(now: Int64, bytes: Int) {
        self.now = now
        self.bytes = bytes
    }

    static func ids(upTo limit: Int, by now: Int64, in db: Database) throws -> [Int64] {
        let ready = try Int64.fetchAll(db.cachedStatement(sql: ready), arguments: [limit])
        guard ready.count < limit else { return ready }
        return ready + (try Int64.fetchAll(db.cachedStatement(sql: over), arguments: [now, limit - ready.count]))
    }

    static let ready = "SELECT delivery FROM media_waits WHERE ready = 1 ORDER BY delivery LIMIT ?"
    static let over = "SELECT delivery FROM media_waits WHERE until <= ? AND ready = 0 ORDER BY until LIMIT ?"
    static let states = """
        SELECT m.url, m.state, e.done, m.sha256, m.reason, m.words, m.remarks, f.bytes, f.type, f.width, f.height,
            f.duration
        FROM media_events e JOIN media m ON m.id = e.media LEFT JOIN files f ON f.sha256 = m.sha256
        WHERE e.event = ?
        """

    /// Adds deliveries while there is room. A damaged one does not block the others.
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

    /// Adds one; false when there is no room for it.
    private mutating func add(_ id: Int64, in db: Database) throws -> Bool {
        let row = try StoredRow.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT w.event, w.until, d.destination, coalesce(v.body, e.body), w.shape
                    FROM media_waits w LEFT JOIN deliveries d
                            ON d.id = w.delivery AND d.state = 'waiting' AND d.begun = 0
                        LEFT JOIN events e ON e.seq = d.event LEFT JOIN variants v ON v.id = d.variant
                    WHERE w.delivery = ?
                    """), arguments: [id])
        guard let row else { return true }
        let event = try row.number(0)
        guard let destination = try row.optionalText(2), let body = try row.optionalBytes(3) else {
            ended.append(Ended(delivery: id, event: event))
            return true
        }
        guard held.isEmpty || body.count <= bytes else { return false }
        bytes -= body.count
        let isOver = try row.number(1) <= now
        held.append(
            HeldDelivery(
                delivery: id, event: event, destination: DestinationName(destination), body: body,
                media: try media(of: event, isOver: isOver, in: db), transformRoute: try row.optionalText(4)))
        return true
    }

    private mutating func media(of event: Int64, isOver: Bool, in db: Database) throws -> [String: MediaState] {
        if let last, last.event == event, last.isOver == isOver { return last.media }
        var media: [String: MediaState] = [:]
        for row in try StoredRow.fetchAll(db.cachedStatement(sql: Self.states), arguments: [event]) {
            media[try row.text(0)] = try MediaState(row, isOver: isOver)
        }
        last = (event, isOver, media)
        return media
    }
}

extension MediaState {
    /// Of a row of `HeldSearch.states`. What was settled since the event waits for it counts, though it be wanted again.
    fileprivate init(_ row: StoredRow, isOver: Bool) throws {
        let (state, isDone) = (try row.word(1, as: MediaURLRecord.State.self), try row.flag(2))
        let isWanted = state == .wanted || state == .resting
        self = .pending
        guard !isWanted || isDone || isOver else { return }
        if let file = try MediaFile(row) {
            self = .stored(file, remarks: [MediaRemark](codes: try row.optionalText(6)))
        } else if isDone || !isWanted {
            let (reason, words) = (try row.optionalText(4), try row.optionalText(5))
            guard let code = reason.flatMap({ MediaFailure.Code(rawValue: $0) }) else { return }
            self = .failed(MediaFailure(code, words ?? ""))
        }
    }
}

extension MediaFile {
    /// Of a row of `HeldSearch.states`; nil where there is no file.
    fileprivate init?(_ row: StoredRow) throws {
        guard let sha256 = try row.optionalText(3), let bytes = try row.optionalCount(7),
            let type = try row.optionalText(8)
        else { return nil }
        self.init(
            sha256: sha256, bytes: bytes, contentType: type, width: try row.optionalCount(9),
            height: try row.optionalCount(10), milliseconds: try row.optionalCount(11))
    }
}
