import Foundation
package import SignalboxStore

/// Changes of all deliveries that a filter selects. A purge leaves leased deliveries alone; a retry gives them another
/// budget.
///
/// A change works in steps: reads find the next deliveries, and a short transaction changes those that still match. So
/// a search through a large queue holds no lock.
extension PostgresStore {
    /// Waits for transactions that are open at the time of the preview: deliveries that they end have an earlier time,
    /// and are part of the preview.
    package func preview(_ change: BulkChange, of filter: DeliveryFilter) async throws(StoreError) -> BulkPreview {
        if change == .purge { try await giveBackFresh(for: filter) }
        let now = now
        var selection = filter
        selection.endedBefore = min(filter.endedBefore ?? now, now)
        try await readers.read { try $0.waitForOpenTransactions() }
        return try await readers.snapshot { [selection] connection in
            var preview = BulkPreview(at: now)
            var first = Int64.max
            try connection.count(selection, change.condition()) { row in
                preview.byDestination[try row.destination(0), default: 0] += try row.count(1)
                first = min(first, try row.number(2))
                preview.through = max(preview.through, try row.number(3))
            }
            preview.count = preview.byDestination.values.reduce(0, +)
            let times = try connection.run(
                """
                SELECT accepted_at FROM events WHERE seq IN (SELECT event FROM deliveries WHERE id IN ($1, $2))
                ORDER BY 1
                """, [.number(first), .number(preview.through)]
            ).map { try $0.date(0) }
            if let oldest = times.first, let newest = times.last { preview.accepted = oldest...newest }
            return preview
        }
    }

    /// One snapshot, in steps. Leased deliveries do not count, because a purge leaves them alone.
    package func undeliveredCount(_ filter: DeliveryFilter) async throws(StoreError) -> Int {
        try await readers.snapshot { connection in
            var count = 0
            try connection.count(filter, "d.state <> 'delivered' AND d.holder IS NULL") { count += try $0.count(1) }
            return count
        }
    }

    /// One snapshot, in steps. Counts leased deliveries.
    package func inProgressCount(_ filter: DeliveryFilter) async throws(StoreError) -> Int {
        try await readers.snapshot { connection in
            var count = 0
            try connection.count(filter, "d.holder IS NOT NULL") { count += try $0.count(1) }
            return count
        }
    }

    /// Numbers of attempts continue; only the budget starts anew. Wakes every lane after each step, so that attempts
    /// begin before the last one. Throws the first failure; deliveries of earlier steps stay requeued, and the action
    /// has their number.
    package func retry(
        _ filter: DeliveryFilter, spread: BulkSpread?, as action: OperatorAction?
    ) async throws(StoreError) -> Int {
        let start = now.milliseconds
        // Named deliveries that cannot be requeued are an error of the request; the caller records that.
        let isNamed = filter.ids != nil
        return try await change(.retry, filter, as: action, recordingNone: !isNamed) { transaction, ids, done in
            let dues = ids.indices.map { start + (spread?.milliseconds(at: done + $0) ?? 0) }
            return try BulkStep(filter, ids).retry(dues, in: transaction)
        }
    }

    /// The conditions are evaluated again in each step, so a delivery that changes meanwhile is judged by its new
    /// state. The server reuses the space of removed rows. Throws the first failure; the steps before it are committed,
    /// and the action has their count.
    package func purge(
        _ filter: DeliveryFilter, sparingUndelivered: Bool, as action: OperatorAction?
    ) async throws(StoreError) -> Int {
        try await giveBackFresh(for: filter)
        return try await change(
            .purge, filter, sparingUndelivered: sparingUndelivered, as: action, recordingNone: true
        ) { transaction, ids, _ in
            try BulkStep(filter, ids).purge(sparingUndelivered: sparingUndelivered, in: transaction)
        }
    }

    /// Returns deliveries in memory to the table if the filter may select them, so that a purge can remove them.
    private func giveBackFresh(for filter: DeliveryFilter) async throws(StoreError) {
        if (filter.state ?? .waiting) == .waiting { try await giveBackFresh(of: filter.destination) }
    }

    /// Runs the steps of a change, from old deliveries to new ones. `step` changes some deliveries in a transaction,
    /// after `done` others, and returns their number. The first step makes the row of the action, unless it changes
    /// nothing and `recordingNone` is false; the other steps add to its count.
    private func change(
        _ change: BulkChange, _ filter: DeliveryFilter, sparingUndelivered: Bool = false, as action: OperatorAction?,
        recordingNone: Bool, step: @escaping @Sendable (PostgresTransaction, _ ids: [Int64], _ done: Int) throws -> Int
    ) async throws(StoreError) -> Int {
        var search = BulkSearch(filter, change.condition(sparingUndelivered: sparingUndelivered))
        var (changed, entry) = (0, Int64?.none)
        repeat {
            search = try await readers.read { [search] connection in
                var search = search
                try search.run(on: connection)
                return search
            }
            let ids = search.found
            let result = try await writer(.others).write { [changed, entry] transaction -> (Int, Int64?) in
                let count = ids.isEmpty ? 0 : try step(transaction, ids, changed)
                guard let action, count > 0 || entry != nil || recordingNone else { return (count, entry) }
                guard let entry else { return (count, try self.record(action, count: count, in: transaction)) }
                if count > 0 {
                    try transaction.run(
                        "UPDATE actions SET count = count + $1 WHERE id = $2", [.number(Int64(count)), .number(entry)])
                }
                return (count, entry)
            }
            changed += result.0
            entry = result.1
            switch change {
            case .retry: wakeAll()
            // The next delivery of a key may be ready. Hints stay valid.
            case .purge: if result.0 > 0 { lanes.wakeLanes(at: now) }
            }
        } while search.hasMore
        return changed
    }
}

/// The search for the deliveries of the next step.
private struct BulkSearch {
    /// The most deliveries that one step changes.
    private static let step = 1000

    private let filter: DeliveryFilter
    /// Nil if no delivery can match.
    private let walk: DeliveryWalk?
    /// Constant text over `d`; see ``BulkChange/condition(sparingUndelivered:)``.
    private let condition: String
    /// The last number that was examined. The search only ascends, so it does not find a delivery again after its
    /// requeue.
    private var position = Int64.min
    /// Rows to examine with the next statement: more if few matched.
    private var part = BulkSearch.step
    /// The deliveries of the step, the oldest first.
    private(set) var found: [Int64] = []
    /// Whether there may be a further step.
    private(set) var hasMore = true

    init(_ filter: DeliveryFilter, _ condition: String) {
        (self.filter, walk, self.condition) = (filter, filter.walk, condition)
    }

    /// Finds the next deliveries. Locks nothing: the step checks each delivery again. Finds fewer than ``step`` only at
    /// the end, and then sets ``hasMore`` to false.
    mutating func run(on connection: PostgresConnection) throws {
        found = []
        guard let walk else { return hasMore = false }
        while hasMore, found.count < Self.step {
            let rows = try connection.run(
                walk.search(for: condition), filter.arguments(after: position, before: filter.end, limit: part)
            ).map { (id: try $0.number(0), isMatch: try $0.flag(1)) }
            hasMore = rows.count == part
            for row in rows {
                guard row.id > position else { throw DamagedValue("the rows of deliveries are out of order") }
                position = row.id
                if row.isMatch { found.append(row.id) }
                // The others are found by the next step.
                if found.count == Self.step {
                    hasMore = hasMore || row.id != rows.last?.id
                    return
                }
            }
            part = found.count * 2 < part ? min(part * 4, DeliveryWalk.step) : Self.step
        }
    }
}

extension BulkChange {
    /// The condition over `d` on the deliveries that the change may touch, among those of a filter.
    fileprivate func condition(sparingUndelivered: Bool = false) -> String {
        switch self {
        case .retry:
            """
            (d.state = 'dead' OR d.state = 'waiting'
                AND NOT (d.begun = 0 AND (SELECT 1 FROM media_waits WHERE delivery = d.id) IS NOT NULL))
            """
        case .purge: sparingUndelivered ? "d.state = 'delivered'" : "d.holder IS NULL"
        }
    }
}

extension PostgresConnection {
    /// Returns once the writing transactions of this user's sessions have ended, or after two seconds.
    fileprivate func waitForOpenTransactions() throws {
        // A transaction reads its time shortly before it begins.
        usleep(20_000)
        let open = try run(
            """
            SELECT pid::bigint, xact_start::text FROM pg_stat_activity
            WHERE datname = current_database() AND usename = current_user AND backend_xid IS NOT NULL
            """
        ).map { (try $0.number(0), try $0.text(1)) }
        let end = ContinuousClock.now + .seconds(2)
        while !open.isEmpty, ContinuousClock.now < end {
            let isOver = try run(
                """
                SELECT 1 FROM pg_stat_activity a JOIN unnest($1, $2) AS open (pid, start)
                    ON a.pid = open.pid AND a.xact_start = open.start::timestamptz
                LIMIT 1
                """, [.numbers(open.map(\.0)), .texts(open.map(\.1))]
            ).isEmpty
            if isOver { return }
            usleep(10_000)
        }
    }

    /// Counts what a filter selects and `condition` permits, in steps. `each` receives rows of a destination, the
    /// number of deliveries, and the smallest and the largest number of one.
    fileprivate func count(_ filter: DeliveryFilter, _ condition: String, each: (PostgresRow) throws -> Void) throws {
        guard let walk = filter.walk else { return }
        var position: Int64? = .min
        while let start = position {
            position = nil
            let rows = try run(
                walk.count(condition), filter.arguments(after: start, before: filter.end, limit: DeliveryWalk.step))
            for row in rows {
                if try row.optionalText(0) != nil {
                    try each(row)
                } else if try row.count(1) == DeliveryWalk.step {
                    position = try row.optionalNumber(3)
                }
            }
        }
    }
}
