import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

@testable import SignalboxPostgres

/// Deliveries, order, limits and duties that several nodes share.
@Suite(.timeLimit(.minutes(5))) struct SharingTests {
    @Test func twoNodesNeverLeaseOneDelivery() async throws {
        try await NodeBench.withNodes { first, second in
            try await first.append((0..<300).map { NodeBench.event($0) })
            try await first.giveBackFresh()
            let done = Counter()
            let claims = try await withThrowingTaskGroup(of: [Int64].self) { group in
                for node in [first, second] {
                    group.addTask {
                        var claimed: [Int64] = []
                        while done.value < 300 {
                            node.wakeAll()
                            let leases = try await node.claim(from: NodeBench.crm, upTo: 7)
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
        try await NodeBench.withNodes(isOrdered: true) { first, second in
            let (keys, length) = (12, 10)
            try await first.append((0..<keys * length).map { NodeBench.event($0, under: "k\($0 % keys)") })
            let served = KeyLog()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (position, node) in [first, second].enumerated() {
                    group.addTask {
                        var random = SeededGenerator(seed: seed &+ UInt64(position))
                        while served.count < keys * length {
                            node.wakeAll()
                            let leases = try await node.claim(
                                from: NodeBench.crm, upTo: .random(in: 1...5, using: &random))
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
        try await NodeBench.withNodes { first, second in
            let begun = ContinuousClock.now
            var taken = 0
            for _ in 0..<30 {
                for node in [first, second] {
                    let share = try await node.takeAttempts(of: NodeBench.crm, perSecond: 8)
                    #expect(share.count <= 2, "a quarter of a second's worth")
                    if share.count == 0 { #expect(share.wait > .zero && share.wait <= .milliseconds(125)) }
                    taken += share.count
                }
            }
            let elapsed = (ContinuousClock.now - begun) / .seconds(1)
            #expect(taken >= 8)
            #expect(Double(taken) <= 8 + elapsed * 8 + 1)
            try await first.returnAttempts(3, of: NodeBench.crm, perSecond: 8)
            let share = try await second.takeAttempts(of: NodeBench.crm, perSecond: 8)
            #expect(share.count == 2, "what another node returned")
        }
    }

    @Test func oneNodeProbes() async throws {
        try await NodeBench.withNodes { first, second in
            #expect(try await first.beginProbe(of: NodeBench.crm, lasting: .seconds(60)) == nil)
            let wait = try await second.beginProbe(of: NodeBench.crm, lasting: .seconds(60))
            #expect(wait == .seconds(1))
            // The breaker of the first one closed.
            try await first.record(nil, of: NodeBench.crm)
            #expect(try await second.beginProbe(of: NodeBench.crm, lasting: .seconds(60)) == nil)
        }
    }

    @Test func otherNodesSeeABackoff() async throws {
        try await NodeBench.withNodes { first, second in
            let none = OthersBackoff()
            let now = first.now
            let end = now.addingTimeInterval(30)
            try await first.record(
                DestinationBackoff(.breakerOpen, reason: "it fails", since: now, until: end), of: NodeBench.crm)
            try await first.tick()
            try await second.tick()
            #expect(first.othersBackoff(from: NodeBench.crm) == none)
            let seen = second.othersBackoff(from: NodeBench.crm)
            #expect(seen.quiet == nil)
            let until = try #require(seen.breakerOpen)
            #expect(abs(until.timeIntervalSince(end)) < 0.01)
            try await first.record(
                DestinationBackoff(.retryAfter, reason: "it asked", since: now, until: end), of: NodeBench.crm)
            try await second.tick()
            let quiet = second.othersBackoff(from: NodeBench.crm)
            #expect(quiet.breakerOpen == nil && quiet.quiet != nil)
            try await first.record(nil, of: NodeBench.crm)
            try await second.tick()
            #expect(second.othersBackoff(from: NodeBench.crm) == none)
        }
    }

    /// A lane would otherwise begin the pause again with its next attempt.
    @Test func aResumeEndsTheBackoffsOfOtherNodesAtOnce() async throws {
        try await NodeBench.withNodes { first, second in
            let now = first.now
            let pause = DestinationBackoff(
                .retryAfter, reason: "it asked", since: now, until: now.addingTimeInterval(3600))
            try await first.record(pause, of: NodeBench.crm)
            try await second.tick()
            #expect(second.othersBackoff(from: NodeBench.crm).quiet != nil)
            try await second.set(nil, of: NodeBench.crm, until: nil, as: nil)
            #expect(second.othersBackoff(from: NodeBench.crm).quiet == nil, "before the next look")
            let open = DestinationBackoff(
                .breakerOpen, reason: "it fails", since: now, until: now.addingTimeInterval(3600))
            try await first.record(open, of: NodeBench.crm)
            try await second.tick()
            try await second.set(nil, of: NodeBench.crm, until: nil, as: nil)
            let end = try #require(second.othersBackoff(from: NodeBench.crm).breakerOpen, "until a probe is answered")
            #expect(end <= second.now)
        }
    }

    @Test func anAnswerToOneNodeEndsTheBreakersOfOthers() async throws {
        try await NodeBench.withNodes { first, second in
            let now = first.now
            let open = DestinationBackoff(
                .breakerOpen, reason: "it fails", since: now, until: now.addingTimeInterval(30))
            try await first.record(open, of: NodeBench.crm)
            for node in [first, second] { try await node.tick() }
            #expect(!first.othersBackoff(from: NodeBench.crm).hasEndedOwn)
            try await second.endBreakers(of: NodeBench.crm)
            for node in [first, second] { try await node.tick() }
            #expect(first.othersBackoff(from: NodeBench.crm).hasEndedOwn)
            #expect(!first.othersBackoff(from: NodeBench.crm).hasEndedOwn, "known once")
            #expect(second.othersBackoff(from: NodeBench.crm) == OthersBackoff())
            // A node that removes its own record knows why.
            try await first.record(open, of: NodeBench.crm)
            try await first.record(nil, of: NodeBench.crm)
            try await first.tick()
            #expect(!first.othersBackoff(from: NodeBench.crm).hasEndedOwn)
        }
    }

    @Test func nodesWithALaneShareThePlaces() async throws {
        try await PostgresLocation.withLocation { location in
            let nodes = try (0..<3).map { _ in try PostgresStore(location.target) }
            let (both, one) = (DestinationName("both"), DestinationName("one"))
            // The test beats.
            for node in nodes { node.heartbeat.end() }
            for node in nodes[0...1] { node.openLane(both) {} }
            nodes[0].openLane(one) {}
            #expect(nodes[0].places(of: both, outOf: 9) == nil, "no heartbeat yet")
            var pulses = nodes.map { _ in Pulse() }
            for _ in 0..<2 { for index in nodes.indices { pulses[index].beat(nodes[index]) } }
            #expect(nodes[0].places(of: one, outOf: 9) == 9)
            #expect(nodes[1].places(of: one, outOf: 9) == nil)
            #expect((0...1).compactMap { nodes[$0].places(of: both, outOf: 9) }.reduce(0, +) == 9)
            nodes[2].openLane(both) {}
            #expect(nodes[2].places(of: both, outOf: 9) == nil, "the others do not know its lane")
            for _ in 0..<2 { for index in nodes.indices { pulses[index].beat(nodes[index]) } }
            #expect(nodes.compactMap { $0.places(of: both, outOf: 9) } == [3, 3, 3])
        }
    }

    @Test func oneNodeEndsAPause() async throws {
        try await PostgresLocation.withLocation { location in
            let clock = ManualDate()
            let nodes = try (0..<3).map { _ in try location.openBeside(clock) }
            let end = clock.now.addingTimeInterval(60)
            try await nodes[0].set(.paused, of: NodeBench.crm, until: end, as: nil)
            for node in nodes { try await node.tick() }
            #expect(nodes.allSatisfy { !$0.isActive(NodeBench.crm) })
            clock.advance(by: 60)
            let ended = try await withThrowingTaskGroup(of: [DestinationName].self) { group in
                for node in nodes { group.addTask { try await node.tick() } }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(ended == [NodeBench.crm])
            let log = try await nodes[0].actionPage(ActionFilter(), limit: 9, examining: 9).records
            #expect(log.count == 1)
        }
    }

    @Test func aSignOffEndsNoOtherIncarnation() async throws {
        try await NodeBench.withNodes { first, _ in
            first.heartbeat.finish()
            let node = try first.membership.current()
            // As after a failover that lost its registration: another one has its number.
            try first.exec("UPDATE nodes SET key = 'another' WHERE id = \(node)")
            try await first.signOff()
            let row = try PostgresConnection(first.target).run(
                "SELECT is_live FROM nodes WHERE id = $1", [.number(node)]
            ).first
            #expect(try row?.flag(0) == true)
        }
    }

    @Test func oneNodeLeads() async throws {
        try await NodeBench.withNodes { first, second in
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
}
