import Foundation
import SignalboxNotification
import SignalboxStore

/// A claim of a lane, which shares its transaction with those of other lanes.
struct ClaimOrder: Sendable {
    let destination: DestinationName
    /// The most leases.
    let limit: Int
    let isOrdered: Bool
    /// The key after which an ordered search begins; nil for the first one.
    let after: String?
    /// The key at which an ordered search that began anew ends; nil for none.
    let upTo: String?
    /// Below it, an ordered search does not look, unless the incarnation has been replaced since.
    var floor: LineFloor
    /// Numbers of damaged deliveries, which are left alone.
    let unreadable: [Int64]
    /// The due time at which an unordered search begins; see ``DueHints``.
    let dueSince: Date
}

/// The result of a claim.
struct Claimed: Sendable {
    /// In the order of the search; committed when the claim returns.
    var leases: [Lease] = []
    /// Rows that were found: leases, deliveries that had expired, and damaged ones.
    var rows = 0
    /// Deliveries that the claim has ended instead of leasing them.
    var expired = 0
    /// Deliveries without an event or a body in the snapshot of the claim, which left them unchanged.
    var unreadable: [Int64] = []
    /// The key up to which an ordered search leased all that it could; nil when it begins with the first key again.
    var lastKey: String?
    /// Whether an ordered search left keys after ``lastKey`` to the next one.
    var isCut = false
    /// When the next delivery that is not due yet becomes due. An ordered search counts the first delivery of each key.
    var nextDue: Date?
    /// Whether a delivery with an order key is due. After an ordered search: whether one is due or leased.
    var hasKeys = false
    /// When the last of the found rows became due; nil for none.
    var lastDue: Date?
    /// The part of the line that an ordered search saw; nil for another search, and if it is busy.
    var part: LinePart?
    /// Whether another node is claiming from the ordered destination, so that nothing was searched.
    let isBusy: Bool
    /// The time of the transaction's statements, without its COMMIT and the time before.
    var took: Duration = .zero

    /// Decodes the rows of a ``ClaimStatement``. `lastAssigned`: the last delivery number that was assigned before an
    /// ordered search.
    init(_ rows: PostgresRows, _ order: ClaimOrder, node: Int64, lastAssigned: Int64, isBusy: Bool) throws {
        self.isBusy = isBusy
        // Its values of the search are those of every row.
        if order.isOrdered, !isBusy, let row = rows.first {
            (lastKey, isCut) = (try row.optionalText(0), try row.flag(1))
            (nextDue, hasKeys) = (try row.optionalDate(21), try row.flag(22))
            part = LinePart(
                after: order.after, upTo: order.upTo, lastKey: try row.optionalText(23) ?? order.after,
                isCut: try !row.flag(24), firstDelivery: try row.optionalNumber(17),
                lastAssigned: lastAssigned, oldest: try row.number(18), transactionID: try row.number(19),
                requeues: try row.number(20))
        }
        for row in rows {
            guard let id = try row.optionalNumber(2) else { continue }
            self.rows += 1
            lastDue = max(lastDue ?? .distantPast, try row.date(15))
            if try row.flag(12) {
                expired += 1
            } else if try row.flag(13) {
                unreadable.append(id)
            } else if try !row.flag(14) {
                leases.append(try Lease(row, id, of: order.destination, node: node))
            }
        }
    }
}

extension Lease {
    /// Attempts that an operator has forgiven do not count for the budget, but numbers of attempts continue.
    fileprivate init(_ row: PostgresRow, _ id: Int64, of destination: DestinationName, node: Int64) throws {
        let earlier = try row.count(7)
        self.init(
            delivery: id, event: try row.text(4), destination: destination,
            attempts: max(0, earlier - (try row.count(8))), earlier: earlier, body: try row.bytes(5),
            payload: try row.optionalBytes(6), notAfter: try row.optionalDate(9), orderKey: try row.optionalText(10),
            number: try row.count(16), holder: UInt64(bitPattern: node))
        readyAt = try row.date(11)
    }
}

extension PostgresStore {
    /// Performs the claims of a group in one transaction. An expired delivery is in the ledger with the same commit. If
    /// the outcome of the commit is unknown, its leases are found by a later sweep.
    func perform(_ orders: [ClaimOrder]) throws(CommitFailure) -> [Claimed] {
        try commit(on: .claims) { transaction, effects in
            let begun = ContinuousClock.now
            var claims = try claim(orders, in: transaction)
            let took = ContinuousClock.now - begun
            for position in claims.indices { claims[position].took = took }
            var moves = DeliveryMoves()
            for (order, claimed) in zip(orders, claims) where claimed.expired > 0 {
                moves.end(.expired, of: order.destination, claimed.expired)
            }
            try moves.write(in: transaction)
            effects.ends = moves.ends
            return claims
        }
    }

    /// One round trip for the whole group. No lock is waited for, so the order of the destinations does not matter.
    private func claim(_ orders: [ClaimOrder], in transaction: PostgresTransaction) throws -> [Claimed] {
        let now = transaction.now.milliseconds
        let statements = orders.flatMap { order in
            var order = order
            order.floor = floors.valid(order.floor)
            guard order.isOrdered else {
                return [
                    ClaimStatement.unordered(order, node: transaction.node, at: now),
                    ClaimStatement.nextDue(order.destination, after: now),
                ]
            }
            return [
                ClaimStatement.lock(order.destination),
                ClaimStatement.ordered(
                    order, limit: order.limit, after: order.after, upTo: order.upTo, node: transaction.node, at: now),
                ClaimStatement.nextLoose(order.destination, after: now),
            ]
        }
        var results = try transaction.run(all: statements)[...]
        return try orders.map { order in
            let lock = order.isOrdered ? results.removeFirst().first : nil
            var claimed = try Claimed(
                results.removeFirst(), order, node: transaction.node, lastAssigned: try lock?.number(1) ?? 0,
                isBusy: try order.isOrdered && lock?.text(0) != "true")
            let next = results.removeFirst().first
            claimed.nextDue = [claimed.nextDue, try next?.optionalDate(0)].compactMap(\.self).min()
            if !order.isOrdered { claimed.hasKeys = try next?.flag(1) ?? false }
            return claimed
        }
    }
}
