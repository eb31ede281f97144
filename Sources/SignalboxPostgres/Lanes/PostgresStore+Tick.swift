import Foundation
package import SignalboxNotification
package import SignalboxStore
import Synchronization

/// Regular polls for changes by this and other nodes.
extension PostgresStore {
    /// One round trip for all lanes, and writes only where there is something to write. Throws the first failure; the
    /// next tick does the rest. A failure of the poll itself leaves all memory unchanged.
    @discardableResult
    package func tick() async throws(StoreError) -> [DestinationName] {
        let now = now
        let (epoch, breakerChanges) = (statusEpoch, ownBreakers.changes)
        // A lane that knows of further deliveries claims them without this search.
        let open = lanes.withHandOff { $0.lanes.filter { !$0.value.mayHaveMore }.map(\.key.name).sorted() }
        let incarnation = membership.incarnation
        let node = incarnation?.node ?? 0
        let poll = try await readers.read { connection in
            try Poll(try connection.run(all: Poll.statements(open, at: now.milliseconds, besides: node)))
        }
        if let incarnation, poll.key != incarnation.key { membership.replace(incarnation.node) }
        // First, so that no lane follows a backoff that a resume has ended.
        follow(poll.backoffs, since: epoch)
        adopt(poll.statuses, since: epoch)
        followResumes(poll.statuses.resumes, since: epoch)
        lanes.wake(ownBreakers.compare(poll.ownBreakers, since: breakerChanges))
        // Destinations that accept nothing keep nothing in memory: their lanes later read it from the table.
        let idle = lanes.idleDestinations.union(placeless)
        try await giveBack(lanes.withHandOff { $0.takeFresh(of: idle) + $0.takeOverdue(at: now) })
        wake(poll, at: now)
        if !poll.overdue.isEmpty { try await expire(poll.overdue) }
        for writer in writers.values { writer.resolveLater() }
        try await sweepIfRequested()
        try await lookForInAppChanges()
        // Last, because it concerns single destinations.
        return try await endPauses()
    }

    /// Wakes the lanes of destinations from which other nodes began or ceased to back off. Leaves them to the next poll
    /// if this process changed a destination since `epoch`: its resume ended the backoffs.
    private func follow(_ backoffs: [DestinationName: OthersBackoff], since epoch: Int) {
        let former = statusChanges.withLock { changes in
            changes == epoch ? othersBackoffs.withLock { exchange(&$0, with: backoffs) } : nil
        }
        guard let former, former != backoffs else { return }
        lanes.wake(Set(former.keys).union(backoffs.keys).filter { former[$0] != backoffs[$0] })
    }

    /// Tells the lanes of destinations that an operator resumed on another node since the last poll. Leaves them to the
    /// next poll if this process changed a destination since `epoch`.
    private func followResumes(_ latest: [DestinationName: Date], since epoch: Int) {
        statusChanges.withLock {
            guard $0 == epoch else { return }
            let known = resumes.withLock { exchange(&$0, with: latest) }
            guard let former = known, former != latest else { return }
            lanes.resume(latest.keys.filter { latest[$0] != former[$0] })
        }
    }

    /// From memory. True after a resume by this node, and after a poll that found one by another node.
    package func takeResumed(_ destination: DestinationName) -> Bool { lanes.takeResumed(destination) }

    /// From memory, as of the last poll.
    package func othersBackoff(from destination: DestinationName) -> OthersBackoff {
        var backoff = othersBackoffs.withLock { $0[destination] } ?? OthersBackoff()
        backoff.hasEndedOwn = ownBreakers.takeRemoved(destination)
        return backoff
    }

    /// Wakes the lanes with something to claim. Other nodes may claim it first.
    private func wake(_ poll: Poll, at now: Date) {
        for (destination, due) in poll.loose { hints.note(destination, firstDue: due) }
        let ready = Set(poll.loose.keys).union(poll.keyed.filter { rests.isOver($0) })
        lanes.withHandOff { handOff in
            for destination in ready { handOff.withLane(destination) { $0.leaveToStore() } }
        }
        lanes.wake(ready)
        lanes.wakeDue(at: now)
        let former = mediaTurn.withLock { exchange(&$0.seen, with: poll.media) }
        if former != poll.media { lanes.wakeDownloads() }
    }

    /// Ends free deliveries whose time is over. Each is checked again, because it may have changed since the poll. One
    /// transaction of the lane `others`.
    private func expire(_ overdue: [Int64]) async throws(StoreError) {
        let ends = try await writer(.others).write { transaction in
            var moves = DeliveryMoves()
            let rows = try transaction.run(Self.expiry, [.numbers(overdue), .time(transaction.now)])
            for (destination, count) in try rows.map({ (try $0.destination(0), try $0.count(1)) }) {
                moves.end(.expired, of: destination, count)
            }
            try moves.write(in: transaction)
            return moves.ends
        }
        guard !ends.isEmpty else { return }
        health.ends.add(ends)
        // The next deliveries of their keys may be ready.
        lanes.withHandOff { handOff in
            for destination in ends.keys { handOff.withLane(destination) { $0.leaveToStore() } }
        }
        lanes.wake(ends.keys)
    }

    /// `$1`: candidates, `$2`: the time. Leaves rows that another transaction has locked. Attempts of interrupted
    /// deliveries are recorded before the end. Returns the number of ended deliveries by destination.
    private static let expiry = """
        WITH due AS MATERIALIZED (
            SELECT *, begun > attempts AS is_interrupted FROM queue
            WHERE id = ANY ($1) AND holder IS NULL AND not_after > 0 AND not_after <= $2
            ORDER BY id FOR UPDATE SKIP LOCKED
        ), \(EndStatement.kept("due WHERE is_interrupted")),
        gone AS (DELETE FROM queue q USING due d WHERE q.id = d.id),
        over AS (\(EndStatement.expired("due")))
        SELECT destination, count(*) FROM due GROUP BY destination
        """
}

/// The results of a poll.
struct Poll: Sendable {
    /// Open destinations with a due free delivery without an order key, and when the first of these became due.
    var loose: [DestinationName: Date] = [:]
    /// Open destinations with a free delivery that has an order key and is due.
    var keyed: Set<DestinationName> = []
    /// Free deliveries whose time is over, at most a thousand, the longest overdue first.
    var overdue: [Int64] = []
    /// Paused, disabled and withheld destinations, of all nodes.
    var statuses = StoredStatuses()
    /// Changes when another node has requested, ended or released something of media.
    var media = ""
    /// The key of this node; nil when it is gone.
    var key: String?
    /// The backoffs of other live nodes.
    var backoffs: [DestinationName: OthersBackoff] = [:]
    /// Destinations with a recorded open breaker of this node.
    var ownBreakers: Set<DestinationName> = []

    /// `node`: this one. Each reads a few rows, however many deliveries wait.
    static func statements(_ destinations: [String], at now: Int64, besides node: Int64) -> [PostgresStatement] {
        [
            PostgresStatement(
                """
                SELECT name, CASE WHEN due <= $2 THEN due END, coalesce(\(FirstDue.of("name", keyed: true)) <= $2, false)
                FROM unnest($1) AS name CROSS JOIN LATERAL (SELECT \(FirstDue.of("name", keyed: false)) AS due) f
                """, [.texts(destinations), .number(now)]),
            PostgresStatement(
                """
                SELECT id FROM queue WHERE not_after > 0 AND not_after <= $1 AND holder IS NULL
                ORDER BY not_after LIMIT 1000
                """, [.number(now)]),
            StoredStatuses.statement,
            PostgresStatement(
                """
                SELECT coalesce(sum(hashtextextended(c::text, 0)), 0)::text FROM media_counts c WHERE node <> $1
                """, [.number(node)]),
            PostgresStatement("SELECT key FROM nodes WHERE id = $1 AND is_live", [.number(node)]),
            PostgresStatement(
                """
                SELECT destination, kind, max(until), node = $1 FROM backoffs b WHERE node = $1
                    OR EXISTS (SELECT FROM nodes n WHERE n.id = b.node AND n.is_live) GROUP BY 1, 2, 4
                """, [.number(node)]),
        ]
    }

    /// Decodes the results of ``statements(_:at:besides:)``.
    init(_ results: [PostgresRows]) throws {
        for row in results[0] {
            if let due = try row.optionalDate(1) { loose[try row.destination(0)] = due }
            if try row.flag(2) { keyed.insert(try row.destination(0)) }
        }
        overdue = try results[1].map { try $0.number(0) }
        statuses = try StoredStatuses(results[2])
        media = try results[3].first?.text(0) ?? ""
        key = try results[4].first?.text(0)
        for row in results[5].map({ $0 }) {
            let (destination, until) = (try row.destination(0), try row.date(2))
            guard try !row.flag(3) else {
                if try row.word(1) as DestinationBackoff.Kind == .breakerOpen { ownBreakers.insert(destination) }
                continue
            }
            var backoff = backoffs[destination] ?? OthersBackoff()
            switch try row.word(1) as DestinationBackoff.Kind {
            case .breakerOpen: backoff.breakerOpen = until
            case .retryAfter: backoff.quiet = until
            }
            backoffs[destination] = backoff
        }
    }
}
