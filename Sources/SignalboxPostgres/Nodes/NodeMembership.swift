import Foundation
import SignalboxStore
import Synchronization

/// The place of this process among the nodes of a database: its incarnation, and how long its leases are safe.
///
/// A new incarnation begins at the start, and whenever another node declared the present one gone. A class because the
/// writers, the heartbeat and the lanes share it.
final class NodeMembership: Sendable {
    private struct State {
        /// The row in `nodes`; nil before the first registration, and after the incarnation was declared gone.
        var node: Int64?
        var wantsSweep = false
    }

    private let target: PostgresTarget
    private let state = Mutex(State())
    /// Commits whose outcome had to be found out after the connection was lost.
    let unknownCommits = Counter()

    init(_ target: PostgresTarget) { self.target = target }

    /// The present incarnation; registers one if there is none. Blocks. Throws when the database cannot be reached.
    func current() throws -> Int64 {
        // Under the lock, so that one thread registers while the others wait for it.
        try state.withLock { state in
            if let node = state.node { return node }
            let connection = try PostgresConnection(target)
            let rows = try connection.run(
                """
                WITH node AS (
                    INSERT INTO nodes (name, version, started_at, seen_at, is_live)
                    VALUES ('', '', 0, clock_timestamp(), true) RETURNING id
                ), made AS (
                    INSERT INTO marks (node, lane, number) SELECT id, lane, 0 FROM node, unnest($1) AS lane
                )
                SELECT id FROM node
                """, [.numbers(WriterLane.allCases.map(\.rawValue))])
            guard let node = try rows.first?.number(0) else { throw DamagedValue("no node was registered") }
            state.node = node
            return node
        }
    }

    /// Ends an incarnation in memory. Has no effect if another one began since.
    func replace(_ node: Int64) {
        state.withLock { if $0.node == node { $0.node = nil } }
    }

    func countUnknownCommit() { unknownCommits.add() }

    /// After an outcome that was reported as undecided turned out to be a commit: rows may be leased to this node that
    /// no lane knows.
    func requestSweep() { state.withLock { $0.wantsSweep = true } }

    /// Whether a sweep was requested since the last call.
    func takeSweepRequest() -> Bool {
        state.withLock { state in
            defer { state.wantsSweep = false }
            return state.wantsSweep
        }
    }
}
