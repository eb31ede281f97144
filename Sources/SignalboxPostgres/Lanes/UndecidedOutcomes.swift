import SignalboxStore
import Synchronization

/// Settlements whose commit was reported as undecided, until they are retried. If that commit took place after all,
/// the lease is no longer held, but the outcome is recorded and not lost.
///
/// Without a commit, the lease is still held: its row names this node, and its lane knows it, so that no sweep frees
/// it. The second try then records the outcome. It is lost only if other nodes took over meanwhile. A class because it
/// is shared state; it has at most the leases of this node.
final class UndecidedOutcomes: Sendable {
    private let fences = Mutex<[Int64: Lease.Fence]>([:])

    /// Remembers the leases of a commit whose outcome is not known.
    func add(_ leases: [Lease]) {
        fences.withLock { fences in for lease in leases { fences[lease.delivery] = lease.fence } }
    }

    /// Forgets leases, after a later commit.
    func remove(_ leases: [Lease]) {
        fences.withLock { fences in
            guard !fences.isEmpty else { return }
            for lease in leases where fences[lease.delivery] == lease.fence { fences[lease.delivery] = nil }
        }
    }

    /// Those of the leases that were added.
    func known(among leases: [Lease]) -> [Lease] {
        fences.withLock { fences in
            fences.isEmpty ? [] : leases.filter { fences[$0.delivery] == $0.fence }
        }
    }

    /// Those of the leases whose attempt has a record. A takeover leaves another record: an interrupted attempt.
    static func recorded(_ leases: [Lease], in transaction: PostgresTransaction) throws -> Set<Int64> {
        guard !leases.isEmpty else { return [] }
        let rows = try transaction.run(
            """
            SELECT i.id FROM unnest($1, $2) AS i (id, attempt)
            WHERE EXISTS (
                SELECT FROM deliveries d WHERE d.id = i.id AND d.attempts = i.attempt
                    AND d.error IS DISTINCT FROM 'interrupted'
            ) OR EXISTS (
                SELECT FROM attempts a WHERE a.delivery = i.id AND a.number = i.attempt
                    AND a.error IS DISTINCT FROM 'interrupted'
            )
            """,
            [.numbers(leases.map(\.delivery)), .numbers(leases.map { Int64($0.earlier + 1) })])
        return Set(try rows.map { try $0.number(0) })
    }
}
