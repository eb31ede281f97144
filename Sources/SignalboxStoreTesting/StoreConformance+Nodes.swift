import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Nodes that deliver from one location at the same time. A delivery is leased by one of them. Keys of requests
    /// and of `dedupe` hold for all of them, as do states of destinations. A lease that was lost to another node
    /// settles nothing. Counts are those of all nodes.
    static let nodes = [
        Self("nodesLeaseEachDeliveryOnce") { bench in
            let nodes = [try bench.open(), try bench.openBeside(), try bench.openBeside()]
            // Without lanes, so its deliveries are free.
            let sender = try bench.location.openBeside(bench.clock)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (turn, node) in (nodes + [sender]).enumerated() {
                    for batch in 0..<4 {
                        let numbers = (turn * 100 + batch * 25)..<(turn * 100 + batch * 25 + 25)
                        group.addTask { try await node.append(numbers.map { bench.event($0) }) }
                    }
                }
                try await group.waitForAll()
            }
            let found = try await deliverAll(on: nodes, bench, of: 400)
            #expect(found.sorted() == Array(0..<400))
            #expect(try await bench.count(.delivered, in: sender) == 400)
            #expect(try await sender.audit().isRight)
        },
        Self("aNodeDoesNotLeaseDeliveriesInTheMemoryOfAnother") { bench in
            let (first, second) = (try bench.open(), try bench.openBeside())
            try await first.append((0..<10).map { bench.event($0) })
            #expect(try await bench.claimNumbers(second).isEmpty)
            #expect(try await bench.claimNumbers(first).sorted() == Array(0..<10))
            #expect(try await bench.claimNumbers(second).isEmpty)
        },
        Self("aRetryIsLeasedByAnyNode") { bench in
            let (first, second) = (try bench.open(), try bench.openBeside())
            try await first.append([bench.event(1)])
            try await first.settle(bench.claimOne(first), .failed(after: 30))
            bench.clock.advance(by: 29)
            #expect(try await bench.claimNumbers(second).isEmpty)
            bench.clock.advance(by: 1)
            try await second.tick()
            let lease = try await bench.claimOne(second)
            #expect((lease.number, lease.earlier) == (1, 1))
            #expect(try await bench.claimNumbers(first).isEmpty)
            try await second.settle(lease, .delivered(status: 204))
            #expect(try await first.attempts(of: lease.delivery).map(\.number) == [1, 2])
        },
        Self("returnedLeasesAreLeasedByAnotherNode") { bench in
            let (first, second) = (try bench.open(), try bench.openBeside())
            try await first.append([bench.event(1), bench.event(2)])
            let lease = try await bench.claimOne(first)
            try await first.settle(lease, .returned)
            try await first.giveBackFresh()
            try await first.closeLane(bench.crm)
            try await second.tick()
            let found = try await second.claim(from: bench.crm, upTo: 5)
            #expect(found.map(\.number).sorted() == [1, 2])
            #expect(found.map(\.earlier) == [0, 0])
        },
        Self("aRequestIsAcceptedByOneNode") { bench in
            let nodes = [try bench.open(), try bench.openBeside(), try bench.openBeside()]
            for round in 0..<10 {
                let results = try await all(nodes) { turn, node in
                    try await node.append(
                        [bench.event(round)], of: bench.request("k\(round)", body: 1, answer: "by \(turn)"))
                }
                let answers = results.compactMap { if case .repeated(let answer) = $0 { answer } else { nil } }
                let accepting = results.indices.filter { results[$0] == .appended(duplicates: [:]) }
                #expect(accepting.count == 1 && answers.count == 2, "\(results)")
                for answer in answers { #expect(answer.body == Array("by \(accepting.first ?? -1)".utf8)) }
            }
            #expect(try await nodes[1].eventCount() == 10)
            #expect(try await nodes[2].audit().isRight)
        },
        Self("aRepeatedEventIsAcceptedByOneNode") { bench in
            let nodes = [try bench.open(), try bench.openBeside(), try bench.openBeside()]
            for round in 0..<10 {
                let results = try await all(nodes) { _, node in
                    try await node.append([bench.event(round, repeating: "order \(round)")])
                }
                #expect(results.filter { $0 == .appended(duplicates: [:]) }.count == 1, "\(results)")
                let ids = results.compactMap { result -> String? in
                    if case .appended(let duplicates) = result { duplicates[0] } else { nil }
                }
                #expect(ids.count == 2 && Set(ids).count == 1)
            }
            #expect(try await nodes[0].eventCount() == 10)
            let lasting = bench.event(99, hasLastingID: true)
            let results = try await all(nodes) { _, node in try await node.append([lasting]) }
            #expect(results.filter { $0 == .appended(duplicates: [:]) }.count == 1, "\(results)")
            #expect(try await nodes[0].audit().isRight)
        },
        Self("aLeaseThatWasLostSettlesNothing") { bench in
            let first = try bench.open()
            try await first.append([bench.event(1)])
            let lost = try await bench.claimOne(first)
            // Declares the first one gone.
            let second = try bench.open()
            let lease = try await bench.claimOne(second)
            #expect(lease.earlier == 1)
            #expect(try await first.settle(lost, .refused) == .lost)
            #expect(try await second.settle(lease, .delivered(status: 204)) == .recorded)
            #expect(try await bench.only(second).state == .delivered)
            #expect(try await first.settle(lost, .delivered(status: 204)) == .lost)
            // It continues as a new node.
            try await first.append([bench.event(2)])
            #expect(try await bench.claimNumbers(first) + bench.claimNumbers(second) == [2])
            #expect(try await first.audit().isRight)
        },
        Self("aNodeThatWasDeclaredGoneKeepsNothingInMemory") { bench in
            let first = try bench.open()
            try await first.append((0..<5).map { bench.event($0) })
            let second = try bench.open()
            #expect(try await bench.claimNumbers(second).sorted() == Array(0..<5))
            #expect(try await bench.claimNumbers(first).isEmpty)
        },
        Self("statesOfDestinationsHoldForAllNodes") { bench in
            let (first, second) = (try bench.open(), try bench.openBeside())
            try await first.append([bench.event(1)])
            let lease = try await bench.claimOne(first)
            try await first.settle(Settlement(lease, .failed(after: 0), disabling: "answered 410"))
            #expect(try await bench.claimNumbers(second).isEmpty)
            #expect(!second.isActive(bench.crm))
            try await second.set(nil, of: bench.crm, until: nil, as: nil)
            try await first.withhold("no consent", by: bench.inbox)
            try await second.tick()
            #expect(second.isActive(bench.crm) && second.isWithheld(by: bench.inbox))
            try await second.permit(by: bench.inbox)
            try await first.tick()
            #expect(first.isActive(bench.crm) && !first.isWithheld(by: bench.inbox))
            #expect(try await bench.claimNumbers(first) == [1])
        },
        Self("countsAreThoseOfAllNodes") { bench in
            let (first, second) = (try bench.open(), try bench.openBeside())
            try await first.append((0..<6).map { bench.event($0) })
            try await second.append((6..<9).map { bench.event($0) })
            for (lease, outcome) in zip(
                try await first.claim(from: bench.crm, upTo: 3),
                [Outcome.delivered(status: 204), .refused, .failed(after: 60)])
            { try await first.settle(lease, outcome) }
            try await second.settle(bench.claimOne(second), .delivered(status: 204))
            #expect(try await second.purge(DeliveryFilter(state: .delivered)) == 2)
            for node in [first, second] {
                let gauges = try #require(try await node.gauges()[bench.crm])
                #expect((gauges.accepted, gauges.waiting, gauges.dead) == (9, 6, 1))
                #expect(try await node.audit().isRight)
            }
        },
    ]

    /// Runs a step on all nodes at the same time; returns the results in their order.
    static func all<R: Sendable>(
        _ nodes: [any Store], _ step: @escaping @Sendable (Int, any Store) async throws -> R
    ) async throws -> [R] {
        try await withThrowingTaskGroup(of: (Int, R).self) { group in
            for (turn, node) in nodes.enumerated() { group.addTask { (turn, try await step(turn, node)) } }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Delivers on all nodes at the same time until `count` deliveries to `crm` have been leased, or a node finds
    /// nothing for long; returns the numbers of their events.
    private static func deliverAll(on nodes: [any Store], _ bench: StoreBench, of count: Int) async throws -> [Int] {
        let counter = Counter()
        return try await all(nodes) { turn, node -> [Int] in
            var found: [Int] = []
            var emptyClaims = 0
            while counter.value < count, emptyClaims < 1000 {
                try await node.tick()
                let leases = try await node.claim(from: bench.crm, upTo: 7 + turn)
                emptyClaims = leases.isEmpty ? emptyClaims + 1 : 0
                found += leases.map(\.number)
                counter.add(leases.count)
                for lease in leases {
                    #expect(try await node.settle(lease, .delivered(status: 204)) == .recorded)
                }
            }
            return found
        }.flatMap { $0 }
    }
}
