import SignalboxNotification
import SignalboxStore
import Testing

@testable import SignalboxPostgres

/// Destinations with deliveries of both kinds: with an order key, and without one. Their `ordering` was changed while
/// deliveries waited.
@Suite(.timeLimit(.minutes(5))) struct MixedOrderTests {
    private func append(_ events: [RoutedEvent], to node: PostgresStore) async throws {
        try await node.append(events)
        try await node.giveBackFresh()
        node.wakeAll()
    }

    private func keys(of leases: [Lease]) -> [String] { leases.compactMap(\.orderKey) }

    @Test func bothKindsShareAClaim() async throws {
        try await NodeBench.withNodes(isOrdered: true) { node, _ in
            let loose = (0..<40).map { NodeBench.event($0) }
            try await append(loose + (0..<6).map { NodeBench.event($0, under: "k\($0)") }, to: node)
            let first = try await node.claim(from: NodeBench.crm, upTo: 8)
            #expect(first.count == 8 && keys(of: first) == ["k0", "k1", "k2", "k3"])
            let second = try await node.claim(from: NodeBench.crm, upTo: 8)
            #expect(second.count == 8 && keys(of: second) == ["k4", "k5"])
            let third = try await node.claim(from: NodeBench.crm, upTo: 40)
            #expect(third.count == 30 && keys(of: third).isEmpty, "nothing is reserved for keys that are leased")
        }
    }

    @Test func keysGetWhatTheOtherDeliveriesLeave() async throws {
        try await NodeBench.withNodes(isOrdered: true) { node, _ in
            let keyed = (0..<8).map { NodeBench.event($0, under: "k\($0)") }
            try await append(keyed + [NodeBench.event(8)], to: node)
            let leases = try await node.claim(from: NodeBench.crm, upTo: 6)
            #expect(leases.count == 6 && keys(of: leases).count == 5)
        }
    }

    @Test func claimsOfOneServeBothKinds() async throws {
        try await NodeBench.withNodes(isOrdered: true) { node, _ in
            let loose = (0..<60).map { NodeBench.event($0) }
            try await append(loose + (0..<3).map { NodeBench.event($0, under: "k\($0)") }, to: node)
            var served: [String?] = []
            for _ in 0..<60 { served += try await node.claim(from: NodeBench.crm, upTo: 1).map(\.orderKey) }
            #expect(served.count == 60)
            #expect(served.compactMap { $0 } == ["k0", "k1", "k2"])
            #expect(served.last == .some(nil), "the others are served until the end")
        }
    }

    @Test func aKeyBehindManyBlockedOnesIsReached() async throws {
        try await NodeBench.withNodes(isOrdered: true) { node, _ in
            let blocked = Int(ClaimStatement.mostStepsBesideLoose) + 50
            try await append((0..<blocked).map { NodeBench.event($0, under: "k\(1000 + $0)") }, to: node)
            #expect(try await node.claim(from: NodeBench.crm, upTo: blocked).count == blocked)
            try await append((0..<60).map { NodeBench.event($0) }, to: node)
            // Finds no key after the last one, so the next search begins with the first one.
            #expect(try await node.claim(from: NodeBench.crm, upTo: 10).count == 10)
            try await append([NodeBench.event(61, under: "z")], to: node)
            var looks: [[Lease]] = []
            for _ in 0..<2 { looks.append(try await node.claim(from: NodeBench.crm, upTo: 10)) }
            #expect(looks.map(\.count) == [10, 10])
            #expect(looks.map { keys(of: $0) } == [[], ["z"]])
        }
    }
}
