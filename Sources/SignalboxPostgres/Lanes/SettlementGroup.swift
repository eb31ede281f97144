import Foundation
import SignalboxNotification
import SignalboxStore

/// A write about leases, which shares its transaction with others.
enum LeaseWrite: Sendable {
    /// The outcome of one attempt.
    case settle(Settlement)
    /// Leases whose attempts were never begun.
    case giveBack([Lease])
}

/// The settlements of one transaction, sorted by the next state of their deliveries. Pure.
struct SettlementGroup {
    /// Deliveries that end with an attempt. If a delivery permits one attempt and it failed, the delivery is here as
    /// expired and also in ``retried``: the second statement finds the row only if an operator allowed another
    /// attempt.
    private(set) var ended: [SettlementStatement.Made] = []
    /// Deliveries that wait for another attempt.
    private(set) var retried: [SettlementStatement.Made] = []
    /// Leases without an attempt. `due`: nil leaves the due time unchanged; `reason`: of a postponement.
    private(set) var returned: [(lease: Lease, due: Date?, reason: String?)] = []
    /// Deliveries that expired before the attempt.
    private(set) var expired: [Lease] = []
    /// The first settlement of each lease of this node.
    private(set) var settlements: [Settlement] = []
    /// The first write of each delivery. A second one comes after the end of the lease.
    private var seen: Set<Int64> = []
    private let node: Int64
    private let now: Date

    /// `node`: only its own leases can be held.
    init(_ writes: [LeaseWrite], node: Int64, at now: Date) {
        (self.node, self.now) = (node, now)
        for write in writes {
            switch write {
            case .settle(let settlement): add(settlement)
            case .giveBack(let leases):
                for lease in leases where accepts(lease) { returned.append((lease, nil, nil)) }
            }
        }
        // Rows are locked in this order, which is the same in every transaction.
        ended.sort { $0.lease.delivery < $1.lease.delivery }
        retried.sort { $0.lease.delivery < $1.lease.delivery }
        returned.sort { $0.lease.delivery < $1.lease.delivery }
        expired.sort { $0.delivery < $1.delivery }
    }

    /// False for leases of an earlier incarnation, which are lost, and for a second write of a delivery.
    private mutating func accepts(_ lease: Lease) -> Bool {
        lease.fence.holder == UInt64(bitPattern: node) && seen.insert(lease.delivery).inserted
    }

    private mutating func add(_ settlement: Settlement) {
        let lease = settlement.lease
        guard accepts(lease) else { return }
        settlements.append(settlement)
        func made(_ state: DeliveryRecord.State, _ due: Date, _ status: Int?, _ reason: String?)
            -> SettlementStatement.Made
        {
            .init(lease: lease, state: state, due: due, status: status, reason: reason, attempt: settlement.attempt)
        }
        switch settlement.outcome {
        case .delivered(let status): ended.append(made(.delivered, now, status, nil))
        case .dead(let status, let reason): ended.append(made(.dead, now, status, reason))
        case .retry(let wait, let status, let reason):
            // A delivery with one attempt ends with it.
            if lease.notAfter == .afterFirstAttempt { ended.append(made(.expired, now, status, reason)) }
            retried.append(made(.waiting, now + wait, status, reason))
        case .postponed(let wait, let reason):
            returned.append((lease, settlement.outcome.keepsDue ? nil : now + wait, reason))
        case .expired: expired.append(lease)
        case .returned: returned.append((lease, nil, nil))
        }
    }

    /// The statements of the kinds that occur. ``recorded(_:)`` expects their results in this order.
    var statements: [PostgresStatement] {
        var all: [PostgresStatement] = []
        if !ended.isEmpty { all.append(SettlementStatement.ended(ended, node: node)) }
        if !retried.isEmpty { all.append(SettlementStatement.retried(retried, node: node)) }
        if !returned.isEmpty { all.append(SettlementStatement.returned(returned, node: node)) }
        if !expired.isEmpty { all.append(SettlementStatement.expired(expired, node: node, at: now)) }
        return all
    }

    /// The end of a lease that was held.
    struct End {
        let lease: Lease
        let state: DeliveryRecord.State
        /// The time of the next attempt; nil for none.
        let due: Date?
    }

    /// The leases that were held, by delivery; from the results of ``statements``.
    func recorded(_ results: [PostgresRows]) throws -> [Int64: End] {
        var results = results[...]
        var recorded: [Int64: End] = [:]
        func record(_ ends: [End]) throws {
            guard !ends.isEmpty else { return }
            let ids = Set(try results.removeFirst().map { try $0.number(0) })
            for end in ends where ids.contains(end.lease.delivery) { recorded[end.lease.delivery] = end }
        }
        try record(ended.map { End(lease: $0.lease, state: $0.state, due: nil) })
        try record(retried.map { End(lease: $0.lease, state: .waiting, due: $0.due) })
        try record(returned.map { End(lease: $0.lease, state: .waiting, due: $0.due ?? now) })
        try record(expired.map { End(lease: $0, state: .expired, due: nil) })
        return recorded
    }

    /// The result of each write: `lost` for a settlement whose lease is no longer held, or was ended by an earlier
    /// write of the group. `former`: leases whose outcomes an earlier commit recorded.
    func results(of writes: [LeaseWrite], _ recorded: [Int64: End], former: [Lease]) -> [SettlementResult] {
        var left = recorded.mapValues(\.lease.fence)
        for lease in former { left[lease.delivery] = lease.fence }
        return writes.map { write in
            switch write {
            case .settle(let settlement):
                let lease = settlement.lease
                return left[lease.delivery] == lease.fence && left.removeValue(forKey: lease.delivery) != nil
                    ? .recorded : .lost
            case .giveBack(let leases):
                for lease in leases { left[lease.delivery] = nil }
                return .recorded
            }
        }
    }
}

extension PostgresStore {
    /// Performs the writes of a group in one transaction. Returns the result of each: `lost` for a settlement whose
    /// lease is no longer held. When the outcome of the commit is unknown, remembers the leases: a second settlement
    /// then distinguishes a recorded outcome from a lost one.
    func perform(_ writes: [LeaseWrite]) throws(CommitFailure) -> [SettlementResult] {
        let leases = writes.flatMap(\.leases)
        let results: [SettlementResult]
        do throws(CommitFailure) { results = try record(writes) } catch {
            if case .undecided = error.reason { undecided.add(writes.compactMap(\.settlement?.lease)) }
            throw error
        }
        undecided.remove(leases)
        lost.add(results.count { $0 == .lost })
        return results
    }

    /// Settlements, the events that follow them, disabled destinations and the ledger have one commit. Memory changes
    /// after it.
    private func record(_ writes: [LeaseWrite]) throws(CommitFailure) -> [SettlementResult] {
        let uncertain = undecided.known(among: writes.flatMap(\.leases))
        let (results, disabled) = try commit(on: .settlements) { transaction, effects in
            let group = SettlementGroup(writes, node: transaction.node, at: transaction.now)
            let statements = group.statements
            let recorded = try group.recorded(statements.isEmpty ? [] : transaction.run(all: statements))
            let missing = uncertain.filter { recorded[$0.delivery]?.lease.fence != $0.fence }
            let former = try UndecidedOutcomes.recorded(missing, in: transaction)
            var batch = AppendBatch(self, transaction)
            // Even after a failure, because the batch reserves room in memory.
            defer { effects = batch.effects }
            for end in recorded.values where end.state != .waiting {
                batch.moves.end(end.state, of: end.lease.destination)
            }
            for lease in writes.flatMap(\.leases) {
                batch.effects.released.append((lease, recorded[lease.delivery]?.due))
            }
            let follows = group.settlements.filter { recorded[$0.lease.delivery] != nil }
            let disabled = try Self.disable(follows, in: transaction)
            let successors = follows.compactMap(\.successor)
            if !successors.isEmpty { try batch.insert(successors) }
            try batch.finish()
            let results = group.results(of: writes, recorded, former: missing.filter { former.contains($0.delivery) })
            return (results, disabled)
        }
        for destination in disabled { changeStatuses { $0.deactivate(destination) } }
        return results
    }

    /// Disables the destinations that asked for it; returns them in the order in which they are locked.
    private static func disable(
        _ settlements: [Settlement], in transaction: PostgresTransaction
    ) throws -> [DestinationName] {
        let reasons = Dictionary(
            settlements.compactMap { settlement in settlement.disabling.map { (settlement.lease.destination, $0) } },
            uniquingKeysWith: { $1 })
        guard !reasons.isEmpty else { return [] }
        let sorted = reasons.sorted { $0.key.name < $1.key.name }
        try transaction.run(
            """
            INSERT INTO destinations (name, state, reason, since)
            SELECT name, 'disabled', reason, $3 FROM unnest($1, $2) AS i (name, reason)
            ON CONFLICT (name) DO UPDATE SET state = excluded.state, reason = excluded.reason, since = excluded.since,
                until = NULL
            """, [.texts(sorted.map(\.key.name)), .texts(sorted.map(\.value)), .time(transaction.now)])
        return sorted.map(\.key)
    }
}

extension LeaseWrite {
    /// Nil for leases that are given back: that is not repeated after a failure.
    fileprivate var settlement: Settlement? { if case .settle(let settlement) = self { settlement } else { nil } }

    /// The leases that the write ends.
    fileprivate var leases: [Lease] {
        switch self {
        case .settle(let settlement): [settlement.lease]
        case .giveBack(let leases): leases
        }
    }
}
