import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Deliveries that have one attempt. They wait for it as long as necessary and end with it. An attempt that a
    /// crash interrupted does not use it up, and a manual retry allows another one.
    static let once = [
        Self("aDeliveryMayHaveOneAttempt") { bench in
            let queue = try bench.open()
            let order = DeliveryOrder(to: bench.crm, notAfter: .afterFirstAttempt)
            // One from memory, one that was not attempted, one that waits for long.
            try await queue.append((1...3).map { bench.event($0, to: [order]) })
            bench.clock.advance(by: 3600)
            try await queue.tick()
            #expect(try await bench.count(.expired, in: queue) == 0, "it has time until its attempt")
            try await queue.settle(bench.claimOne(queue), .failed(after: 5))
            try await queue.settle(bench.claimOne(queue), .returned)
            try await queue.tick()
            #expect(try await bench.count(.expired, in: queue) == 1)
            let third = try await bench.claimNumbers(queue)
            let second = try await bench.claimNumbers(queue)
            #expect(third.count + second.count == 2)
            #expect(try await queue.audit().isRight)
        },
        Self("aDeliveryWithOneAttemptHasAnotherForEachRetry") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, to: [DeliveryOrder(to: bench.crm, notAfter: .afterFirstAttempt)])])
            try await queue.settle(bench.claimOne(queue), .dead(status: 400, reason: "answered 400"))
            for attempts in 1...2 {
                #expect(try await queue.retry(DeliveryFilter(destination: bench.crm)) == 1)
                try await queue.tick()
                let lease = try await bench.claimOne(queue)
                #expect(lease.earlier == attempts)
                let outcome = attempts == 1 ? Outcome.dead(status: 400, reason: "") : .failed(after: 5)
                try await queue.settle(lease, outcome)
            }
            #expect(try await bench.only(queue).state == .expired)
            #expect(try await bench.only(queue).attempts == 3)
            bench.clock.advance(by: 5)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            #expect(try await queue.audit().isRight)
        },
        Self("aRetryDuringTheOneAttemptAllowsAnother") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1, to: [DeliveryOrder(to: bench.crm, notAfter: .afterFirstAttempt)])])
            let lease = try await bench.claimOne(queue)
            #expect(try await queue.retry(DeliveryFilter(destination: bench.crm)) == 1)
            try await queue.settle(lease, .failed(after: 5))
            #expect(try await bench.only(queue).state == .waiting)
            bench.clock.advance(by: 5)
            #expect(try await bench.claimNumbers(queue) == [1])
        },
        Self("anInterruptedAttemptDoesNotUseUpTheOnlyOne") { bench in
            let order = DeliveryOrder(to: bench.crm, notAfter: .afterFirstAttempt)
            let queue = try bench.open()
            try await queue.append([bench.event(1, to: [order])])
            _ = try await bench.claimOne(queue)
            // The former queue stands for a process that has ended.
            let next = try bench.open()
            let kept: [Outcome] = [.returned, .postponed(for: .zero, reason: "no descriptors")]
            for outcome in kept {
                try await next.settle(bench.claimOne(next), outcome)
                try await next.tick()
                #expect(try await bench.only(next).state == .waiting, "\(outcome)")
            }
            try await next.settle(bench.claimOne(next), .failed(after: 5))
            #expect(try await bench.only(next).state == .expired)
            #expect(try await next.audit().isRight)
        },
    ]
}
