import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// The counts that metrics show. The store keeps them as they change, so each way in which a delivery begins, ends
    /// or is removed must keep them equal to the stored deliveries.
    static let gauges = [
        Self("gaugesFollowEveryChangeOfADelivery") { bench in
            let seed = UInt64.random(in: 0 ... .max)
            var random = SeededGenerator(seed: seed)
            var queue = try bench.open()
            for step in 0..<120 {
                try await bench.change(&queue, step, &random)
                try await bench.expectGauges(of: queue, "seed \(seed), step \(step)")
            }
            try await bench.expectGauges(of: bench.open(), "seed \(seed), in another process")
        },
        Self("theOldestDueDeliveryIsShownOnceItIsDue") { bench in
            let queue = try bench.open()
            let later = bench.clock.now.addingTimeInterval(60)
            try await queue.append([bench.event(1, to: [DeliveryOrder(to: bench.crm, notBefore: later)])])
            #expect(try await queue.gauges()[bench.crm]?.oldestDue == nil)
            bench.clock.advance(by: 61)
            #expect(try await queue.gauges()[bench.crm]?.oldestDue == later)
        },
        Self("endsAreCountedOnceTheyAreDurable") { bench in
            let queue = try bench.open()
            let over = bench.clock.now.addingTimeInterval(30)
            try await queue.append([
                bench.event(1), bench.event(2), bench.event(3, to: [DeliveryOrder(to: bench.inbox, notAfter: over)]),
            ])
            let leases = try await queue.claim(from: bench.crm, upTo: 2)
            try await queue.settle(leases[0], .delivered(status: 200))
            try await queue.settle(leases[1], .refused)
            // The lease is no longer held, so the second settlement counts nothing.
            try await queue.settle(leases[1], .refused)
            let held = try await queue.claim(from: bench.inbox, upTo: 1)
            try await queue.settle(held[0], .returned)
            bench.clock.advance(by: 31)
            try await queue.tick()
            #expect(queue.health.ends.values == [bench.crm: [.delivered: 1, .dead: 1], bench.inbox: [.expired: 1]])
            #expect(queue.health.commits.values.count > 0)
        },
        Self("theSpaceOfTheFilesIsKnown") { bench in
            let queue = try bench.open()
            let before = try await queue.space()
            try await queue.append([bench.event(1, size: 200_000)])
            let space = try await queue.space()
            #expect(space.used >= before.used + 200_000)
            // The file system of a database may be on another machine.
            guard !type(of: bench.location).hasNodes else { return #expect(space.free == nil && space.size == nil) }
            let (free, size) = (try #require(space.free), try #require(space.size))
            #expect(free > 0 && size >= free)
        },
    ]
}

extension StoreBench {
    /// One random change of deliveries.
    fileprivate func change(_ queue: inout any Store, _ step: Int, _ random: inout SeededGenerator) async throws {
        let destination = Bool.random(using: &random) ? crm : inbox
        switch Int.random(in: 0..<10, using: &random) {
        case 0...2:
            let over = Bool.random(using: &random) ? clock.now.addingTimeInterval(20) : nil
            let orders = [DeliveryOrder(to: crm, notAfter: over), DeliveryOrder(to: inbox)]
            try await queue.append(
                (0..<Int.random(in: 1...5, using: &random)).map { event(step * 10 + $0, to: orders) })
        case 3...5:
            for lease in try await queue.claim(from: destination, upTo: 4) {
                let outcomes: [Outcome] = [
                    .delivered(status: 200), .refused, .failed(after: 5), .returned,
                    .postponed(for: .seconds(1), reason: "later"),
                ]
                var settlement = Settlement(lease, outcomes.randomElement(using: &random) ?? .refused)
                if case .dead = settlement.outcome { settlement.successor = event(step * 10) }
                try await queue.settle(settlement)
            }
        case 6: _ = try await queue.retry(DeliveryFilter(state: .dead, destination: destination))
        case 7:
            clock.advance(by: TimeInterval.random(in: 1...30, using: &random))
            try await queue.tick()
        case 8:
            let state = DeliveryRecord.State.allCases.randomElement(using: &random)
            _ = try await queue.purge(DeliveryFilter(state: state, destination: destination))
        default: queue = try open()
        }
    }

    fileprivate func expectGauges(of queue: any Store, _ comment: String) async throws {
        let (gauges, counts) = (try await queue.gauges(), try await queue.counts())
        for destination in [crm, inbox] {
            let gauge = gauges[destination] ?? DestinationGauges()
            #expect(gauge.waiting == counts[destination]?[.waiting] ?? 0, "\(comment), \(destination)")
            #expect(gauge.dead == counts[destination]?[.dead] ?? 0, "\(comment), \(destination)")
        }
        let audit = try await queue.audit()
        #expect(audit.isRight, "\(comment): \(audit.accounts.map(\.miscounted))")
        let accounts = try await queue.accounts()
        #expect(accounts == audit.accounts, "\(comment): the ledger has the numbers of the stored deliveries")
    }
}
