import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Ordered destinations with several nodes. Deliveries with equal keys are leased one after another by whichever
    /// node, in the order in which their appends returned.
    static let nodesInOrder = [
        Self("aKeyThatANodeHoldsIsNotLeasedElsewhere") { bench in
            let (first, second) = (try bench.open(isOrdered: true), try bench.openBeside(isOrdered: true))
            try await first.append([bench.event(0, under: "a")])
            let lease = try await bench.claimOne(first)
            try await second.append([bench.event(1, under: "a"), bench.event(2, under: "b")])
            #expect(try await bench.claimNumbers(second) == [2])
            #expect(try await bench.claimNumbers(first).isEmpty)
            try await first.settle(lease, .failed(after: 30))
            #expect(try await bench.claimNumbers(second).isEmpty, "the first one waits for its retry")
            bench.clock.advance(by: 30)
            #expect(try await bench.claimNumbers(second) == [0])
        },
        Self("aLostLeaseKeepsTheOrderOfItsKey") { bench in
            let first = try bench.open(isOrdered: true)
            try await first.append((0..<3).map { bench.event($0, under: "a") })
            let lost = try await bench.claimOne(first)
            let second = try bench.open(isOrdered: true)
            let lease = try await bench.claimOne(second)
            #expect(lease.number == 0)
            #expect(try await first.settle(lost, .delivered(status: 204)) == .lost)
            #expect(try await bench.claimNumbers(first).isEmpty)
            try await second.settle(lease, .delivered(status: 204))
            #expect(try await bench.claimNumbers(second) == [1])
        },
        // While nodes are given a new config one after another.
        Self("aNodeThatDoesNotOrderTheDestinationKeepsTheOrderOfItsKeys") { bench in
            let (first, second) = (try bench.open(isOrdered: true), try bench.openBeside(isOrdered: false))
            try await first.append(["a", "a", "b"].enumerated().map { bench.event($0, under: $1) })
            try await second.append([bench.event(3), bench.event(4, under: "a")])
            var leases: [Lease] = []
            for _ in 0..<5 {
                try await second.tick()
                leases += try await second.claim(from: bench.crm, upTo: 100)
            }
            #expect(leases.map(\.number).sorted() == [0, 2, 3])
            #expect(try await bench.claimNumbers(first).isEmpty)
            for lease in leases {
                try await second.settle(lease, lease.number == 0 ? .failed(after: 30) : .delivered(status: 204))
            }
            #expect(try await bench.claimNumbers(second).isEmpty, "the others wait for the retry")
            bench.clock.advance(by: 30)
            for number in [0, 1, 4] {
                try await second.tick()
                let lease = try await bench.claimOne(second)
                #expect(lease.number == number)
                try await second.settle(lease, .delivered(status: 204))
            }
        },
        Self("anyNodesKeepTheOrderOfEachKey") { bench in
            let seed = UInt64.random(in: 0 ... .max)
            var random = SeededGenerator(seed: seed)
            let nodes = try (0..<3).map {
                try $0 == 0 ? bench.open(isOrdered: true) : bench.openBeside(isOrdered: true)
            }
            var appended: [String: [Int]] = [:]
            var ended: [String: [Int]] = [:]
            var leases: [(node: Int, lease: Lease)] = []
            var number = 0
            for _ in 0..<5000 where ended.values.joined().count < 60 {
                let turn = Int.random(in: 0..<nodes.count, using: &random)
                if number < 60, Bool.random(using: &random) {
                    let key = ["a", "b", "c"][Int.random(in: 0..<3, using: &random)]
                    try await nodes[turn].append([bench.event(number, under: key)])
                    appended[key, default: []].append(number)
                    number += 1
                }
                try await nodes[turn].tick()
                for lease in try await nodes[turn].claim(from: bench.crm, upTo: Int.random(in: 1...3, using: &random)) {
                    #expect(!leases.contains { $0.lease.orderKey == lease.orderKey }, "two of a key, seed \(seed)")
                    leases.append((turn, lease))
                }
                guard let place = leases.indices.randomElement(using: &random) else {
                    bench.clock.advance(by: 1)
                    continue
                }
                let (node, lease) = leases.remove(at: place)
                let fails = Int.random(in: 0..<4, using: &random) == 0
                #expect(
                    try await nodes[node].settle(lease, fails ? .failed(after: 1) : .delivered(status: 204))
                        == .recorded)
                if !fails { ended[lease.orderKey ?? "", default: []].append(lease.number) }
            }
            #expect(ended == appended, "seed \(seed)")
            #expect(try await nodes[0].audit().isRight)
        },
    ]
}

extension StoreBench {
    /// An event with a delivery to `crm`, which the check opens with `isOrdered`.
    fileprivate func event(_ number: Int, under key: String) -> RoutedEvent {
        event(number, to: [DeliveryOrder(to: crm, orderKey: key)])
    }
}
