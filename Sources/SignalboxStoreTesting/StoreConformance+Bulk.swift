import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    private static let dead = DeliveryFilter(state: .dead)

    /// Adds deliveries to `crm` that are refused at once.
    private static func addDead(_ count: Int, _ bench: StoreBench, _ queue: any Store) async throws {
        for start in stride(from: 0, to: count, by: 400) {
            try await bench.fill(queue, from: start, count: min(400, count - start))
            for lease in try await queue.claim(from: bench.crm, upTo: 400) { try await queue.settle(lease, .refused) }
        }
    }

    private static func action() -> OperatorAction {
        OperatorAction(by: "ann", role: "operator", via: .api, "deliveries.retry", parameters: ["state": "dead"])
    }

    /// A bulk change touches what its preview counted.
    static let bulk = [
        Self("aPreviewCountsTheSelectedDeliveries") { bench in
            let queue = try bench.open()
            let start = bench.clock.now
            try await addDead(3, bench, queue)
            bench.clock.advance(by: 60)
            try await queue.append([bench.event(9, to: [DeliveryOrder(to: bench.inbox)])])
            for lease in try await queue.claim(from: bench.inbox, upTo: 1) { try await queue.settle(lease, .refused) }
            bench.clock.advance(by: 1)
            let preview = try await queue.preview(.retry, of: dead)
            #expect(preview.count == 4 && preview.byDestination == [bench.crm: 3, bench.inbox: 1])
            #expect(preview.accepted == start...start.addingTimeInterval(60))
            #expect(try await queue.deliveries(dead, limit: 9).first?.id == preview.through)
            #expect(try await queue.preview(.retry, of: DeliveryFilter(state: .delivered)).count == 0)
            let none = try await queue.preview(.purge, of: DeliveryFilter(event: "unknown"))
            #expect(none.count == 0 && none.accepted == nil && none.through == 0)
            #expect(try await queue.knows(bench.inbox))
            #expect(try await !queue.knows(DestinationName("other")))
        },
        Self("aRetryChangesExactlyTheCountedDeliveries") { bench in
            let queue = try bench.open()
            // These die after the preview although their numbers are smaller.
            try await bench.fill(queue, from: 0, count: 50)
            let waiting = try await queue.claim(from: bench.crm, upTo: 50)
            try await addDead(1_200, bench, queue)
            bench.clock.advance(by: 1)
            let preview = try await queue.preview(.retry, of: dead)
            #expect(preview.count == 1_200)
            for lease in waiting { try await queue.settle(lease, .refused) }
            try await addDead(50, bench, queue)
            #expect(try await queue.retry(preview.exact(dead), as: action()) == 1_200)
            #expect(try await queue.counts()[bench.crm] == [.waiting: 1_200, .dead: 100])
            let log = try await queue.actionPage(ActionFilter(), limit: 9, examining: 9).records
            #expect(log.map(\.count) == [1_200], "one row for all steps")
        },
        Self("aPurgeRemovesExactlyTheCountedDeliveries") { bench in
            let queue = try bench.open()
            try await addDead(700, bench, queue)
            bench.clock.advance(by: 1)
            let preview = try await queue.preview(.purge, of: dead)
            try await addDead(5, bench, queue)
            #expect(try await queue.purge(preview.exact(dead), sparingUndelivered: false, as: action()) == 700)
            #expect(try await queue.counts()[bench.crm] == [.dead: 5])
            #expect(try await queue.audit().isRight)
        },
        Self("aPreviewOfAPurgeLeavesOutAttemptsInProgress") { bench in
            let queue = try bench.open()
            try await bench.fill(queue, from: 0, count: 3)
            let lease = try await bench.claimOne(queue)
            let waiting = DeliveryFilter(state: .waiting)
            #expect(try await queue.preview(.purge, of: waiting).count <= 2)
            try await queue.settle(lease, .failed(after: 60))
            bench.clock.advance(by: 1)
            let preview = try await queue.preview(.purge, of: waiting)
            #expect(preview.count >= 1)
            #expect(try await queue.purge(preview.exact(waiting)) == preview.count)
        },
        Self("aPurgeIncludesDeliveriesInTheMemoryOfItsProcess") { bench in
            let queue = try bench.open()
            try await bench.fill(queue, from: 0, count: 4)
            let lease = try await bench.claimOne(queue)
            let waiting = DeliveryFilter(state: .waiting, destination: bench.crm)
            let preview = try await queue.preview(.purge, of: waiting)
            #expect(preview.count == 3)
            try await bench.fill(queue, from: 4, count: 2)
            #expect(try await queue.purge(preview.exact(waiting)) == 3)
            #expect(try await queue.settle(lease, .delivered(status: 204)) == .recorded)
            #expect(try await bench.claimNumbers(queue) == [4, 5], "later ones stay")
            #expect(try await queue.audit().isRight)
        },
        Self("aSpreadRetryIsDueLittleByLittle") { bench in
            let queue = try bench.open()
            try await addDead(601, bench, queue)
            bench.clock.advance(by: 1)
            let now = bench.clock.now
            #expect(try await queue.retry(dead, spread: BulkSpread(of: 601, over: .seconds(600)), as: nil) == 601)
            let dues = try await queue.deliveries(DeliveryFilter(state: .waiting), limit: 700).map(\.due).reversed()
            #expect(dues.first == now && dues.last == now.addingTimeInterval(600))
            #expect(dues.sorted() == Array(dues), "the oldest one first")
            #expect(try await bench.claimNumbers(queue, upTo: 700).count == 1)
            bench.clock.advance(by: 10)
            #expect(try await bench.claimNumbers(queue, upTo: 700).count == 10)
        },
    ]
}
