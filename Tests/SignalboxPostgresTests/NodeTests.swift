import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Several nodes on one database. Lifetimes are ended by hand, so that no check waits for one.
@Suite(.timeLimit(.minutes(5))) struct NodeTests {
    private static let crm = DestinationName("crm")

    // MARK: Takeover

    @Test func anotherNodeTakesOverFromOneThatIsGone() async throws {
        try await Self.withNodes { first, second in
            try await first.append([Self.event(1), Self.event(2)])
            let lease = try #require(try await first.claim(from: Self.crm, upTo: 1).first)
            try await second.tick()
            #expect(try await second.claim(from: Self.crm, upTo: 5).isEmpty, "the first one holds both")
            #expect(try Self.end(first) == 2)
            try await second.tick()
            let taken = try await second.claim(from: Self.crm, upTo: 5)
            #expect(taken.map(\.attempts) == [1, 1])
            #expect(try await second.attempts(of: lease.delivery).map(\.error) == ["interrupted"])
        }
    }

    @Test func aNodeThatWasDeclaredGoneSettlesAndBeginsNothing() async throws {
        try await Self.withNodes { first, second in
            try await first.append([Self.event(1), Self.event(2), Self.event(3)])
            let lease = try #require(try await first.claim(from: Self.crm, upTo: 1).first)
            #expect(first.holds(lease))
            try Self.end(first)
            try await second.tick()
            let taken = try await second.claim(from: Self.crm, upTo: 5)
            #expect(taken.count == 3)
            #expect(try await first.settle(lease, .delivered(status: 200)) == .lost)
            #expect(!first.holds(lease))
            // What it held in memory is forgotten with its incarnation.
            #expect(try await first.claim(from: Self.crm, upTo: 5).isEmpty)
            for lease in taken { #expect(try await second.settle(lease, .delivered(status: 200)) == .recorded) }
            #expect(try await second.audit().isRight)
            // It goes on as a new incarnation.
            try await first.append([Self.event(4)])
            #expect(try await first.claim(from: Self.crm, upTo: 5).count == 1)
        }
    }

    @Test func aNodeWithARecentHeartbeatIsNotDeclaredGone() async throws {
        try await Self.withNodes { first, second in
            try await first.append([Self.event(1)])
            let node = try first.membership.current()
            let freed = try Takeover(PostgresConnection(first.target)).run(
                silent: [node], absent: [], until: .now + .seconds(9))
            #expect(freed == 0)
            let lease = try #require(try await first.claim(from: Self.crm, upTo: 1).first)
            #expect(try await first.settle(lease, .delivered(status: 200)) == .recorded)
            _ = second
        }
    }

    @Test func aHeartbeatFreesDeliveriesOfHoldersThatAreNoNodes() async throws {
        try await Self.withNodes { first, second in
            try await first.append([Self.event(1)])
            try first.exec("UPDATE queue SET holder = 4711")
            var pulse = Pulse()
            pulse.beat(second)
            #expect(second.membership.takenOver.value == 1)
            try await second.tick()
            #expect(try await second.claim(from: Self.crm, upTo: 5).count == 1)
        }
    }

    @Test func aNodeThatSignsOffLeavesItsDeliveriesAtOnce() async throws {
        try await Self.withNodes { first, second in
            try await first.append([Self.event(1), Self.event(2)])
            try await first.giveBackFresh()
            try await first.checkpoint()
            try await second.tick()
            let leases = try await second.claim(from: Self.crm, upTo: 5)
            #expect(leases.map(\.attempts) == [0, 0])
        }
    }

    @Test func aNodeWithoutHeartbeatsBeginsNothing() async throws {
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
            #expect(membership.confirm(node, sentAt: clock.now, live: [node], leads: true), "lanes look again")
            #expect(membership.isSafe && membership.leads)
            membership.replace(node)
            #expect(!membership.isSafe && !membership.leads)
        }
    }

    // MARK: Sharing

    @Test func twoNodesNeverLeaseOneDelivery() async throws {
        try await Self.withNodes { first, second in
            try await first.append((0..<300).map { Self.event($0) })
            try await first.giveBackFresh()
            let done = Counter()
            let claims = try await withThrowingTaskGroup(of: [Int64].self) { group in
                for node in [first, second] {
                    group.addTask {
                        var claimed: [Int64] = []
                        while done.value < 300 {
                            node.wakeAll()
                            let leases = try await node.claim(from: Self.crm, upTo: 7)
                            claimed += leases.map(\.delivery)
                            done.add(leases.count)
                        }
                        return claimed
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(claims.count == 300)
            #expect(Set(claims).count == 300)
        }
    }

    @Test func equalKeysAreLeasedOneAfterAnotherOnTwoNodes() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        try await Self.withNodes(isOrdered: true) { first, second in
            let (keys, length) = (12, 10)
            try await first.append((0..<keys * length).map { Self.event($0, under: "k\($0 % keys)") })
            let served = KeyLog()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (position, node) in [first, second].enumerated() {
                    group.addTask {
                        var random = SeededGenerator(seed: seed &+ UInt64(position))
                        while served.count < keys * length {
                            node.wakeAll()
                            let leases = try await node.claim(from: Self.crm, upTo: .random(in: 1...5, using: &random))
                            for lease in leases { served.begin(lease.orderKey ?? "", lease.delivery) }
                            for lease in leases.shuffled(using: &random) {
                                served.end(lease.orderKey ?? "")
                                _ = try await node.settle(lease, .delivered(status: 200))
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(served.isInOrder, "seed \(seed)")
            #expect(try await first.audit().isRight)
        }
    }

    @Test func thePlacesOfAllNodesAddUpToTheLimit() {
        for name in ["crm", "inbox", "a"].map({ DestinationName($0) }) {
            for count in 1...9 {
                for limit in 0...20 {
                    let shares = (0..<count).map { PostgresStore.share(of: limit, for: name, $0, count) }
                    #expect(shares.reduce(0, +) == limit)
                    #expect((shares.max() ?? 0) - (shares.min() ?? 0) <= 1)
                }
            }
        }
    }

    @Test func aRateIsSharedByAllNodes() async throws {
        try await Self.withNodes { first, second in
            let begun = ContinuousClock.now
            var taken = 0
            for _ in 0..<30 {
                for node in [first, second] {
                    let share = try await node.takeAttempts(of: Self.crm, perSecond: 8)
                    #expect(share.count <= 2, "a quarter of a second's worth")
                    if share.count == 0 { #expect(share.wait > .zero && share.wait <= .milliseconds(125)) }
                    taken += share.count
                }
            }
            let elapsed = (ContinuousClock.now - begun) / .seconds(1)
            #expect(taken >= 8)
            #expect(Double(taken) <= 8 + elapsed * 8 + 1)
            try await first.returnAttempts(3, of: Self.crm, perSecond: 8)
            let share = try await second.takeAttempts(of: Self.crm, perSecond: 8)
            #expect(share.count == 2, "what another node returned")
        }
    }

    @Test func oneNodeProbes() async throws {
        try await Self.withNodes { first, second in
            #expect(try await first.beginProbe(of: Self.crm, lasting: .seconds(60)) == nil)
            let wait = try await second.beginProbe(of: Self.crm, lasting: .seconds(60))
            #expect(wait == .seconds(1))
            // The breaker of the first one closed.
            try await first.record(nil, of: Self.crm)
            #expect(try await second.beginProbe(of: Self.crm, lasting: .seconds(60)) == nil)
        }
    }

    @Test func oneNodeEndsAPause() async throws {
        try await PostgresLocation.withLocation { location in
            let clock = ManualDate()
            let nodes = try (0..<3).map { _ in try location.openBeside(clock) }
            let end = clock.now.addingTimeInterval(60)
            try await nodes[0].set(.paused, of: Self.crm, until: end, as: nil)
            for node in nodes { try await node.tick() }
            #expect(nodes.allSatisfy { !$0.isActive(Self.crm) })
            clock.advance(by: 60)
            let ended = try await withThrowingTaskGroup(of: [DestinationName].self) { group in
                for node in nodes { group.addTask { try await node.tick() } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(ended == [Self.crm])
            let log = try await nodes[0].actionPage(ActionFilter(), limit: 9, examining: 9).records
            #expect(log.count == 1)
        }
    }

    @Test func oneNodeLeads() async throws {
        try await Self.withNodes { first, second in
            var pulses = [Pulse(), Pulse()]
            pulses[0].beat(first)
            pulses[1].beat(second)
            #expect([first, second].filter(\.leads).count == 1)
            let (leader, other) = first.leads ? (first, second) : (second, first)
            try await leader.signOff()
            #expect(!leader.leads)
            pulses[0].beat(other)
            #expect(other.leads, "the other one follows at its next heartbeat")
        }
    }

    @Test func theLedgerOfNodesThatAreGoneIsKept() async throws {
        try await Self.withNodes { first, second in
            try await first.append([Self.event(1), Self.event(2)])
            let lease = try #require(try await first.claim(from: Self.crm, upTo: 1).first)
            try await first.settle(lease, .delivered(status: 200))
            try Self.end(first)
            let before = try await second.accounts()
            let connection = try PostgresConnection(second.target)
            _ = try connection.run(all: NodeUpkeep.statements)
            #expect(try await second.accounts() == before)
            #expect(try await second.audit().isRight)
            try second.exec("UPDATE nodes SET seen_at = seen_at - interval '2 days' WHERE NOT is_live")
            _ = try connection.run(all: NodeUpkeep.statements)
            #expect(try connection.run("SELECT FROM marks m LEFT JOIN nodes n ON n.id = m.node WHERE NOT n.is_live").isEmpty)
            // The writers of the former node find no marks.
            try await first.append([Self.event(3)])
            #expect(try await second.audit().isRight)
        }
    }

    @Test func nodesAreListedWithWhatTheyHold() async throws {
        try await Self.withNodes { first, second in
            first.describe(NodeDescription(name: "one", version: "1", config: "abc"))
            var pulse = Pulse()
            pulse.beat(first)
            pulse.beat(first)
            try await first.append([Self.event(1)])
            let nodes = try await first.nodes()
            let own = try #require(nodes.first { $0.isSelf })
            #expect(own.description == NodeDescription(name: "one", version: "1", config: "abc"))
            #expect(own.held == 1)
            #expect(own.silence < NodeMembership.lifetime)
            _ = second
        }
    }

    // MARK: Lost connections

    @Test(arguments: CuttingProxy.Cut.allCases) func anOutcomeIsRecordedOnceWhateverIsCut(_ cut: CuttingProxy.Cut)
        async throws
    {
        try await PostgresLocation.withLocation { location in
            let clock = ManualDate()
            let direct = try #require(try location.open(clock) as? PostgresStore)
            let port = try #require(URLComponents(string: location.target.url)?.port)
            let proxy = try CuttingProxy(to: port)
            let target = PostgresTarget(url: PostgresServer.url(port: proxy.port), schema: location.target.schema)
            let node = try PostgresStore(target, now: { clock.now })
            node.openLane(Self.crm) {}
            for number in 0..<3 {
                proxy.cutNext(cut)
                try await node.append([Self.event(number)])
                proxy.cutNext(cut)
                let lease = try #require(try await node.claim(from: Self.crm, upTo: 1).first)
                proxy.cutNext(cut)
                _ = try await node.settle(lease, .delivered(status: 200))
            }
            #expect(try await direct.counts()[Self.crm] == [.delivered: 3])
            #expect(try await direct.audit().isRight)
        }
    }

    @Test func aSweepFreesRowsThatNoLaneKnows() async throws {
        try await Self.withNodes { first, _ in
            try await first.append([Self.event(1), Self.event(2)])
            let held = try #require(try await first.claim(from: Self.crm, upTo: 1).first)
            // As if the outcome of the append of the second one had been undecided.
            let others = first.lanes.withHandOff { $0.takeFresh(of: [Self.crm]) }
            first.lanes.withHandOff { handOff in
                for lease in others { handOff.withLane(lease.destination) { $0.release(lease, due: nil) } }
            }
            first.membership.requestSweep()
            try await first.sweepIfRequested()
            #expect(try await first.claim(from: Self.crm, upTo: 5).isEmpty, "it looks twice")
            let (node, _) = try #require(first.membership.incarnation)
            let unknown = try await first.unknownLeases(of: node)
            #expect(unknown.count == 1 && !unknown.contains(held.delivery))
            try await first.free(unknown)
            try await first.tick()
            #expect(try await first.claim(from: Self.crm, upTo: 5).map(\.attempts) == [0], "it was never begun")
        }
    }

    // MARK: Bench

    /// Two nodes on one location, each with a lane.
    private static func withNodes(
        isOrdered: Bool = false, _ body: (PostgresStore, PostgresStore) async throws -> Void
    ) async throws {
        try await PostgresLocation.withLocation { location in
            let clock = ManualDate()
            let nodes = try (0..<2).map { _ in try PostgresStore(location.target, now: { clock.now }) }
            for node in nodes { node.openLane(crm, isOrdered: isOrdered) {} }
            try await body(nodes[0], nodes[1])
        }
    }

    /// Declares a node gone, as another one does after its lifetime. Returns the number of deliveries that it held.
    @discardableResult
    private static func end(_ store: PostgresStore) throws -> Int {
        store.heartbeat.end()
        let node = try store.membership.current()
        let connection = try PostgresConnection(store.target)
        _ = try connection.run(
            "UPDATE nodes SET seen_at = seen_at - interval '1 hour' WHERE id = $1", [.number(node)])
        return try Takeover(connection).run(silent: [node], absent: [], until: .now + .seconds(9))
    }

    private static func event(_ number: Int, under key: String? = nil) -> RoutedEvent {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let event = Event(
            id: EventID(at: now, random: (.random(in: 0 ... .max), .random(in: 0 ... .max))), source: .default,
            acceptedAt: now, vendor: .unknown, kind: .alert, warnings: [], body: Array(String(number).utf8))
        return RoutedEvent(event: event, routes: [], deliveries: [DeliveryOrder(to: crm, orderKey: key)])
    }
}

extension PostgresStore {
    fileprivate func exec(_ sql: String) throws { _ = try PostgresConnection(target).run(sql) }
}
