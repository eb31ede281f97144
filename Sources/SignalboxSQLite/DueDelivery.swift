import Foundation
import GRDB
import SignalboxNotification
import SignalboxStore

/// A due delivery with its event: everything that a lease needs, read before anything is written. Reads before it
/// writes, so damage is found before the attempt is recorded. A value of one transaction: the row may change after
/// it.
struct DueDelivery {
    /// The primary key in `deliveries`.
    let id: Int64
    /// Attempts that have ended.
    let attempts: Int
    /// Attempts that were begun, finished or not. Larger than ``attempts`` for an attempt in progress, and for one
    /// that a crash interrupted.
    let begun: Int
    /// Nil for a delivery that never expires.
    let notAfter: Date?
    /// Whether a route is yet to transform its event. Such a delivery is not leased: its body may contain values that
    /// the route redacts.
    let awaitsTransformation: Bool
    /// Attempts that do not count against the budget. At most ``begun``.
    let forgiven: Int
    /// The id of the event.
    private let event: String
    /// The destination of the search.
    let destination: DestinationName
    /// The variant of the destination, or the stored event.
    private let body: [UInt8]
    /// The payload as received; nil unless a destination wants it.
    private let payload: [UInt8]?
    /// Nil for a delivery without an order.
    private let orderKey: String?
    /// When it could be sent first: its acceptance, or its scheduled time if that is later.
    private let readyAt: Date

    /// Throws ``DamagedValue`` when the delivery contradicts the index or cannot be read. One query. Errors of SQLite
    /// other than damage pass unchanged.
    init(_ id: Int64, _ destination: DestinationName, by now: Date, in db: Database) throws {
        let row = try db.row(
            """
            SELECT e.id, d.attempts, coalesce(v.body, e.body), e.payload, d.not_after, d.begun, d.forgiven,
                d.begun = 0 AND EXISTS (SELECT 1 FROM media_waits WHERE delivery = d.id AND shape IS NOT NULL),
                d.order_key, d.variant IS NOT NULL AND v.id IS NULL,
                d.state = 'waiting' AND d.destination = ? AND d.due <= ?,
                max(e.accepted_at, coalesce(d.not_before, 0))
            FROM deliveries d JOIN events e ON e.seq = d.event LEFT JOIN variants v ON v.id = d.variant
            WHERE d.id = ?
            """, [destination.name, now.milliseconds, id])
        // An index lists the delivery, so it must exist, have its event, and be due. Otherwise it might be sent twice.
        guard let row, try row.flag(10) else { throw DamagedValue("delivery \(id) contradicts the index") }
        // The event as stored may contain data that this destination must not receive.
        if try row.flag(9) { throw DamagedValue("the variant of delivery \(id) is missing") }
        (self.id, self.destination) = (id, destination)
        (event, attempts) = (try row.eventID(0), try row.count(1))
        (body, payload) = (try row.bytes(2), try row.optionalBytes(3))
        (notAfter, orderKey) = (try row.optionalDate(4), try row.optionalText(8))
        (begun, forgiven, awaitsTransformation) = (try row.count(5), try row.count(6), try row.flag(7))
        readyAt = try row.date(11)
    }

    /// The lease of the next attempt. `earlier`: the number of attempts before it. `holder`: the process, as
    /// ``SQLiteFile/holder`` names it. Attempts before the last manual retry do not count against the budget.
    func lease(after earlier: Int, holder: UInt64) -> Lease {
        var lease = Lease(
            delivery: id, event: event, destination: destination, attempts: max(0, earlier - forgiven),
            earlier: earlier, body: body, payload: payload, notAfter: notAfter, orderKey: orderKey, holder: holder)
        lease.readyAt = readyAt
        return lease
    }
}

/// The queries of a search.
extension DueSearch {
    /// Searches within a transaction. Throws for the first damage. `now`: deliveries that are due by then are found,
    /// the oldest first.
    mutating func run(by now: Date, in db: Database) throws { try run(by: now, in: db) { _ in true } }

    /// Searches a damaged file for deliveries that can be read. Runs outside of a write transaction, because SQLite
    /// rejects writes in one that met a malformed page. Skips what cannot be read, and stops when the index cannot be
    /// read any further. Records the unreadable deliveries, which the lane then excludes. Throws errors that are not
    /// damage, and damage that leaves no delivery to send.
    mutating func runAroundDamage(by now: Date, in db: Database, path: String) throws {
        func isDamage(_ error: any Error) -> Bool {
            if case .damaged = StoreError(error, path: path) { true } else { false }
        }
        var unreadable: [Int64] = []
        do {
            try run(by: now, in: db) { [destination] due in
                do {
                    _ = try DueDelivery(due.id, destination, by: now, in: db)
                    return true
                } catch {
                    guard isDamage(error) else { throw error }
                    unreadable.append(due.id)
                    return false
                }
            }
        } catch {
            guard isDamage(error), !found.isEmpty || !unreadable.isEmpty else { throw error }
        }
        self.unreadable = unreadable
    }

    /// `isReadable`: whether a delivery counts as found. Also finds out when the next delivery becomes due.
    private mutating func run(by now: Date, in db: Database, isReadable: (Due) throws -> Bool) throws {
        if isOrdered {
            unfinished = try gatherInOrder(by: now, in: db, isReadable)
        } else {
            try gather(Self.unordered, by: now, in: db, isReadable)
        }
        nextDue = try db.firstDue(of: destination.name, after: now.milliseconds).map { Date(milliseconds: $0) }
        isComplete = unfinished == nil
    }

    /// Up to this number of due deliveries with a key, a search of an ordered destination reads these instead of the
    /// keys.
    private static let mostFew = 256

    /// Whether at most ``mostFew`` deliveries with a key are due, leased ones included.
    private func hasFewDue(by now: Date, in db: Database) throws -> Bool {
        let count = try db.number(
            "SELECT count(*) FROM (SELECT 1 FROM deliveries WHERE \(Self.due(hasKey: true)) LIMIT :most)",
            ["destination": destination.name, "now": now.milliseconds, "most": Self.mostFew + 1])
        return (count ?? 0) <= Int64(Self.mostFew)
    }

    /// Goes through the keys after the last served one, then through deliveries without a key, then through the keys
    /// from the beginning. Or through the rest of such a round. Returns what is left after ``DueSearch/mostKeys``. If
    /// few deliveries with a key are due, goes through these instead of the keys.
    private mutating func gatherInOrder(
        by now: Date, in db: Database, _ isReadable: (Due) throws -> Bool
    ) throws -> Rest? {
        if try hasFewDue(by: now, in: db) {
            let last: StatementArguments = ["last": lastKey ?? ""]
            try gather(Self.firsts(areBeyondLast: true), last, by: now, in: db, isReadable)
            try gather(Self.unkeyed, by: now, in: db, isReadable)
            try gather(Self.firsts(areBeyondLast: false), last, by: now, in: db, isReadable)
            return nil
        }
        var after = lastKey
        let end: String?
        switch rest ?? .toLastKey(thenUpTo: lastKey) {
        case .toLastKey(let key):
            guard try gatherKeys(after: after, upTo: nil, by: now, in: db, isReadable) else {
                return .toLastKey(thenUpTo: key)
            }
            try gather(Self.unkeyed, by: now, in: db, isReadable)
            (after, end) = (nil, key)
        case .upTo(let key): end = key
        }
        guard let end else { return nil }
        return try gatherKeys(after: after, upTo: end, by: now, in: db, isReadable) ? nil : .upTo(end)
    }

    /// Stops as soon as the search has enough deliveries. False when it has looked at ``DueSearch/mostKeys``: then
    /// ``DueSearch/resumeKey`` is the last of them. A key that is not beyond `after` ends the search, because the index
    /// is damaged: further searches would repeat it.
    private mutating func gatherKeys(
        after: String?, upTo last: String?, by now: Date, in db: Database, _ isReadable: (Due) throws -> Bool
    ) throws -> Bool {
        var arguments: StatementArguments = ["destination": destination.name, "now": now.milliseconds, "last": last]
        if let after { arguments += ["first": after] }
        let statement = try db.cachedStatement(sql: Self.ordered(isFromStart: after == nil))
        let rows = try StoredRow.fetchCursor(statement, arguments: arguments)
        while wantsMore, let row = try rows.next() {
            keyCount += 1
            if try row.flag(2) {
                let due = Due(id: try row.number(0), key: try row.text(1))
                if accepts(due), try isReadable(due) { add(due) }
            }
            guard keyCount >= Self.mostKeys, wantsMore else { continue }
            let key = try row.text(1)
            // As SQLite compares texts.
            guard after?.utf8.lexicographicallyPrecedes(key.utf8) ?? true else { return true }
            resumeKey = key
            return false
        }
        return true
    }

    /// Stops as soon as the search has enough deliveries. `more`: the arguments that only this query has.
    private mutating func gather(
        _ sql: String, _ more: StatementArguments = [:], by now: Date, in db: Database,
        _ isReadable: (Due) throws -> Bool
    ) throws {
        var arguments: StatementArguments = ["destination": destination.name, "now": now.milliseconds]
        arguments += more
        let rows = try StoredRow.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        while wantsMore, let row = try rows.next() {
            let due = Due(id: try row.number(0), key: try row.optionalText(1))
            if accepts(due), try isReadable(due) { add(due) }
        }
    }

    /// The condition for due deliveries with or without a key, as a range of the index `deliveries_due`. The index has
    /// the same expression.
    private static func due(hasKey: Bool) -> String {
        """
        state = 'waiting' AND destination = :destination AND (order_key IS NULL) = \(hasKey ? 0 : 1) AND due <= :now
        """
    }

    /// All due deliveries. SQLite merges the two ranges. Some have keys, from the time when the destination had an
    /// order.
    private static let unordered = """
        SELECT id, NULL, due FROM deliveries WHERE \(due(hasKey: false)) UNION ALL
        SELECT id, NULL, due FROM deliveries WHERE \(due(hasKey: true)) ORDER BY 3, 1
        """

    /// Due deliveries that are the first ones of their keys, with keys after `:last` or with the others. Takes one step
    /// in `deliveries_ordered` for each due delivery with a key. The plus sign keeps SQLite from reading the keys that
    /// are not due.
    private static func firsts(areBeyondLast: Bool) -> String {
        """
        SELECT d.id, d.order_key FROM deliveries d
        WHERE \(due(hasKey: true)) AND +d.order_key \(areBeyondLast ? ">" : "<=") :last AND d.id = (
            SELECT id FROM deliveries
            WHERE state = 'waiting' AND destination = :destination AND order_key = d.order_key
            ORDER BY id LIMIT 1)
        ORDER BY d.order_key, d.id
        """
    }

    /// Due deliveries without an order key.
    private static let unkeyed = """
        SELECT id, NULL FROM deliveries WHERE \(due(hasKey: false)) ORDER BY due, id
        """

    /// The first delivery of each key, its key, and whether it is due. The query steps from key to key in the index, so
    /// it never reads the deliveries that wait behind the first one of a key. SQLite makes a step when its row is
    /// read. It starts after `:first`, so that keys take turns, or with the first key. `UNION` ends the search even in
    /// an index whose keys are out of order.
    private static func ordered(isFromStart: Bool) -> String {
        """
        WITH RECURSIVE keys(key) AS (
            SELECT min(order_key) FROM deliveries WHERE state = 'waiting' AND destination = :destination
                AND order_key \(isFromStart ? "IS NOT NULL" : "> :first")
            UNION
            SELECT (SELECT min(order_key) FROM deliveries
                WHERE state = 'waiting' AND destination = :destination AND order_key > key)
            FROM keys WHERE key IS NOT NULL AND (:last IS NULL OR key < :last)
        ), firsts(id, key) AS (
            SELECT (SELECT id FROM deliveries
                WHERE state = 'waiting' AND destination = :destination AND order_key = key
                ORDER BY id LIMIT 1), key
            FROM keys WHERE key IS NOT NULL AND (:last IS NULL OR key <= :last)
        )
        SELECT d.id, f.key, coalesce(d.due <= :now, 0) FROM firsts f CROSS JOIN deliveries d ON d.id = f.id
        """
    }
}
