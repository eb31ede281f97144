import Dispatch
import Foundation
import SignalboxStore
import Synchronization

/// The parts of a store that write, each on a connection of its own. Raw values are stored in `marks`.
enum WriterLane: Int64, CaseIterable, Sendable {
    /// Appends, which sync while the other one fills.
    case appends = 0
    case secondAppends = 1
    case settlements = 2
    case claims = 3
    case decisions = 4
    /// Everything else.
    case others = 5

    /// Whether the lane's transactions append events.
    var acceptsEvents: Bool { self == .appends || self == .secondAppends }

    /// Settings of the lane's session. The statements about leases touch a few rows by their keys. The planner cannot
    /// know that: it expects a `LIMIT` that is an argument to return a tenth of the table. With plans for each
    /// argument, these statements would read whole tables next to a long queue.
    ///
    /// A claim finds rows by the keys of rows that it has read. A settlement gets the numbers of its rows as arguments:
    /// a nested loop, which the planner prefers if it expects few rows, would compare each row with each argument.
    var settings: [String] {
        let all = ["plan_cache_mode=force_generic_plan", "enable_seqscan=off", "enable_mergejoin=off"]
        switch self {
        case .settlements: return all + ["enable_nestloop=off"]
        case .claims: return all + ["enable_hashjoin=off"]
        case .appends, .secondAppends, .decisions, .others: return []
        }
    }
}

/// Runs transactions on one connection, one after another, and finds out how each of them ended.
///
/// Every transaction raises the number of its lane in `marks` by one. Three rules follow. After a connection was lost
/// during COMMIT, the number says whether the transaction was committed. A node that was declared gone finds its marks
/// closed, so none of its transactions commits any more. A server that lost confirmed commits in a failover has a
/// smaller number, and the node begins anew. A class because it owns the connection; calls are serialised by a lock
/// that blocks, so it is called from threads of the store only.
final class PostgresWriter: Sendable {
    private struct State {
        var connection: PostgresConnection?
        /// The incarnation that the number counts for, and its key.
        var node: Int64 = 0
        var key = ""
        /// The number of the last transaction that is known to be committed.
        var number: Int64 = 0
        /// A COMMIT was sent and its outcome is not known yet.
        var isUndecided = false
    }

    /// How often a transaction that met a deadlock or a lock is run again.
    private static let mostRuns = 8

    let lane: WriterLane
    private let target: PostgresTarget
    let membership: NodeMembership
    private let clock: @Sendable () -> Date
    private let lock = NSLock()
    // Unchecked: used under `lock` only. A `Mutex` would not let a body return what is not `Sendable`.
    private nonisolated(unsafe) var state = State()
    /// Whether a transaction ended without its outcome, and none has found it out since.
    private let wasLeftOpen = Atomic<Bool>(false)
    // A queue and not a task: libpq's calls block, which Swift's pool of threads must not.
    private let queue: DispatchQueue

    init(
        _ lane: WriterLane, of target: PostgresTarget, _ membership: NodeMembership, now: @escaping @Sendable () -> Date
    ) {
        (self.lane, self.target, self.membership, clock) = (lane, target.with(lane.settings), membership, now)
        queue = DispatchQueue(label: "signalbox.postgres.\(lane)")
    }

    /// Runs a transaction off Swift's threads and returns once it is committed. `body` may run several times; only the
    /// result of the last run counts, so it must change nothing outside.
    func write<T: Sendable>(_ body: @escaping @Sendable (PostgresTransaction) throws -> T) async throws(StoreError) -> T
    {
        try await queue.run { () throws(StoreError) in
            do throws(CommitFailure) { return try self.run(body) } catch { throw error.reason }
        }
    }

    /// Finds out how a COMMIT ended whose outcome was left open, on another thread. The next transaction would find
    /// out, but a lane may have none for long, and leases of that COMMIT would wait. A failure leaves it to a later
    /// call.
    func resolveLater() {
        guard wasLeftOpen.load(ordering: .relaxed) else { return }
        queue.async { [self] in
            // A lane that works finds out by itself.
            guard lock.try() else { return }
            defer { lock.unlock() }
            do {
                if state.isUndecided { _ = try connected(&state) }
                wasLeftOpen.store(false, ordering: .relaxed)
            } catch { state.connection = nil }
        }
    }

    /// Runs a transaction on this thread, and returns once it is committed. Throws when it was not committed, or with
    /// ``StoreError/undecided(after:)`` when its outcome could not be found out within ``StoreLimits/patience``.
    func run<T>(_ body: (PostgresTransaction) throws -> T) throws(CommitFailure) -> T {
        lock.lock()
        defer { lock.unlock() }
        var runs = 0
        let end = ContinuousClock.now + StoreLimits.patience
        while true {
            runs += 1
            do {
                return try attempt(body, &state, until: end)
            } catch let failure as PostgresFailure where failure.isTransient && runs < Self.mostRuns {
                continue
            } catch let failure as PostgresFailure where failure.endsConnection && runs < 3 {
                state.connection = nil
            } catch is NodeIsGone where runs < 3 {
                membership.replace(state.node)
            } catch { throw CommitFailure(error) }
        }
    }

    private func attempt<T>(
        _ body: (PostgresTransaction) throws -> T, _ state: inout State, until end: ContinuousClock.Instant
    ) throws -> T {
        let connection = try connected(&state)
        let number = state.number + 1
        let transaction = PostgresTransaction(
            connection, node: state.node, lane: lane, at: clock(),
            opening: [
                PostgresStatement("BEGIN"),
                PostgresStatement(Self.mark, [.number(state.node), .number(lane.rawValue), .number(number)]),
            ])
        do {
            let result = try body(transaction)
            guard transaction.hasBegun else { return result }
            return try commit(result, number, connection, &state, until: end)
        } catch {
            if transaction.hasBegun { connection.rollBack() }
            throw error
        }
    }

    /// Returns no row when the node was declared gone; otherwise the oldest version that may write.
    static let mark = """
        UPDATE marks SET number = $3 WHERE node = $1 AND lane = $2 AND number = $3 - 1 AND NOT is_closed
        RETURNING (SELECT min_writer FROM meta)
        """

    /// Sends COMMIT. When the connection is lost meanwhile, finds out how it ended; other calls of the lane wait, since
    /// its next transaction depends on the number.
    private func commit<T>(
        _ result: T, _ number: Int64, _ connection: PostgresConnection, _ state: inout State,
        until end: ContinuousClock.Instant
    ) throws -> T {
        do throws(PostgresFailure) {
            // The time limit of statements would end the wait for a standby, and the server would report a commit that
            // only the primary has. The limit of the connection still applies, and leaves the outcome open.
            _ = try connection.run(all: [
                PostgresStatement("SET LOCAL statement_timeout = 0"), PostgresStatement("COMMIT"),
            ])
            state.number = number
            membership.record(number, of: lane, by: state.node)
            return result
        } catch {
            guard error.endsConnection else { throw error }
            (state.connection, state.isUndecided) = (nil, true)
            membership.countUnknownCommit()
            while state.isUndecided, ContinuousClock.now < end { decide(&state) }
            guard !state.isUndecided else {
                wasLeftOpen.store(true, ordering: .relaxed)
                throw CommitFailure(reason: .undecided(after: StoreLimits.patience), mayBeOfOneWrite: false)
            }
            guard state.number >= number else { throw error }
            membership.record(number, of: lane, by: state.node)
            return result
        }
    }

    /// Tries to find out how the last COMMIT ended.
    private func decide(_ state: inout State) {
        do {
            let connection = try PostgresConnection(target)
            // A smaller one is of a server that lost commits: `connected` finds it again.
            state.number = max(state.number, try number(of: state, on: connection) ?? 0)
            state.isUndecided = false
        } catch { usleep(100_000) }
    }

    /// The connection of the present incarnation. A new one adopts the number of the lane, which decides about a COMMIT
    /// whose outcome is not known. Throws ``NodeIsGone`` when the server has lost commits of this node.
    private func connected(_ state: inout State) throws -> PostgresConnection {
        if let connection = state.connection, connection.isOpen, try adopt(membership.registration(), &state) {
            return connection
        }
        let connection = try PostgresConnection(target)
        if state.isUndecided {
            // About the incarnation that sent the COMMIT, even if it was declared gone since.
            let found = try number(of: state, on: connection) ?? state.number
            if found > state.number { membership.requestSweep() }
            // A smaller one is of a server that lost commits, which is found below.
            (state.number, state.isUndecided) = (max(state.number, found), false)
        }
        _ = try adopt(membership.registration(), &state)
        guard let found = try number(of: state, on: connection), found >= state.number,
            try !membership.hasLostCommits(of: state.node, on: connection)
        else {
            membership.replace(state.node)
            throw NodeIsGone()
        }
        state.number = found
        state.connection = connection
        return connection
    }

    /// Takes over another incarnation, whose numbers begin at 0. False when the outcome of a COMMIT must be found out
    /// first.
    private func adopt(_ new: (node: Int64, key: String), _ state: inout State) throws -> Bool {
        guard !state.isUndecided else { return false }
        if new != (state.node, state.key) { (state.node, state.key, state.number) = (new.node, new.key, 0) }
        return true
    }

    /// The number of the lane; nil for an unknown node, even if another incarnation has its number. The lock waits for
    /// a transaction of a lost connection that is still running.
    private func number(of state: State, on connection: PostgresConnection) throws -> Int64? {
        try connection.run(
            """
            SELECT number FROM marks WHERE node = $1 AND lane = $2
                AND EXISTS (SELECT FROM nodes WHERE id = $1 AND key = $3)
            FOR UPDATE
            """,
            [.number(state.node), .number(lane.rawValue), .text(state.key)]
        ).first?.number(0)
    }
}
