import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Scheduled and expiring deliveries. A delivery with `notBefore` waits for that time, even across a restart, for a
    /// year, and after a manual retry. A delivery with `notAfter` is never leased afterwards; it ends as `expired` at a
    /// tick or a claim. A leased one ends with its attempt.
    static let schedules = [
        Self("waitsForAScheduledTimeAcrossARestart") { bench in
            let notBefore = bench.clock.now.addingTimeInterval(600)
            let queue = try bench.open()
            try await queue.append([bench.event(1, to: [DeliveryOrder(to: bench.crm, notBefore: notBefore)])])
            #expect(try await bench.claimNumbers(queue).isEmpty)
            #expect(try await queue.scheduledCount() == 1)
            let next = try bench.open()
            #expect(try await bench.claimNumbers(next).isEmpty)
            bench.clock.advance(by: 599)
            #expect(try await bench.claimNumbers(next).isEmpty)
            bench.clock.advance(by: 1)
            #expect(try await bench.claimNumbers(next) == [1])
            #expect(try await next.scheduledCount() == 0)
        },
        Self("waitsForAYear") { bench in
            let year: TimeInterval = 365 * 86_400
            let queue = try bench.open()
            let notBefore = bench.clock.now.addingTimeInterval(year)
            try await queue.append([bench.event(1, to: [DeliveryOrder(to: bench.crm, notBefore: notBefore)])])
            _ = try await queue.remove(beyond: .init(ended: .zero, dead: .zero, bytes: 0))
            bench.clock.advance(by: year - 1)
            #expect(try await bench.claimNumbers(bench.open()).isEmpty)
            bench.clock.advance(by: 1)
            #expect(try await bench.claimNumbers(queue) == [1])
        },
        Self("retryKeepsTheScheduledTime") { bench in
            let queue = try bench.open()
            let notBefore = bench.clock.now.addingTimeInterval(600)
            try await queue.append([bench.event(1, to: [DeliveryOrder(to: bench.crm, notBefore: notBefore)])])
            _ = try await queue.retry(DeliveryFilter(destination: bench.crm))
            #expect(try await bench.claimNumbers(queue).isEmpty)
            bench.clock.advance(by: 600)
            #expect(try await bench.claimNumbers(queue) == [1])
        },
        Self("anExpiredDeliveryIsNotLeased") { bench in
            let queue = try bench.open()
            let now = bench.clock.now
            let over = now.addingTimeInterval(60)
            // One in memory, one that waits for a retry, one whose scheduled time is too late.
            try await queue.append([bench.event(1, to: [DeliveryOrder(to: bench.crm, notAfter: over)])])
            try await queue.settle(bench.claimOne(queue), .failed(after: 3600))
            try await queue.append([
                bench.event(2, to: [DeliveryOrder(to: bench.crm, notAfter: over)]),
                bench.event(3, to: [DeliveryOrder(to: bench.crm, notBefore: over, notAfter: over)]),
            ])
            let fresh = try await bench.claimOne(queue)
            #expect(fresh.number == 2)
            #expect(fresh.notAfter == over, "a lease has the expiry")
            bench.clock.advance(by: 59)
            try await queue.tick()
            #expect(try await bench.count(.expired, in: queue) == 0)
            bench.clock.advance(by: 1)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            #expect(try await bench.count(.expired, in: queue) == 2, "a leased delivery ends with its attempt")
            try await queue.settle(fresh, .expired)
            #expect(try await bench.count(.expired, in: queue) == 3)
            #expect(try await queue.audit().isRight)
        },
        Self("aDeliveryInMemoryExpiresWhileItsLaneWaits") { bench in
            let queue = try bench.open()
            let over = bench.clock.now.addingTimeInterval(60)
            try await queue.append([bench.event(1, to: [DeliveryOrder(to: bench.crm, notAfter: over)])])
            bench.clock.advance(by: 60)
            // A store that others use has read what is overdue before it gives the delivery back.
            for _ in 0..<2 { try await queue.tick() }
            #expect(try await bench.count(.expired, in: queue) == 1)
            #expect(try await queue.claim(from: bench.crm, upTo: 1).isEmpty)
            #expect(try await queue.audit().isRight)
        },
        Self("aDeliveryThatExpiredDuringARestartIsNotLeased") { bench in
            let over = bench.clock.now.addingTimeInterval(60)
            try await bench.open().append([bench.event(1, to: [DeliveryOrder(to: bench.crm, notAfter: over)])])
            bench.clock.advance(by: 60)
            let queue = try bench.open()
            #expect(try await queue.claim(from: bench.crm, upTo: 1).isEmpty)
            #expect(try await bench.count(.expired, in: queue) == 1)
        },
    ]
}
