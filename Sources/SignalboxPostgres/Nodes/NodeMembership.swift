import Foundation
import SignalboxNotification
import SignalboxStore
import Synchronization

/// How operators tell nodes apart.
package struct NodeDescription: Sendable, Equatable {
    /// Such as the name of the host.
    package var name: String = ProcessInfo.processInfo.hostName
    /// The version of the program.
    package var version: String = ""
    /// The digest of the config; nil for a command. Equal digests mean equal configs; nodes whose digests differ for
    /// long are reported.
    package var config: String?
}

/// A node as the heartbeat of another one sees it.
struct LiveNode: Equatable {
    /// `nodes.id`: larger for a node that began later.
    let id: Int64
    /// The destinations that it has lanes for; nil for a gateway of the first version, which may have any.
    let lanes: Set<DestinationName>?

    /// Whether it counts for the division of a destination's limit.
    func delivers(to destination: DestinationName) -> Bool { lanes?.contains(destination) ?? true }

    /// Decodes rows of a node and one of its lanes, in the order of the nodes. Columns: number, whether it told its
    /// lanes, and the name of one lane or NULL.
    static func all(_ rows: PostgresRows) throws -> [LiveNode] {
        var found: [(id: Int64, lanes: Set<DestinationName>?)] = []
        for row in rows {
            let id = try row.number(0)
            if found.last?.id != id { found.append((id, try row.flag(1) ? [] : nil)) }
            if try row.optionalText(2) != nil { found[found.count - 1].lanes?.insert(try row.destination(2)) }
        }
        return found.map { LiveNode(id: $0.id, lanes: $0.lanes) }
    }
}

/// The place of this process among the nodes of a database: its incarnation, and how long its leases are safe.
///
/// A node is registered at its first write. From the first open lane on, its heartbeat keeps it alive. A process
/// without lanes leases nothing and needs none: when others declare it gone, its next write begins a new incarnation.
/// A class because the writers, the heartbeat and the lanes share it.
final class NodeMembership: Sendable {
    /// How long a node lives without a heartbeat, by the server's clock.
    static let lifetime: Duration = .seconds(15)
    /// How long after the sending of its last heartbeat a node begins attempts. The rest is for requests that are about
    /// to be sent, and for clocks that run apart.
    static let safety: Duration = .seconds(12)

    private struct State {
        /// The row in `nodes`; nil before the first registration, and after the incarnation has been declared gone.
        var node: Int64?
        /// Tells the incarnation from another one with the same number, after a failover that lost commits.
        var key = ""
        /// When the last heartbeat that the server confirmed was sent.
        var sentAt: ContinuousClock.Instant?
        /// Whether the incarnation has had a heartbeat since it began.
        var isConfirmed = false
        /// Why the last heartbeat failed; nil after one that the server confirmed.
        var failure: StoreError?
        /// All live nodes with lanes, in their order.
        var live: [LiveNode] = []
        /// The number of the last transaction of each writer that is known to be committed.
        var committed: [WriterLane: Int64] = [:]
        /// True from a request until a tick takes it.
        var wantsSweep = false
        /// Since when live nodes have different configs; nil while they are equal.
        var configsDifferSince: ContinuousClock.Instant?
        /// The counts that the leading node wrote last; nil before the first heartbeat.
        var report: FleetReport?
        /// Until when this node has the duties; nil if another one had them at the last heartbeat.
        var leadsUntil: ContinuousClock.Instant?
        var description = NodeDescription()
        /// Called when an incarnation ends.
        var forget: (@Sendable () -> Void)?
    }

    private let target: PostgresTarget
    private let state = Mutex(State())
    /// Locked during a registration.
    private let registering = Mutex(())
    private let clock: @Sendable () -> ContinuousClock.Instant
    /// Commits whose outcome had to be found out after the connection was lost.
    let unknownCommits = Counter()
    /// Leases of other nodes that this one freed.
    let takenOver = Counter()

    /// `clock`: advances while the process is stopped; replaced by tests.
    init(_ target: PostgresTarget, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        (self.target, self.clock) = (target, clock)
    }

    /// The present incarnation; registers one if there is none. Blocks. Throws when the database cannot be reached.
    func current() throws -> Int64 { try registration().node }

    /// Like ``current()``, with the key of the incarnation. Throws ``WriterIsTooOld`` when no node of this version may
    /// write, and ``StoreError/refused(reason:remedy:)`` while a copy is filling the database. Blocks during the
    /// registration of another thread. A registration whose answer is lost leaves a node that leases nothing, and that
    /// others declare gone.
    func registration() throws -> (node: Int64, key: String) {
        if let incarnation { return incarnation }
        // One thread registers while the others wait for it. Not under the lock of the state, which lanes and requests
        // use: a database that does not answer must not block them.
        return try registering.withLock { _ in
            if let incarnation { return incarnation }
            let description = description
            let (sentAt, key) = (clock(), String(UInt64.random(in: 0 ... .max), radix: 36))
            let connection = try PostgresConnection(target)
            let results = try connection.run(all: [
                // Does not wait for a standby that is down: each attempt would leave a session behind. The key tells
                // the incarnation from another one if a failover loses it.
                PostgresStatement("SELECT set_config('synchronous_commit', 'local', true)"),
                PostgresStatement(
                    Self.registration,
                    [
                        .numbers(WriterLane.allCases.map(\.rawValue)), .text(description.name),
                        .text(description.version), .text(description.config), .text(key),
                        .number(Int64(PostgresSchema.version)),
                    ]),
            ])
            let rows = results[1]
            guard let node = try rows.first?.number(0) else { throw try refusal(connection) }
            state.withLock { state in
                (state.node, state.key, state.sentAt, state.isConfirmed) = (node, key, sentAt, false)
            }
            return (node, key)
        }
    }

    /// Why no node was registered.
    private func refusal(_ connection: PostgresConnection) throws -> any Error {
        let version = PostgresValue.number(Int64(PostgresSchema.version))
        let mayWrite = try connection.run("SELECT min_writer <= $1 FROM meta", [version]).first?.flag(0) ?? false
        return mayWrite ? CopyAdmission.incomplete(target) : WriterIsTooOld()
    }

    /// Adds the node, and a mark with the number 0 for each writer, `$1`. No row if `meta.min_writer` is above `$6`, or
    /// while a copy is filling the database.
    private static let registration = """
        WITH node AS (
            INSERT INTO nodes (name, version, config, key, started_at, seen_at, is_live)
            SELECT $2, $3, $4, $5, extract(epoch FROM clock_timestamp()) * 1000, clock_timestamp(), true
            FROM meta WHERE min_writer <= $6 AND NOT EXISTS (SELECT FROM copies WHERE NOT is_done) RETURNING id
        ), made AS (
            INSERT INTO marks (node, lane, number) SELECT id, lane, 0 FROM node, unnest($1) AS lane
        )
        SELECT id FROM node
        """

    /// Ends an incarnation in memory, with its leases. Has no effect if another one began since. The next write
    /// registers another one.
    func replace(_ node: Int64) {
        state.withLock { state in
            guard state.node == node else { return }
            (state.node, state.sentAt, state.leadsUntil) = (nil, nil, nil)
            state.committed = [:]
            // Under the lock: before the next incarnation leases anything.
            state.forget?()
        }
    }

    /// `forget`: called on any thread when the leases of an incarnation are no longer held. It must not block, and must
    /// not use the membership.
    func onReplacement(_ forget: @escaping @Sendable () -> Void) { state.withLock { $0.forget = forget } }

    /// Describes the node at its next heartbeat.
    func describe(_ description: NodeDescription) { state.withLock { $0.description = description } }

    /// As it was set last; the server may not have it yet.
    var description: NodeDescription { state.withLock(\.description) }

    /// The number and the key of the present incarnation; nil for none.
    var incarnation: (node: Int64, key: String)? { state.withLock { state in state.node.map { ($0, state.key) } } }

    // MARK: Commits

    /// Records the last transaction of a writer that is known to be committed.
    func record(_ number: Int64, of lane: WriterLane, by node: Int64) {
        state.withLock { state in
            if state.node == node { state.committed[lane] = number }
        }
    }

    /// Whether the server has lost a commit of any writer of the incarnation, in a failover. The numbers of deliveries
    /// that were lost are given again, so that a lease in memory could name another delivery. A mark that is missing
    /// counts as 0. One round trip, and none before the first commit.
    func hasLostCommits(of node: Int64, on connection: PostgresConnection) throws -> Bool {
        // Before the read, which then sees at least these.
        let known = state.withLock { $0.node == node ? $0.committed : [:] }
        guard !known.isEmpty else { return false }
        var numbers: [Int64: Int64] = [:]
        for row in try connection.run("SELECT lane, number FROM marks WHERE node = $1", [.number(node)]).map({ $0 }) {
            numbers[try row.number(0)] = try row.number(1)
        }
        return known.contains { lane, number in numbers[lane.rawValue] ?? 0 < number }
    }

    // MARK: Heartbeats

    /// The result of a heartbeat, for the parts of this process that wait.
    enum News {
        case none
        /// Attempts may begin that could not before, or places are divided anew.
        case lanes
        /// Other nodes came or went, with their parts of the lanes and of the downloads.
        case nodes
    }

    /// Records a heartbeat that the server confirmed. Has no effect for an incarnation that has been replaced since it
    /// was sent. `leads`: whether it has the duties.
    func confirm(_ node: Int64, sentAt: ContinuousClock.Instant, live: [LiveNode], leads: Bool) -> News {
        let now = clock()
        return state.withLock { state in
            guard state.node == node else { return .none }
            let wasSafe = state.isConfirmed && state.sentAt.map { now - $0 < Self.safety } ?? false
            let former = state.live
            (state.sentAt, state.live, state.isConfirmed, state.failure) = (sentAt, live, true, nil)
            state.leadsUntil = leads ? sentAt + Self.safety : nil
            if !former.isEmpty, former.map(\.id) != live.map(\.id) { return .nodes }
            return wasSafe && former == live ? .none : .lanes
        }
    }

    /// Records a heartbeat that failed.
    func fail(with error: StoreError) { state.withLock { $0.failure = error } }

    /// Why the last heartbeat failed; nil if it did not.
    var failure: StoreError? { state.withLock(\.failure) }

    /// Whether attempts may begin: the last heartbeat is recent enough that no other node has declared this one gone.
    /// The registration counts as a heartbeat.
    var isSafe: Bool {
        let now = clock()
        return state.withLock { state in
            state.node != nil && state.sentAt.map { now - $0 < Self.safety } ?? false
        }
    }

    /// Whether the node still holds what this holder leased, and may begin attempts.
    func isHolder(_ holder: UInt64) -> Bool {
        isSafe && state.withLock { $0.node.map { UInt64(bitPattern: $0) == holder } ?? false }
    }

    /// Records the counts of the fleet. `configs`: distinct configs of live nodes.
    func adopt(_ report: FleetReport?, configs: Int) {
        let now = clock()
        state.withLock { state in
            state.configsDifferSince = configs > 1 ? state.configsDifferSince ?? now : nil
            if let report { state.report = report }
        }
    }

    /// The counts of the fleet, and how long configs have differed.
    var fleet: (report: FleetReport?, configsDifferFor: Duration?) {
        let now = clock()
        return state.withLock { state in (state.report, state.configsDifferSince.map { now - $0 }) }
    }

    /// How long ago the last confirmed heartbeat was sent; nil for none. The registration counts as one.
    var age: Duration? { state.withLock { $0.sentAt }.map { clock() - $0 } }

    /// Whether this node has the duties of the fleet. Ends ``safety`` after the heartbeat, before another node can take
    /// the duties over.
    var leads: Bool {
        let now = clock()
        return state.withLock { $0.leadsUntil.map { now < $0 } ?? false }
    }

    /// The position of this node among the live nodes with a lane for a destination, and their number. Nil until a
    /// heartbeat has told the others that this node has one. Positions begin with 0, in the order of the nodes'
    /// numbers.
    func rank(for destination: DestinationName) -> (position: Int, count: Int)? {
        state.withLock { state in
            guard let node = state.node, state.isConfirmed else { return nil }
            let nodes = state.live.filter { $0.delivers(to: destination) }
            return nodes.firstIndex { $0.id == node }.map { ($0, nodes.count) }
        }
    }

    // MARK: Sweeps

    func countUnknownCommit() { unknownCommits.add() }

    /// After an outcome that was reported as undecided turned out to be a commit: rows may be leased to this node that
    /// no lane knows. Requests that arrive before ``takeSweepRequest()`` lead to one sweep.
    func requestSweep() { state.withLock { $0.wantsSweep = true } }

    /// Whether a sweep was requested since the last call.
    func takeSweepRequest() -> Bool { state.withLock { exchange(&$0.wantsSweep, with: false) } }
}
