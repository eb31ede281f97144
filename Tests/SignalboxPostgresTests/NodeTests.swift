import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Lives and ends of nodes. Lifetimes are ended manually, so that no check waits for one.
@Suite(.timeLimit(.minutes(5))) struct NodeTests {
    @Test func anotherNodeTakesOverFromOneThatIsGone() async throws {
        try await NodeBench.withNodes { first, second in
            try await first.append([NodeBench.event(1), NodeBench.event(2)])
            let lease = try #require(try await first.claim(from: NodeBench.crm, upTo: 1).first)
            try await second.tick()
            #expect(try await second.claim(from: NodeBench.crm, upTo: 5).isEmpty, "the first one holds both")
            #expect(try NodeBench.end(first) == 2)
            // As a heartbeat does after a takeover. A tick would not look at a lane that its heartbeat has just woken,
            // and the claim would begin at the due time up to which the one before has found everything.
            second.wakeAll()
            let taken = try await second.claim(from: NodeBench.crm, upTo: 5)
            #expect(taken.map(\.attempts) == [1, 1])
            #expect(try await second.attempts(of: lease.delivery).map(\.error) == ["interrupted"])
        }
    }

    @Test func aNodeThatWasDeclaredGoneHasNoLease() async throws {
        try await NodeBench.withNodes { first, second in
            try await first.append([NodeBench.event(1), NodeBench.event(2), NodeBench.event(3)])
            let lease = try #require(try await first.claim(from: NodeBench.crm, upTo: 1).first)
            #expect(first.holds(lease))
            try NodeBench.end(first)
            try await second.tick()
            let taken = try await second.claim(from: NodeBench.crm, upTo: 5)
            #expect(taken.count == 3)
            #expect(try await first.settle(lease, .delivered(status: 200)) == .lost)
            #expect(!first.holds(lease))
            // Deliveries in memory are forgotten with the incarnation.
            #expect(try await first.claim(from: NodeBench.crm, upTo: 5).isEmpty)
            for lease in taken { #expect(try await second.settle(lease, .delivered(status: 200)) == .recorded) }
            #expect(try await second.audit().isRight)
            // It continues as a new incarnation.
            try await first.append([NodeBench.event(4)])
            #expect(try await first.claim(from: NodeBench.crm, upTo: 5).count == 1)
        }
    }

    @Test func aNodeWithARecentHeartbeatIsNotDeclaredGone() async throws {
        try await NodeBench.withNodes { first, second in
            try await first.append([NodeBench.event(1)])
            let node = try first.membership.current()
            let freed = try Takeover(PostgresConnection(first.target)).run(
                silent: [node], absent: [], until: .now + .seconds(9))
            #expect(freed == 0)
            let lease = try #require(try await first.claim(from: NodeBench.crm, upTo: 1).first)
            #expect(try await first.settle(lease, .delivered(status: 200)) == .recorded)
            _ = second
        }
    }

    /// The server's clock was set back after the last heartbeat of a node that was killed.
    @Test func aHeartbeatInTheFutureKeepsNoNodeAlive() async throws {
        try await NodeBench.withNodes { first, second in
            try await first.append([NodeBench.event(1)])
            first.heartbeat.finish()
            let node = try first.membership.current()
            let connection = try PostgresConnection(first.target)
            _ = try connection.run(
                "UPDATE nodes SET seen_at = seen_at + interval '1 hour' WHERE id = $1", [.number(node)])
            // Its heartbeat would free the delivery too, once the node is gone.
            second.heartbeat.finish()
            let freed = try Takeover(connection).run(silent: [node], absent: [], until: .now + .seconds(9))
            #expect(freed == 1)
        }
    }

    /// After a failover, the heartbeats of all nodes are old when the first gateway starts again.
    @Test func aNodeThatBeginsDeclaresNoneGone() async throws {
        try await NodeBench.withNodes { first, second in
            try await first.append([NodeBench.event(1)])
            try await second.append([NodeBench.event(2)])
            let live = "SELECT FROM nodes WHERE is_live"
            let before = try PostgresConnection(first.target).run(live).count
            try first.exec("UPDATE nodes SET seen_at = seen_at - interval '1 hour'")
            var pulse = Pulse()
            pulse.beat(first)
            #expect(try PostgresConnection(first.target).run(live).count == before)
        }
    }

    @Test func aHeartbeatFreesDeliveriesOfUnknownHolders() async throws {
        try await NodeBench.withNodes { first, second in
            try await first.append([NodeBench.event(1)])
            try first.exec("UPDATE queue SET holder = 4711")
            var pulse = Pulse()
            pulse.beat(second)
            // The heartbeat of the other node may have found it first, and may not have ended yet.
            let end = ContinuousClock.now + .seconds(60)
            var leases: [Lease] = []
            while leases.isEmpty, ContinuousClock.now < end {
                try await second.tick()
                leases = try await second.claim(from: NodeBench.crm, upTo: 5)
            }
            #expect(leases.count == 1)
        }
    }

    @Test func aNodeThatSignsOffLeavesItsDeliveriesAtOnce() async throws {
        try await NodeBench.withNodes { first, second in
            try await first.append([NodeBench.event(1), NodeBench.event(2)])
            let held = try #require(try await first.claim(from: NodeBench.crm, upTo: 1).first)
            try await first.giveBackFresh()
            try await first.checkpoint()
            try await second.tick()
            let leases = try await second.claim(from: NodeBench.crm, upTo: 5)
            #expect(leases.count == 2)
            for lease in leases { #expect(lease.attempts == (lease.delivery == held.delivery ? 1 : 0)) }
        }
    }

    @Test func aNodeWithoutHeartbeatsBeginsNoAttempt() async throws {
        try await PostgresLocation.withLocation { location in
            _ = try location.open(ManualDate())
            let clock = ManualInstant()
            let membership = NodeMembership(location.target, clock: { clock.now })
            #expect(!membership.isSafe)
            let node = try membership.current()
            #expect(membership.isSafe && membership.isHolder(UInt64(bitPattern: node)))
            clock.advance(by: NodeMembership.safety - .milliseconds(1))
            #expect(membership.isSafe)
            clock.advance(by: .milliseconds(1))
            #expect(!membership.isSafe && !membership.isHolder(UInt64(bitPattern: node)))
            let news = membership.confirm(node, sentAt: clock.now, live: [], leads: true)
            #expect(news == .lanes, "lanes look again")
            #expect(membership.isSafe && membership.leads)
            membership.replace(node)
            #expect(!membership.isSafe && !membership.leads)
        }
    }

    /// The load of the database is the cause only if nothing else is known.
    @Test func namesTheCauseOfMissingHeartbeats() async throws {
        try await PostgresLocation.withLocation { location in
            _ = try location.open(ManualDate())
            let clock = ManualInstant()
            let membership = NodeMembership(location.target, clock: { clock.now })
            let node = try membership.current()
            membership.fail(with: .unavailable(reason: "the disk is full"))
            #expect(membership.fault(isReachable: true) == nil, "the registration counts as a heartbeat")
            clock.advance(by: NodeMembership.safety)
            let reason = "no heartbeat of this gateway has reached the database for 12 s"
            #expect(membership.fault(isReachable: true) == .unavailable(reason: reason + ": the disk is full"))
            #expect(membership.fault(isReachable: false) == .unreachable(reason: reason))
            let refusal = StoreError.refused(reason: "it refuses access", remedy: "grant it")
            membership.fail(with: refusal)
            #expect(membership.fault(isReachable: true) == refusal)
            _ = membership.confirm(node, sentAt: clock.now, live: [], leads: false)
            #expect(membership.fault(isReachable: true) == nil)
            clock.advance(by: NodeMembership.safety)
            let load = reason + "; see the load and the locks of the database"
            #expect(membership.fault(isReachable: true) == .unavailable(reason: load))
        }
    }

    @Test func theLedgerOfNodesThatAreGoneIsKept() async throws {
        try await NodeBench.withNodes { first, second in
            try await first.append([NodeBench.event(1), NodeBench.event(2)])
            let lease = try #require(try await first.claim(from: NodeBench.crm, upTo: 1).first)
            try await first.settle(lease, .delivered(status: 200))
            try NodeBench.end(first)
            let before = try await second.accounts()
            let connection = try PostgresConnection(second.target)
            _ = try connection.run(all: NodeUpkeep.statements)
            let nodes = try connection.run("SELECT DISTINCT node FROM ledger").map { try $0.number(0) }
            #expect(nodes == [0], "the rows of the node are merged")
            #expect(try await second.accounts() == before)
            #expect(try await second.audit().isRight)
            try second.exec("UPDATE nodes SET seen_at = seen_at - interval '2 days' WHERE NOT is_live")
            _ = try connection.run(all: NodeUpkeep.statements)
            let closed = try connection.run("SELECT FROM marks WHERE is_closed")
            #expect(closed.isEmpty)
            // The writers of the former node find no marks.
            try await first.append([NodeBench.event(3)])
            #expect(try await second.audit().isRight)
        }
    }

    @Test func describesANodeInItsRow() async throws {
        try await NodeBench.withNodes { first, second in
            first.describe(NodeDescription(name: "one", version: "1", config: "abc"))
            var pulse = Pulse()
            pulse.beat(first)
            pulse.beat(first)
            try await first.append([NodeBench.event(1)])
            let (node, _) = try #require(first.membership.incarnation)
            let nodes = try PostgresConnection(second.target).run(
                """
                SELECT name, version, config, (SELECT count(*) FROM queue WHERE holder = n.id),
                    (extract(epoch FROM clock_timestamp() - seen_at) * 1000)::bigint
                FROM nodes n WHERE is_live AND id = $1
                """, [.number(node)])
            let own = try #require(nodes.first)
            #expect(try own.text(0) == "one")
            #expect(try own.text(1) == "1")
            #expect(try own.text(2) == "abc")
            #expect(try own.count(3) == 1)
            let silence = Duration.milliseconds(try own.number(4))
            #expect(silence < NodeMembership.lifetime)
        }
    }

    @Test func deliveriesOfAnotherNodeAreAbandonedUntilItsNextHeartbeat() async throws {
        try await NodeBench.withNodes { first, second in
            var pulse = Pulse()
            pulse.beat(first)
            let (past, future) = (Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 4_000_000_000))
            #expect(try await !second.mayBeAbandoned(since: future), "none is held")
            try await first.append([NodeBench.event(1)])
            #expect(try await !first.mayBeAbandoned(since: future), "its own")
            #expect(try await second.mayBeAbandoned(since: future))
            #expect(try await !second.mayBeAbandoned(since: past))
        }
    }

    // MARK: Lost connections

    @Test(arguments: CuttingProxy.Cut.allCases) func anOutcomeIsRecordedOnceAfterEachCut(_ cut: CuttingProxy.Cut)
        async throws
    {
        try await PostgresLocation.withLocation { location in
            let clock = ManualDate()
            let direct = try #require(try location.open(clock) as? PostgresStore)
            var url = try #require(URLComponents(string: location.target.url))
            let proxy = try CuttingProxy(to: try #require(url.port))
            url.port = proxy.port
            let target = PostgresTarget(url: try #require(url.string), schema: location.target.schema)
            let node = try PostgresStore(target, now: { clock.now })
            node.openLane(NodeBench.crm) {}
            for number in 0..<3 {
                proxy.cutNext(cut)
                try await node.append([NodeBench.event(number)])
                proxy.cutNext(cut)
                let lease = try #require(try await node.claim(from: NodeBench.crm, upTo: 1).first)
                proxy.cutNext(cut)
                _ = try await node.settle(lease, .delivered(status: 200))
            }
            #expect(proxy.cuts >= 3, "commits passed the proxy")
            #expect(try await direct.counts()[NodeBench.crm] == [.delivered: 3])
            #expect(try await direct.audit().isRight)
        }
    }

    @Test func aSweepFreesRowsThatNoLaneKnows() async throws {
        try await NodeBench.withNodes { first, _ in
            try await first.append([NodeBench.event(1), NodeBench.event(2)])
            let held = try #require(try await first.claim(from: NodeBench.crm, upTo: 1).first)
            // As if the outcome of the append of the second one had been undecided.
            let others = first.lanes.withHandOff { $0.takeFresh(of: [NodeBench.crm]) }
            first.lanes.withHandOff { handOff in
                for lease in others { handOff.withLane(lease.destination) { $0.release(lease, due: nil) } }
            }
            first.membership.requestSweep()
            try await first.sweepIfRequested()
            #expect(try await first.claim(from: NodeBench.crm, upTo: 5).isEmpty, "it looks twice")
            let (node, _) = try #require(first.membership.incarnation)
            let unknown = try await first.unknownLeases(of: node)
            #expect(unknown.count == 1 && unknown[held.delivery] == nil)
            try await first.free(unknown.mapValues { $0 + 1 })
            #expect(try await first.unknownLeases(of: node) == unknown, "a later lease is left alone")
            try await first.free(unknown)
            try await first.tick()
            #expect(try await first.claim(from: NodeBench.crm, upTo: 5).map(\.attempts) == [0], "it was never begun")
        }
    }
}
