import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// An operator's process next to one that delivers. The gateway sees a change at its next tick. No change
    /// touches a delivery whose attempt is in progress, and appends of both processes are delivered.
    static let beside = [
        Self("aPauseByAnotherProcessIsSeenAtTheNextTick") { bench in
            let gateway = try bench.open()
            let operators = try bench.location.openBeside(bench.clock)
            try await gateway.append([bench.event(1)])
            try await operators.set(.paused, of: bench.crm, until: nil, as: nil)
            try await gateway.tick()
            #expect(!gateway.isActive(bench.crm))
            #expect(try await gateway.claim(from: bench.crm, upTo: 1).isEmpty)
            try await operators.set(nil, of: bench.crm, until: nil, as: nil)
            #expect(try await bench.claimNumbers(gateway) == [1])
            #expect(gateway.isActive(bench.crm))
        },
        Self("purgeSparesAttemptsInProgressElsewhere") { bench in
            let gateway = try bench.open()
            try await gateway.append([bench.event(1)])
            let lease = try await bench.claimOne(gateway)
            let operators = try bench.location.openBeside(bench.clock)
            #expect(try await operators.purge(DeliveryFilter(destination: bench.crm)) == 0)
            #expect(try await operators.inProgressCount(DeliveryFilter(destination: bench.crm)) == 1)
            #expect(try await gateway.settle(lease, .delivered(status: 204)) == .recorded)
            #expect(try await operators.purge(DeliveryFilter(destination: bench.crm)) == 1)
            #expect(try await operators.inProgressCount(DeliveryFilter(destination: bench.crm)) == 0)
            #expect(try await operators.audit().isRight)
        },
        Self("aDeliveryThatWaitsInMemoryIsNotInProgress") { bench in
            let gateway = try bench.open()
            try await gateway.append([bench.event(1)])
            let waiting = try await bench.only(gateway)
            #expect(!waiting.isInProgress && !waiting.isClaimed)
            let page = try await gateway.deliveryPage(DeliveryFilter(), limit: 5, examining: 5).records
            #expect(page.map(\.isInProgress) == [false])
            let lease = try await bench.claimOne(gateway)
            let claimed = try await bench.only(gateway)
            #expect(claimed.isInProgress && claimed.isClaimed)
            let command = try bench.location.openBeside(bench.clock)
            let seen = try await bench.only(command)
            #expect(seen.isInProgress && !seen.isClaimed, "another process has it")
            try await gateway.settle(lease, .failed(after: 30))
            #expect(try await !bench.only(gateway).isInProgress)
        },
        Self("retryDoesNotRepeatAnAttemptInProgress") { bench in
            let gateway = try bench.open()
            try await gateway.append([bench.event(1)])
            let lease = try await bench.claimOne(gateway)
            let operators = try bench.location.openBeside(bench.clock)
            _ = try await operators.retry(DeliveryFilter(destination: bench.crm))
            #expect(try await bench.claimNumbers(gateway).isEmpty)
            #expect(try await gateway.settle(lease, .delivered(status: 204)) == .recorded)
            #expect(try await gateway.audit().isRight)
        },
        Self("eventsOfAnotherProcessAreLeased") { bench in
            let gateway = try bench.open()
            let command = try bench.location.openBeside(bench.clock)
            try await gateway.append([bench.event(1)])
            try await command.append([bench.event(2)])
            // A claim may return the deliveries in memory only.
            let found = try await bench.claimNumbers(gateway) + bench.claimNumbers(gateway)
            #expect(found.sorted() == [1, 2])
            #expect(try await command.audit().isRight)
        },
        Self("expiredDeliveriesInProgressElsewhereAreSpared") { bench in
            let gateway = try bench.open()
            let over = bench.clock.now.addingTimeInterval(60)
            try await gateway.append([bench.event(1, to: [DeliveryOrder(to: bench.crm, notAfter: over)])])
            let lease = try await bench.claimOne(gateway)
            bench.clock.advance(by: 61)
            let command = try bench.location.openBeside(bench.clock)
            _ = try await command.remove(beyond: Retention(ended: .zero, dead: .zero, bytes: 0))
            #expect(try await gateway.settle(lease, .delivered(status: 204)) == .recorded)
            #expect(try await bench.only(gateway).state == .delivered)
        },
    ]
}
