package import Foundation
import GRDB
package import SignalboxModel

/// Deliveries that wait for files.
extension SQLiteQueue {
    /// Of the bodies that are handed out at once; one is handed out however large it is.
    private static let heldBytes = 16 * 1024 * 1024

    /// Deliveries that can be released, at most `limit`: those whose files are all settled, then those whose time is over.
    /// A file that is not there yet is `pending`, unless an older one is kept: that counts once the time is over.
    package func heldDeliveries(upTo limit: Int) async throws(StoreError) -> [HeldDelivery] {
        try await followClock()
        let now = now().milliseconds
        while true {
            let (held, ended) = try await read { db in
                var search = HeldSearch(now: now, bytes: Self.heldBytes)
                for id in try HeldSearch.ids(upTo: limit, by: now, in: db) {
                    guard try search.add(id, in: db) else { break }
                }
                return (search.held, search.ended)
            }
            if !ended.isEmpty { try await endWaits(of: ended) }
            // Those that have ended are gone from the line now, and others may stand behind them.
            if !held.isEmpty || ended.isEmpty { return held }
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
struct HeldSearch {
    let now: Int64
    private var bytes: Int
    private(set) var held: [HeldDelivery] = []
    /// Those that are not held any more.
    private(set) var ended: [Ended] = []
    /// What is known of the files of the last event, by whether the time is over.
    private var last: (event: Int64, isOver: Bool, media: [String: MediaState])?

    struct Ended: Sendable {
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

    /// Adds one; false when there is no room for it.
    mutating func add(_ id: Int64, in db: Database) throws -> Bool {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT w.event, w.until, d.destination, coalesce(v.body, e.body), w.shape
                    FROM media_waits w LEFT JOIN deliveries d
                            ON d.id = w.delivery AND d.state = 'waiting' AND d.begun = 0
                        LEFT JOIN events e ON e.seq = d.event LEFT JOIN variants v ON v.id = d.variant
                    WHERE w.delivery = ?
                    """), arguments: [id])
        guard let row else { return true }
        let event: Int64 = row[0]
        guard let destination: String = row[2], let body: Data = row[3] else {
            ended.append(Ended(delivery: id, event: event))
            return true
        }
        guard held.isEmpty || body.count <= bytes else { return false }
        bytes -= body.count
        let isOver = row[1] <= now
        held.append(
            HeldDelivery(
                delivery: id, event: event, destination: DestinationName(destination), body: Array(body),
                media: try media(of: event, isOver: isOver, in: db), shape: row[4]))
        return true
    }

    private mutating func media(of event: Int64, isOver: Bool, in db: Database) throws -> [String: MediaState] {
        if let last, last.event == event, last.isOver == isOver { return last.media }
        var media: [String: MediaState] = [:]
        for row in try Row.fetchAll(db.cachedStatement(sql: Self.states), arguments: [event]) {
            media[row[0]] = MediaState(row, isOver: isOver)
        }
        last = (event, isOver, media)
        return media
    }
}

extension MediaState {
    /// Of a row of `HeldSearch.states`. What was settled since the event waits for it counts, though it be wanted again.
    fileprivate init(_ row: Row, isOver: Bool) {
        let (state, isDone): (String, Bool) = (row[1], row[2])
        let isWanted = state == "wanted" || state == "resting"
        self = .pending
        guard !isWanted || isDone || isOver else { return }
        if let file = MediaFile(row) {
            self = .stored(file, remarks: [MediaRemark](codes: row[6]))
        } else if isDone || !isWanted {
            let (reason, words): (String?, String?) = (row[4], row[5])
            guard let code = reason.flatMap({ MediaFailure.Code(rawValue: $0) }) else { return }
            self = .failed(MediaFailure(code, words ?? ""))
        }
    }
}

extension MediaFile {
    /// Of a row of `HeldSearch.states`; nil where there is no file.
    fileprivate init?(_ row: Row) {
        guard let sha256: String = row[3], let bytes: Int = row[7], let type: String = row[8] else { return nil }
        self.init(
            sha256: sha256, bytes: bytes, contentType: type, width: row[9], height: row[10], milliseconds: row[11])
    }
}
