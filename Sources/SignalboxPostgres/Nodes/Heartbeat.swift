import Foundation
import SignalboxNotification
import SignalboxStore
import Synchronization

/// Keeps this node alive, on a thread and a connection of its own, and takes over from nodes that are gone.
///
/// A class because it owns the thread. The thread ends with the store.
final class Heartbeat: Sendable {
    /// Between two heartbeats.
    static let interval: Duration = .seconds(2)
    /// How long the server may take for a heartbeat, which has five statements. Shorter than the lifetime of a node, so
    /// that a second heartbeat is possible within it.
    static let patience: Duration = .seconds(6)

    private let reference: StoreReference
    private let isStarted = Mutex(false)
    /// Locked during a heartbeat.
    private let isEnded = Mutex(false)
    /// Set by ``end()``, and read before each heartbeat.
    private let isOver = Atomic<Bool>(false)
    /// Ends the pause between two heartbeats.
    private let alarm = Alarm()

    init(_ reference: StoreReference) { self.reference = reference }

    /// Makes the next heartbeat due at once: the first one, or one that tells other nodes about a new lane.
    func hurry() {
        start()
        alarm.ring()
    }

    private func start() {
        let isFirst = isStarted.withLock { !exchange(&$0, with: true) }
        guard isFirst else { return }
        let thread = Thread { [reference, alarm, weak self] in
            var pulse = Pulse()
            while true {
                alarm.wait(atMost: Self.interval)
                // Held for the heartbeat only, so that the store can end between two.
                guard let heartbeat = self, !heartbeat.isOver.load(ordering: .acquiring),
                    let store = reference.current
                else { return }
                heartbeat.isEnded.withLock { if !$0 { pulse.beat(store) } }
            }
        }
        thread.name = "signalbox.heartbeat"
        thread.start()
    }

    /// Ends the thread after the present heartbeat.
    func end() {
        isOver.store(true, ordering: .releasing)
        alarm.ring()
    }

    /// Ends the thread, and returns when no heartbeat is in progress. Blocks.
    func finish() {
        isEnded.withLock { $0 = true }
        end()
    }
}

extension NodeMembership {
    /// Why nothing is sent: the last heartbeat is older than ``safety``. Nil for a recent one, and for none.
    /// `isReachable`: of the database.
    func fault(isReachable: Bool) -> StoreError? {
        guard let age, age >= Self.safety else { return nil }
        let failure = failure
        // An operator must change something first.
        if let failure, failure.temporaryReason == nil { return failure }
        let reason = "no heartbeat of this gateway has reached the database for \(age.components.seconds) s"
        guard isReachable else { return .unreachable(reason: reason) }
        if case .unavailable(let cause) = failure { return .unavailable(reason: "\(reason): \(cause)") }
        return .unavailable(reason: reason + "; see the load and the locks of the database")
    }
}

/// The connection of the heartbeat, and its steps. Used by its thread alone.
struct Pulse {
    private var connection: PostgresConnection?
    /// When this node last counted for the fleet.
    private var countedAt: ContinuousClock.Instant?
    /// When the last heartbeat that succeeded was sent, and since when heartbeats succeed again after an outage.
    private var lastAt: ContinuousClock.Instant?
    private var steadyFrom: ContinuousClock.Instant
    /// Heartbeats until the next round of upkeep.
    private var rest = 0
    private var others = OtherHeartbeats()

    /// `steadyFrom`: when it may begin to declare others gone. A node that starts after an outage must not do so before
    /// the others had time to come back.
    init(steadyFrom: ContinuousClock.Instant = .now + NodeMembership.lifetime) { self.steadyFrom = steadyFrom }

    /// One heartbeat, then the takeover from nodes that are gone. Never throws: the next heartbeat repeats a step that
    /// failed. In order: heartbeat and clock, takeover, counts of the fleet, upkeep. Ends the incarnation in memory
    /// when the server no longer knows it. Blocks the thread for ``Heartbeat/patience`` at most in each call of the
    /// server.
    mutating func beat(_ store: PostgresStore) {
        do {
            let sentAt = ContinuousClock.now
            let node = try store.membership.current()
            let connection = try connected(store.target)
            guard let (_, key) = store.membership.incarnation else { return }
            let description = store.membership.description
            let lanes = store.lanes.withHandOff { $0.lanes.keys.map(\.name).sorted() }
            let results = try connection.run(all: Self.statements(node, key, description, lanes))
            guard let row = results[0].first else {
                // Declared gone. The next write, or the next heartbeat, begins anew, unless this version may no longer
                // write: then the other nodes take over.
                return store.membership.replace(node)
            }
            store.clock.sample(try row.number(0), sentAt: sentAt, receivedAt: .now)
            let live = try LiveNode.all(results[2])
            switch store.membership.confirm(node, sentAt: sentAt, live: live, leads: !results[1].isEmpty) {
            case .none: break
            case .lanes: store.lanes.wakeLanes(at: store.now)
            case .nodes: store.wakeAll()
            }
            let heard = try others.silent(results[3], at: .now)
            let silent = isSteady(sentAt) ? heard : []
            // First, because the rest may take long next to a long queue.
            let takeover = Result {
                try takeOver(silent, try results[4].map { try $0.number(0) }, from: sentAt, connection, store)
            }
            // A takeover that fails does not keep the rest from being done.
            guard connection.isOpen else { return try takeover.get() }
            if counts(store) { _ = try connection.run(FleetCounts.take, [.time(store.now)]) }
            let (report, configs) = try FleetCounts.read(on: connection)
            store.membership.adopt(report, configs: configs)
            if !results[1].isEmpty { try upkeep(connection) }
            try takeover.get()
        } catch {
            connection = nil
            store.membership.fail(with: StoreError(error))
        }
    }

    /// Takes over from nodes that are gone. `sentAt`: of the heartbeat, after which the next one is due.
    private func takeOver(
        _ silent: [Int64], _ absent: [Int64], from sentAt: ContinuousClock.Instant, _ connection: PostgresConnection,
        _ store: PostgresStore
    ) throws {
        guard !silent.isEmpty || !absent.isEmpty else { return }
        let freed = try Takeover(connection).run(silent: silent, absent: absent, until: sentAt + Heartbeat.interval)
        store.membership.takenOver.add(freed)
        if freed > 0 { store.wakeAll() }
    }

    /// Whether this node may declare others gone. After an outage, for example a failover, each node gets its lifetime
    /// to come back: the first one must not take over from all the others. The start of the server does not tell,
    /// because a standby began long before.
    private mutating func isSteady(_ sentAt: ContinuousClock.Instant) -> Bool {
        if let lastAt, sentAt - lastAt >= NodeMembership.lifetime / 2 { steadyFrom = sentAt + NodeMembership.lifetime }
        lastAt = sentAt
        return steadyFrom <= sentAt
    }

    /// Whether it is this node's turn to count: one node at a time does, every ten seconds.
    private mutating func counts(_ store: PostgresStore) -> Bool {
        let now = ContinuousClock.now
        guard store.membership.leads, countedAt.map({ now - $0 >= FleetCounts.interval }) ?? true else { return false }
        countedAt = now
        return true
    }

    /// Runs upkeep if it is due, on the node that has the duties. If a lock is held too long, a later round does it.
    private mutating func upkeep(_ connection: PostgresConnection) throws(PostgresFailure) {
        rest -= 1
        guard rest < 0 else { return }
        rest = NodeUpkeep.interval
        do throws(PostgresFailure) {
            _ = try connection.run(all: NodeUpkeep.statements)
        } catch {
            guard error.isTransient else { throw error }
        }
    }

    /// Waits for the server for ``Heartbeat/patience`` only. The connection outlives incarnations.
    private mutating func connected(_ target: PostgresTarget) throws -> PostgresConnection {
        if let connection, connection.isOpen { return connection }
        let new = try PostgresConnection(target)
        new.patience = Heartbeat.patience
        connection = new
        return new
    }

    /// One round trip. The first result is the server's time in milliseconds since 1970, or no row for a node that is
    /// gone or may no longer write. The second has a row if this node has the duties. Then follow the live nodes with
    /// their lanes, the heartbeats of the others, and the holders that are not alive. An unchanged list of lanes keeps
    /// its stored value.
    private static func statements(
        _ node: Int64, _ key: String, _ description: NodeDescription, _ lanes: [String]
    ) -> [PostgresStatement] {
        [
            PostgresStatement(
                """
                UPDATE nodes SET seen_at = clock_timestamp(), name = $3, version = $4, config = $5,
                    lanes = CASE WHEN lanes IS DISTINCT FROM $7 THEN $7 ELSE lanes END
                WHERE id = $1 AND key = $2 AND is_live AND (SELECT min_writer FROM meta) <= $6
                RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::bigint
                """,
                [
                    .number(node), .text(key), .text(description.name), .text(description.version),
                    .text(description.config), .number(Int64(PostgresSchema.version)), .texts(lanes),
                ]),
            PostgresStatement(
                """
                INSERT INTO duties AS d (name, node, until)
                SELECT 'upkeep', id, clock_timestamp() + $3 * interval '1 ms'
                FROM nodes WHERE id = $1 AND key = $2 AND is_live
                ON CONFLICT (name) DO UPDATE SET node = excluded.node, until = excluded.until
                    WHERE d.node = excluded.node OR d.until < clock_timestamp() RETURNING node
                """, [.number(node), .text(key), .number(Int64(NodeMembership.lifetime / .milliseconds(1)))]),
            PostgresStatement(
                """
                SELECT n.id, n.lanes IS NOT NULL, l.name FROM nodes n LEFT JOIN LATERAL unnest(n.lanes) AS l (name) ON true
                WHERE n.is_live AND (n.config IS NOT NULL OR n.lanes IS NOT NULL) ORDER BY n.id
                """),
            PostgresStatement(
                Takeover.others, [.number(node), .number(Int64(NodeMembership.lifetime / .milliseconds(1)))]),
            PostgresStatement(Takeover.absent),
        ]
    }
}
