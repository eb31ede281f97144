import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// The record of attempts: ``InspectionStore/attempts(of:)`` lists every attempt with its number, times, status
    /// and failure. The last one is part of the delivery, too.
    ///
    /// A claim is durable before it returns, so a crash during an attempt leaves a record. The next process counts
    /// that attempt with the error `interrupted`, because the destination may have received it. Earlier attempts stay
    /// unchanged.
    ///
    /// A postponement is a local reason not to send, such as a lack of file descriptors. It counts no attempt and
    /// changes none. A clean stop returns leases that were not begun, so it interrupts no attempt.
    static let attempts = [
        Self("attemptsAreNumberedAndRecorded") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1)])
            let id = try await bench.only(queue).id
            #expect(try await queue.attempts(of: id).isEmpty)
            let startedAt = bench.clock.now
            var failed = Attempt(startedAt: startedAt, duration: .milliseconds(7), error: "refused")
            failed.exchange = Array(#"{"request":{}}"#.utf8)
            try await queue.settle(
                Settlement(
                    bench.claimOne(queue), .retry(after: .zero, status: nil, reason: "not connected"), attempt: failed))
            #expect(try await queue.attempts(of: id).map(\.exchange) == [failed.exchange])
            try await queue.tick()
            try await queue.settle(
                Settlement(
                    bench.claimOne(queue), .delivered(status: 201),
                    attempt: Attempt(
                        startedAt: startedAt, duration: .milliseconds(9), remote: "127.0.0.1:80",
                        excerpt: Array("ok".utf8))))
            let attempts = try await queue.attempts(of: id)
            #expect(attempts.map(\.number) == [1, 2])
            #expect(attempts.map(\.startedAt) == [startedAt, startedAt])
            #expect(attempts.map(\.duration) == [7, 9])
            #expect(attempts.map(\.status) == [nil, 201])
            #expect(attempts.map(\.error) == ["refused", nil])
            #expect(attempts.map(\.reason) == ["not connected", nil])
            #expect(attempts.map(\.remote) == [nil, "127.0.0.1:80"])
            #expect(attempts.map(\.excerpt) == [[], Array("ok".utf8)])
            #expect(attempts.map(\.exchange) == [failed.exchange, nil])
            #expect(try await bench.only(queue).last == attempts.last)
            #expect(try await bench.open().attempts(of: id) == attempts)
        },
        Self("aPostponementCountsNoAttemptAndChangesNone") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1)])
            try await queue.settle(bench.claimOne(queue), .postponed(for: .zero, reason: "no descriptors"))
            let id = try await bench.only(queue).id
            #expect(try await queue.attempts(of: id).isEmpty)
            #expect(try await bench.only(queue).reason == "no descriptors")
            try await queue.tick()
            try await queue.settle(bench.claimOne(queue), .failed(after: 0))
            try await queue.tick()
            try await queue.settle(bench.claimOne(queue), .postponed(for: .zero, reason: "no descriptors"))
            try await queue.tick()
            let lease = try await bench.claimOne(queue)
            #expect(lease.attempts == 1)
            try await queue.settle(lease, .delivered(status: 200))
            #expect(try await queue.attempts(of: id).map(\.reason) == ["answered 503", nil])
        },
        Self("aPostponementWithoutAWaitKeepsTheDueTime") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1)])
            let due = try await bench.only(queue).due
            for _ in 1...2 {
                bench.clock.advance(by: 60)
                try await queue.tick()
                try await queue.settle(bench.claimOne(queue), .postponed(for: .zero, reason: "no permission"))
                #expect(try await bench.only(queue).due == due)
                #expect(try await queue.gauges()[bench.crm]?.oldestDue == due)
            }
            bench.clock.advance(by: 60)
            try await queue.tick()
            try await queue.settle(bench.claimOne(queue), .postponed(for: .seconds(30), reason: "no descriptors"))
            #expect(try await bench.only(queue).due > due)
        },
        Self("anAttemptInterruptedByACrashIsRecordedAndCounted") { bench in
            let queue = try bench.open()
            // One is claimed. The other is handed over in memory and not claimed.
            try await queue.append([bench.event(1), bench.event(2)])
            _ = try await bench.claimOne(queue)
            for crash in 1...3 {
                let next = try bench.open()
                let leases = try await next.claim(from: bench.crm, upTo: 5)
                #expect(leases.map(\.number) == [1, 2])
                #expect(leases.map(\.attempts) == [crash, crash])
                for lease in leases {
                    let attempts = try await next.attempts(of: lease.delivery)
                    #expect(attempts.map(\.number) == Array(1...crash))
                    #expect(attempts.allSatisfy { $0.error == "interrupted" && $0.status == nil })
                }
            }
        },
        Self("anInterruptedAttemptKeepsEarlierAttempts") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1)])
            try await queue.settle(bench.claimOne(queue), .failed(after: 0))
            try await queue.tick()
            let id = try await bench.claimOne(queue).delivery
            let next = try bench.open()
            try await next.settle(bench.claimOne(next), .delivered(status: 200))
            let attempts = try await next.attempts(of: id)
            #expect(attempts.map(\.number) == [1, 2, 3])
            #expect(attempts.map(\.status) == [503, nil, 200])
            #expect(attempts.map(\.error) == [nil, "interrupted", nil])
        },
        Self("aDeliveryThatExpiresAfterACrashShowsItsInterruptedAttempt") { bench in
            let notAfter = bench.clock.now.addingTimeInterval(60)
            let order = DeliveryOrder(to: bench.crm, notAfter: notAfter)
            try await bench.open().append([bench.event(1, to: [order]), bench.event(2, to: [order])])
            bench.clock.advance(by: 61)
            let queue = try bench.open()
            #expect(try await queue.claim(from: bench.crm, upTo: 1).isEmpty)
            try await queue.tick()
            for record in try await queue.deliveries(DeliveryFilter(), limit: 5) {
                #expect(record.state == .expired)
                #expect(record.last?.error == "interrupted")
            }
        },
        Self("aCleanStopInterruptsNoAttempt") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1), bench.event(2)])
            try await queue.settle(bench.claimOne(queue), .returned)
            try await queue.giveBackFresh()
            let next = try bench.open()
            let leases = try await next.claim(from: bench.crm, upTo: 5)
            #expect(leases.map(\.attempts) == [0, 0])
            for lease in leases { #expect(try await next.attempts(of: lease.delivery).isEmpty) }
        },
        Self("aClaimIsDurableBeforeItReturns") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1)])
            try await queue.settle(bench.claimOne(queue), .failed(after: 0))
            try await queue.tick()
            _ = try await bench.claimOne(queue)
            // A new process knows the attempt from the store only.
            let lease = try await bench.claimOne(bench.open())
            #expect(lease.earlier == 2)
        },
    ]
}
