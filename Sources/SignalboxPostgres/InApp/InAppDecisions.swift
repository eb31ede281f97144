import SignalboxNotification
import SignalboxStore

/// The commit group of decisions: while one group is committed, the next one gathers. A class because it is shared
/// state.
final class InAppDecisions: Sendable {
    /// The most decisions in one commit: each holds two locks of the server, which has room for some thousands.
    private static let limit = 256

    private let commits: CommitGroup<InAppDecision, Void>

    init(_ reference: StoreReference) {
        commits = CommitGroup(limit: Self.limit, patience: StoreLimits.patience) {
            (decisions) throws(CommitFailure) in
            try reference.store().decide(decisions)
            return decisions.map { _ in }
        }
    }

    /// Does not block. Calls `done` once, after the commit, on the thread of the commits or of the deadlines; it must
    /// not block that thread. Fails with ``StoreError/undecided(after:)`` when the outcome of the commit is not known
    /// in time.
    func submit(_ decision: InAppDecision, _ done: @escaping @Sendable (Result<Void, StoreError>) -> Void) {
        commits.submit(decision, hasDeadline: true, done)
    }
}

extension PostgresStore {
    /// How often a group is run again because its changes concern rows that were not read.
    private static let mostRuns = 16

    /// Makes decisions in their order, and commits their rows and events in one transaction. Locks and reads the rows
    /// of all decisions first, so that decisions about a device or a user never overlap, on any node. Each run is a
    /// transaction of its own, and steps run again with it.
    func decide(_ decisions: [InAppDecision]) throws(CommitFailure) {
        var keys = InAppKeys(decisions)
        for _ in 0..<Self.mostRuns {
            let known = keys
            let missing: InAppKeys? = try commit(on: .decisions) { transaction, effects in
                try self.decide(decisions, known, in: transaction, &effects)
            }
            guard let missing else { return }
            keys.formUnion(missing)
        }
        // Its steps ask for other rows in each run.
        throw CommitFailure(
            reason: .unavailable(reason: "decisions about in-app messages depend on too many rows"),
            mayBeOfOneWrite: true)
    }

    /// Returns keys that were missing, having written nothing, or nil. A run that finds missing keys commits only its
    /// mark.
    private func decide(
        _ decisions: [InAppDecision], _ keys: InAppKeys, in transaction: PostgresTransaction,
        _ effects: inout WriteEffects
    ) throws -> InAppKeys? {
        var batch = AppendBatch(self, transaction)
        defer { effects = batch.effects }
        var keys = keys
        do {
            let loading = InAppLoading(
                run: { try transaction.run(all: $0) }, now: transaction.now.milliseconds,
                locks: .init(schema: target.schema))
            var rows = try loading.load(&keys)
            var events: [RoutedEvent] = []
            for decision in decisions {
                let step = decision.step(try rows.rows(of: decision.subject, tallies: decision.tallies))
                let missing = rows.missingKeys(of: step.changes, keys)
                guard missing.isEmpty else { throw InAppKeysMissing(missing) }
                rows.apply(step.changes, nextDue: step.nextDue)
                events += step.events
            }
            batch.add(rows.statements(of: transaction.node))
            if !events.isEmpty { try batch.insert(events) }
            try batch.finish()
            return nil
        } catch let missing as InAppKeysMissing {
            return missing.keys
        }
    }
}
