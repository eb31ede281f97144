import Foundation
import SignalboxNotification
import SignalboxPostgres
import SignalboxStore
import SignalboxStoreTesting
import SignalboxTesting
import Testing

/// Changes by operators on several nodes at once.
@Suite(.timeLimit(.minutes(5))) struct OperatorTests {
    @Test func aRetryLeavesTheLeaseOfAnotherNodeAlone() async throws {
        try await OperatorBench.with { bench in
            let (first, second) = (try bench.node(), try bench.node())
            try await first.append([bench.event(1)])
            let lease = try #require(try await first.claim(from: OperatorBench.crm, upTo: 1).first)
            _ = try await second.retry(DeliveryFilter(ids: [lease.delivery]))
            #expect(try await second.purge(DeliveryFilter(), sparingUndelivered: false) == 0)
            try await second.tick()
            #expect(try await second.claim(from: OperatorBench.crm, upTo: 1).isEmpty)
            #expect(try await second.attempts(of: lease.delivery).isEmpty)
            #expect(try await first.settle(lease, .delivered(status: 200)) == .recorded)
            #expect(try await second.attempts(of: lease.delivery).map(\.number) == [1])
            #expect(try await second.audit().isRight)
        }
    }

    @Test func twoNodesRetryEachDeliveryOnce() async throws {
        try await OperatorBench.with { bench in
            let (first, second) = (try bench.node(), try bench.node())
            try await bench.addDead(2_300, first)
            let dead = DeliveryFilter(state: .dead)
            async let one = first.retry(dead)
            async let other = second.retry(dead)
            #expect(try await one + other == 2_300)
            #expect(try await first.counts()[OperatorBench.crm] == [.waiting: 2_300])
            #expect(try await first.audit().isRight)
        }
    }

    @Test func anEventIsRemovedByTheLastOfTwoNodesThatPurge() async throws {
        try await OperatorBench.with { bench in
            let (first, second) = (try bench.node(), try bench.node())
            try await bench.addDead(1_100, to: [OperatorBench.crm, OperatorBench.inbox], first)
            async let crm = first.purge(DeliveryFilter(destination: OperatorBench.crm), sparingUndelivered: false)
            async let inbox = second.purge(DeliveryFilter(destination: OperatorBench.inbox), sparingUndelivered: false)
            #expect(try await [crm, inbox] == [1_100, 1_100])
            #expect(try await first.eventCount() == 0)
            #expect(try await first.audit().isRight)
        }
    }

    @Test func retriesAndOrdersDuringRemovalsLeaveNoDeliveryWithoutItsEvent() async throws {
        try await OperatorBench.with { bench in
            let (first, second, third) = (try bench.node(), try bench.node(), try bench.node())
            for round in 0..<6 {
                try await bench.addDead(60, first)
                let newest = try await first.newestEvents(20, upTo: .max)
                bench.clock.advance(by: 3600)
                async let removed = first.remove(
                    beyond: Retention(ended: .seconds(60), dead: .seconds(60), bytes: .max)
                ) {}
                async let purged = second.purge(DeliveryFilter(state: .dead), sparingUndelivered: false)
                async let retried = third.retry(DeliveryFilter(state: .dead))
                for event in newest {
                    _ = try await second.send(ManualDelivery(event.id, to: OperatorBench.inbox), as: nil)
                }
                _ = try await (removed, purged, retried)
                let audit = try await second.audit()
                #expect(audit.isRight, "round \(round): \(audit)")
            }
        }
    }

    @Test func listsAreAnsweredWhileATransactionHoldsEveryRow() async throws {
        try await OperatorBench.with { bench in
            let node = try bench.node()
            try await bench.addDead(20, node)
            try await node.append([bench.event(21)])
            let other = try PostgresAdmin(bench.location.target)
            try other.run("BEGIN")
            for table in ["events", "queue", "ended", "ledger"] {
                try other.run("SELECT 1 FROM \(table) FOR UPDATE")
            }
            #expect(try await node.deliveryPage(DeliveryFilter(), limit: 50, examining: 50).records.count == 21)
            #expect(try await node.eventPage(EventFilter(), limit: 50, examining: 50).records.count == 21)
            #expect(try await node.gauges()[OperatorBench.crm]?.dead == 20)
            #expect(try await node.audit().isRight)
            try other.run("ROLLBACK")
        }
    }

    @Test func aPageWithoutAMatchEndsAfterItsRows() async throws {
        try await OperatorBench.with { bench in
            let node = try bench.node()
            try await node.append((0..<3_000).map { bench.event($0) })
            var filter = DeliveryFilter(destination: OperatorBench.inbox)
            var examined: [Bool] = []
            repeat {
                let page = try await node.deliveryPage(filter, limit: 10, examining: 700)
                #expect(page.records.isEmpty && page.isComplete == (page.next == nil))
                examined.append(page.isComplete)
                filter.before = page.next
            } while filter.before != nil && examined.count < 9
            #expect(examined == [false, false, false, false, true])
            #expect(try await node.deliveries(DeliveryFilter(destination: OperatorBench.inbox), limit: 5).isEmpty)
        }
    }
}
