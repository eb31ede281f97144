import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Jumps of the machine's clock. Waits for retries, downloads and files last as long as before, whether the clock
    /// was set back or forward, and whether a tick, a write or a read notices it first. Scheduled times are instants
    /// and do not move.
    static let clock = [
        Self("aClockSetBackDoesNotStallRetries") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1)])
            try await queue.settle(bench.claimOne(queue), .failed(after: 30))
            try await queue.tick()
            bench.clock.set(by: -3600)
            try await queue.tick()
            bench.clock.advance(by: 29)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            bench.clock.advance(by: 1)
            #expect(try await bench.claimNumbers(queue) == [1])
        },
        Self("aClockSetForwardKeepsRetriesApart") { bench in
            let queue = try bench.open()
            try await queue.append((0..<50).map { bench.event($0) })
            for (second, lease) in try await queue.claim(from: bench.crm, upTo: 50).enumerated() {
                try await queue.settle(lease, .failed(after: Double(second + 10)))
            }
            try await queue.tick()
            bench.clock.set(by: 3600)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            var seen: [Int] = []
            for _ in 0..<60 {
                bench.clock.advance(by: 1)
                let found = try await bench.claimNumbers(queue)
                #expect(found.count <= 1)
                seen += found
            }
            #expect(seen == Array(0..<50))
        },
        Self("aClockThatJumpsBackAndForwardKeepsWaits") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1), bench.event(2)])
            for lease in try await queue.claim(from: bench.crm, upTo: 2) {
                try await queue.settle(lease, .failed(after: Double(lease.number * 30)))
            }
            try await queue.tick()
            for jump in [-3600.0, 3600, 86_400, -86_400] {
                bench.clock.set(by: jump)
                bench.clock.advance(by: 7)
                #expect(try await bench.claimNumbers(queue).isEmpty, "by \(jump)")
            }
            bench.clock.advance(by: 2)
            #expect(try await bench.claimNumbers(queue) == [1])
            // Both jumps happen between two ticks.
            bench.clock.set(by: 3600)
            bench.clock.set(by: -7200)
            bench.clock.advance(by: 29)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            bench.clock.advance(by: 1)
            #expect(try await bench.claimNumbers(queue) == [2])
        },
        Self("aClockSetBackBetweenProcessesDoesNotStallRetries", aStartWithAnEarlierClock),
        Self("aJumpDoesNotStallWritesBeforeTheNextTick", aClockThatJumps),
        Self("aJumpDoesNotChangeWaitsThatBeginBeforeTheNextTick", aWaitBesideAJump),
        Self("aJumpDoesNotChangeWaitsForFiles", aWaitForFiles),
        Self("aJumpEndsNoWaitBeforeTheNextTick", aMomentAfterAJump),
        Self("aJumpDoesNotMoveScheduledTimes") { bench in
            let queue = try bench.open()
            let notBefore = bench.clock.now.addingTimeInterval(7200)
            try await queue.append([bench.event(1, to: [DeliveryOrder(to: bench.crm, notBefore: notBefore)])])
            try await queue.tick()
            bench.clock.set(by: 3600)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            bench.clock.advance(by: 3600)
            #expect(try await bench.claimNumbers(queue) == [1])
        },
    ]

    /// A machine without a battery starts in 1970, and a time service sets its clock soon after.
    @Sendable private static func aStartWithAnEarlierClock(_ bench: StoreBench) async throws {
        for jump in [3600.0, 1_790_000_000] {
            let first = try bench.open()
            try await first.append([bench.event(1)])
            try await first.settle(bench.claimOne(first), .failed(after: 30))
            try await first.tick()
            bench.clock.set(by: -jump)
            let second = try bench.open()
            bench.clock.advance(by: 5)
            #expect(try await bench.claimNumbers(second).isEmpty, "by \(jump)")
            bench.clock.set(by: jump)
            #expect(try await bench.claimNumbers(second).isEmpty, "by \(jump)")
            // The times were moved once.
            let third = try bench.open()
            bench.clock.advance(by: 24)
            #expect(try await bench.claimNumbers(third).isEmpty, "by \(jump)")
            bench.clock.advance(by: 1)
            try await third.tick()
            try await third.settle(bench.claimOne(third), .delivered(status: 204))
        }
    }

    /// Covers waits from before the jump, and waits that begin between the jump and the next tick. Each round has a
    /// jump in one direction.
    @Sendable private static func aWaitForFiles(_ bench: StoreBench) async throws {
        for (round, jump) in [3600.0, -3600].enumerated() {
            let queue = try bench.open()
            let failure = MediaFailure(.timeout, "no answer")
            let urls = ["a", "b"].map { "https://\($0).example/\(round)" }
            let early = bench.event(0, to: [], media: MediaWait(urls: urls))
            try await queue.append([early, bench.event(1, waitingFor: [urls[0]])])
            let jobs = try await queue.dueMedia(upTo: 2, perHost: 1)
            #expect(jobs.map(\.url) == urls)
            try await queue.tick()
            for (step, job) in zip([0, jump], jobs) {
                bench.clock.set(by: step)
                if job.url == urls[1] { try await queue.append([bench.event(2, waitingFor: [job.url])]) }
                try await queue.settle(media: MediaSettlement(job.id, .retry(after: .seconds(30), failure)))
            }
            try await queue.tick()
            #expect(try await queue.nextMediaDue() == bench.clock.now.addingTimeInterval(30), "by \(jump)")
            bench.clock.advance(by: 29)
            #expect(try await queue.dueMedia(upTo: 2, perHost: 1).isEmpty, "by \(jump)")
            bench.clock.advance(by: 1)
            #expect(try await queue.dueMedia(upTo: 2, perHost: 1).count == 2, "by \(jump)")
            bench.clock.advance(by: 29)
            #expect(try await queue.heldDeliveries(upTo: 5).isEmpty, "by \(jump)")
            bench.clock.advance(by: 1)
            #expect(try await queue.heldDeliveries(upTo: 5).map(\.number) == [1, 2], "by \(jump)")
            bench.clock.advance(by: 59)
            #expect(try await bench.claimNumbers(queue).isEmpty, "by \(jump)")
            bench.clock.advance(by: 1)
            try await queue.tick()
            let due = try await queue.claim(from: bench.crm, upTo: 5)
            #expect(due.map(\.number) == [1, 2], "by \(jump)")
            for lease in due { try await queue.settle(lease, .delivered(status: 204)) }
            for job in try await queue.dueMedia(upTo: 2, perHost: 1) {
                try await queue.settle(media: MediaSettlement(job.id, .failed(failure)))
            }
        }
    }

    /// Reads the store between the jump and the next tick. The reads must follow the clock themselves, because no
    /// write has done so yet.
    @Sendable private static func aMomentAfterAJump(_ bench: StoreBench) async throws {
        for (round, jump) in [3600.0, -3600].enumerated() {
            let queue = try bench.open()
            try await queue.append([bench.event(1, waitingFor: ["https://a.example/\(round)"]), bench.event(2)])
            let retried = try await bench.claimOne(queue)
            try await queue.settle(retried, .failed(after: 30))
            try await queue.tick()
            bench.clock.set(by: jump)
            #expect(try await queue.claim(from: bench.crm, upTo: 5).isEmpty, "by \(jump)")
            #expect(try await queue.heldDeliveries(upTo: 5).isEmpty, "by \(jump)")
            bench.clock.advance(by: 59)
            #expect(try await queue.heldDeliveries(upTo: 5).isEmpty, "by \(jump)")
            try await queue.tick()
            let again = try await bench.claimOne(queue)
            #expect(again.number == 2, "by \(jump)")
            bench.clock.advance(by: 1)
            #expect(try await queue.heldDeliveries(upTo: 5).map(\.number) == [1], "by \(jump)")
            try await queue.settle(again, .delivered(status: 204))
            _ = try await queue.purge(DeliveryFilter())
        }
    }

    /// One attempt fails just before the jump, another one between the jump and the next tick. Both attempts are due
    /// 30 seconds after they failed.
    @Sendable private static func aWaitBesideAJump(_ bench: StoreBench) async throws {
        for jump in [3600.0, -3600] {
            let queue = try bench.open()
            try await queue.append([bench.event(1), bench.event(2)])
            let leases = try await queue.claim(from: bench.crm, upTo: 2)
            try await queue.tick()
            for (step, lease) in zip([0, jump], leases) {
                bench.clock.set(by: step)
                let now = bench.clock.now
                try await queue.settle(
                    Settlement(
                        lease, .failed(after: 30),
                        attempt: Attempt(startedAt: now.addingTimeInterval(-5), duration: .seconds(5))))
            }
            #expect(try await bench.claimNumbers(queue).isEmpty)
            bench.clock.advance(by: 29)
            #expect(try await bench.claimNumbers(queue).isEmpty, "by \(jump)")
            bench.clock.advance(by: 1)
            try await queue.tick()
            let due = try await queue.claim(from: bench.crm, upTo: 10)
            #expect(due.map(\.number) == [1, 2], "by \(jump)")
            for lease in due { try await queue.settle(lease, .delivered(status: 204)) }
            _ = try await queue.purge(DeliveryFilter())
        }
    }

    /// Writes between the jump and the next tick, with times of the new clock. An append and a settlement must find
    /// the store usable.
    @Sendable private static func aClockThatJumps(_ bench: StoreBench) async throws {
        for jump in [3600.0, -3600] {
            let queue = try bench.open(isOrdered: true)
            try await queue.append([bench.event(1)])
            let lease = try await bench.claimOne(queue)
            try await queue.tick()
            bench.clock.set(by: jump)
            let startedAt = bench.clock.now
            try await queue.settle(
                Settlement(
                    lease, .failed(after: 5),
                    attempt: Attempt(startedAt: startedAt, duration: .zero)))
            try await queue.append([bench.event(2, to: [DeliveryOrder(to: bench.crm, orderKey: "other")])])
            try await queue.tick()
            var leases = try await queue.claim(from: bench.crm, upTo: 10)
            #expect(leases.map(\.number).contains(2))
            bench.clock.advance(by: 5)
            try await queue.tick()
            leases += try await queue.claim(from: bench.crm, upTo: 10)
            #expect(Set(leases.map(\.number)) == [1, 2])
            for lease in leases { try await queue.settle(lease, .delivered(status: 204)) }
            #expect(try await queue.purge(DeliveryFilter()) == 2)
        }
    }
}
