import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Synchronization
import Testing

extension StoreConformance {
    /// In seconds.
    private static let day: TimeInterval = 86_400
    /// Seven days for ended events, 30 for those with a dead delivery, without a bound on bytes.
    private static let retention = Retention(
        ended: .seconds(7 * day), dead: .seconds(30 * day), bytes: .max)

    /// Removal of events and deliveries. ``UpkeepStore/remove(beyond:pause:)`` removes ended events by age, and the
    /// oldest ones beyond the bytes; a waiting delivery keeps its event.
    /// ``InspectionStore/purge(_:sparingUndelivered:)`` removes the deliveries that an operator selects, and events
    /// without any delivery left. Deliveries in progress stay.
    ///
    /// Both count each removal in the ledger, so the audit still accounts for every delivery ever made, and finds one
    /// that is lost. No number is assigned twice. The file shrinks. Other writes run between the steps.
    ///
    /// Stored answers of requests count as bytes too. Those of the last hour stay, because senders retry within
    /// minutes.
    static let removal = [
        Self("removesEndedAndDeadEventsAfterTheirOwnTimes") { bench in
            let queue = try bench.open()
            try await queue.append((0..<4).map { bench.event($0) })
            let leases = try await queue.claim(from: bench.crm, upTo: 3)
            for (lease, outcome) in zip(leases, [Outcome.delivered(status: 200), .expired, .refused]) {
                try await queue.settle(lease, outcome)
            }
            bench.clock.advance(by: 7 * day)
            #expect(try await queue.remove(beyond: retention) == 0)
            bench.clock.advance(by: 1)
            #expect(try await queue.remove(beyond: retention) == 2)
            #expect(try await queue.counts()[bench.crm] == [.dead: 1, .waiting: 1])
            bench.clock.advance(by: 23 * day)
            #expect(try await queue.remove(beyond: retention) == 1)
            bench.clock.advance(by: 1000 * day)
            #expect(try await queue.remove(beyond: .init(ended: .zero, dead: .zero, bytes: 0)) == 0)
            #expect(try await bench.only(queue).state == .waiting, "waiting deliveries are kept")
            let account = try #require(try await queue.audit().accounts.first)
            #expect(account.accepted == 4)
            #expect(account.removed.filter { $0.value > 0 } == [.delivered: 1, .expired: 1, .dead: 1])
            #expect(try await queue.audit().isRight)
        },
        Self("noNumberIsReusedAfterARemoval") { bench in
            var queue = try bench.open()
            var numbers: [Int64] = []
            for removal in 0..<3 {
                try await queue.append([bench.event(removal)])
                let lease = try await bench.claimOne(queue)
                numbers.append(lease.delivery)
                try await queue.settle(lease, .delivered(status: 200))
                if removal == 0 {
                    #expect(try await queue.purge(DeliveryFilter(state: .delivered)) == 1)
                } else {
                    bench.clock.advance(by: 8 * day)
                    #expect(try await queue.remove(beyond: retention) == 1)
                }
                queue = try bench.open()
            }
            #expect(Set(numbers).count == 3, "\(numbers)")
        },
        Self("theStoreShrinksAfterARemoval") { bench in
            let queue = try bench.open()
            for start in stride(from: 0, to: 2000, by: 250) {
                try await queue.append(
                    (start..<start + 250).map { bench.event($0, to: [DeliveryOrder(to: bench.crm)], size: 4000) })
                for lease in try await queue.claim(from: bench.crm, upTo: 250) {
                    try await queue.settle(lease, .delivered(status: 200))
                }
            }
            let before = try await bench.location.size()
            bench.clock.advance(by: 8 * day)
            #expect(try await queue.remove(beyond: retention) == 2000)
            #expect(try await bench.location.size() < before / 10)
            #expect(try await queue.audit().isRight)
        },
        Self("theOldestEndedEventsAreRemovedBeyondTheBytes") { bench in
            let queue = try bench.open()
            // The waiting events before the removable ones fill more than one step.
            try await queue.append((0..<1100).map { bench.event($0, to: [DeliveryOrder(to: bench.inbox)]) })
            for start in stride(from: 0, to: 2000, by: 500) {
                try await queue.append(
                    (start..<start + 500).map { bench.event($0, to: [DeliveryOrder(to: bench.crm)], size: 2000) })
                for lease in try await queue.claim(from: bench.crm, upTo: 500) {
                    try await queue.settle(lease, .delivered(status: 200))
                }
            }
            let bytes = try await bench.location.size()
            let limit = Retention(ended: .seconds(7 * day), dead: .seconds(30 * day), bytes: bytes / 2)
            let removed = try await queue.remove(beyond: limit)
            #expect(removed > 0)
            #expect(removed < 2000, "not more than necessary")
            let size = try await bench.location.size()
            #expect(size <= bytes / 2, "\(removed) events of \(bytes) bytes removed")
            let left = try await queue.deliveries(DeliveryFilter(state: .delivered), limit: 2000).map(\.id)
            #expect(left.count == 2000 - removed)
            #expect(left.min() == (left.max() ?? 0) - Int64(left.count) + 1, "the newest are left")
            #expect(try await queue.counts()[bench.inbox] == [.waiting: 1100])
            #expect(try await queue.audit().isRight)
        },
        Self("eventsOfAClockThatRanAheadDoNotEndARemoval") { bench in
            let queue = try bench.open()
            let now = bench.clock.now
            for start in stride(from: 0, to: 1500, by: 500) {
                try await queue.append((start..<start + 500).map { bench.event($0, to: [], at: now + 100 * day) })
            }
            try await queue.append((1500..<1800).map { bench.event($0, to: [], at: now) })
            bench.clock.advance(by: 8 * day)
            #expect(try await queue.remove(beyond: retention) == 300)
            #expect(try await queue.eventCount() == 1500)
        },
        Self("otherWritesRunBetweenTheStepsOfARemoval") { bench in
            let queue = try bench.open()
            for number in 0..<2000 { try await queue.append([], of: bench.request("\(number)", body: 1)) }
            try await queue.append((0..<2000).map { bench.event($0, to: []) })
            bench.clock.advance(by: 8 * day)
            let steps = Steps()
            let removed = try await queue.remove(beyond: retention) {
                // The checks below would find a write that failed here.
                _ = try? await queue.append([bench.event(steps.next(), to: [])])
            }
            #expect(removed == 2000)
            #expect(steps.count >= 8, "events and requests are removed in steps")
            #expect(try await queue.eventCount() == steps.count)
        },
        Self("requestsAreRemovedWithTheEventsOfTheirTimeBeyondTheBytes", requestsWhereThereIsNoRoom),
        Self("requestsOfTheLastHourAreKeptBeyondTheBytes") { bench in
            let queue = try bench.open()
            for number in 0..<20 {
                let request = bench.request("\(number)", body: 1, size: 5000)
                try await queue.append([bench.event(number, to: [])], of: request)
            }
            bench.clock.advance(by: 3600)
            _ = try await queue.remove(beyond: .init(ended: .seconds(day), dead: .seconds(day), bytes: 0))
            #expect(try await queue.eventCount() == 0)
            for number in 0..<20 { try await expectKnown(true, "\(number)", bench, queue) }
            bench.clock.advance(by: 1)
            _ = try await queue.remove(beyond: .init(ended: .seconds(day), dead: .seconds(day), bytes: 0))
            try await expectKnown(false, "0", bench, queue)
        },
        Self("purgeRemovesSelectedDeliveries") { bench in
            let queue = try bench.open()
            try await queue.append((0..<1200).map { bench.event($0) })
            let leases = try await queue.claim(from: bench.crm, upTo: 1200)
            for lease in leases.dropLast(100) {
                try await queue.settle(lease, lease.number.isMultiple(of: 2) ? .refused : .delivered(status: 200))
            }
            #expect(try await queue.undeliveredCount(DeliveryFilter()) == 550, "without those in progress")
            #expect(try await queue.undeliveredCount(DeliveryFilter(state: .delivered)) == 0)
            #expect(try await queue.purge(DeliveryFilter(state: .dead), sparingUndelivered: true) == 0)
            #expect(try await queue.purge(DeliveryFilter(state: .dead)) == 550)
            #expect(try await queue.counts()[bench.crm] == [.delivered: 550, .waiting: 100])
            #expect(try await queue.purge(DeliveryFilter(state: .waiting)) == 0, "those are in progress")
            for lease in leases.suffix(100) { try await queue.settle(lease, .returned) }
            #expect(try await queue.purge(DeliveryFilter(ids: leases.suffix(3).map(\.delivery))) == 3)
            #expect(try await queue.purge(DeliveryFilter(state: .waiting)) == 97)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            #expect(try await queue.eventCount() == 550)
            #expect(try await queue.audit().isRight)
        },
        Self("anEventIsRemovedWithItsLastDelivery") { bench in
            let queue = try bench.open()
            try await queue.append([
                bench.event(1, to: [DeliveryOrder(to: bench.crm), DeliveryOrder(to: bench.inbox)])
            ])
            try await queue.settle(bench.claimOne(queue), .refused)
            #expect(try await queue.purge(DeliveryFilter(state: .dead)) == 1)
            #expect(try await queue.eventCount() == 1)
            #expect(try await queue.claim(from: bench.inbox, upTo: 5).map(\.number) == [1])
        },
        Self("theAuditIsConsistentAndFindsALoss") { bench in
            let queue = try bench.open()
            try await queue.append((0..<20).map { bench.event($0) })
            #expect(try await queue.audit().isRight)
            let outcomes: [Outcome] = [
                .delivered(status: 200), .refused, .expired, .returned, .failed(after: 0),
                .postponed(for: .zero, reason: "x"),
            ]
            for (lease, outcome) in zip(try await queue.claim(from: bench.crm, upTo: 6), outcomes) {
                try await queue.settle(lease, outcome)
                #expect(try await queue.audit().isRight, "\(outcome)")
            }
            _ = try await queue.retry(DeliveryFilter(state: .dead))
            #expect(try await queue.audit().isRight)
            try await backdoorLoss(bench, queue)
        },
    ]

    /// Stored answers of requests take half of the store.
    @Sendable private static func requestsWhereThereIsNoRoom(_ bench: StoreBench) async throws {
        let queue = try bench.open()
        for hour in 0..<20 {
            for number in 0..<100 {
                try await queue.append(
                    [bench.event(number, to: [], size: 2000)],
                    of: bench.request("\(hour)-\(number)", body: 1, size: 2000))
            }
            bench.clock.advance(by: 3600)
        }
        let bytes = try await bench.location.size()
        let limit = Retention(ended: .seconds(7 * day), dead: .seconds(30 * day), bytes: bytes / 2)
        _ = try await queue.remove(beyond: limit)
        #expect(try await bench.location.size() <= bytes / 2)
        let events = try await queue.eventCount()
        #expect((500..<1500).contains(events), "\(events) events are left")
        try await expectKnown(false, "0-0", bench, queue)
        try await expectKnown(true, "19-99", bench, queue)
    }

    /// Whether a request is remembered: then its key conflicts with another body.
    private static func expectKnown(
        _ isKnown: Bool, _ key: String, _ bench: StoreBench, _ queue: any Store
    ) async throws {
        let result = try await queue.append([], of: bench.request(key, body: 2))
        #expect((result == .conflicting) == isKnown, "\(key)")
    }

    /// Deletes a row behind the store's back, and expects the audit to find it.
    private static func backdoorLoss(_ bench: StoreBench, _ queue: any Store) async throws {
        try await bench.location.loseDelivery(3)
        let audit = try await queue.audit()
        #expect(!audit.isRight)
        #expect(audit.accounts.map(\.missing) == [1])
    }
}

/// Counts the steps of a removal. A class because the store and the check share it.
private final class Steps: Sendable {
    /// Steps may be made on any thread.
    private let number = Mutex(0)
    /// Steps so far.
    var count: Int { number.withLock { $0 } }

    /// The number of this step, from 1.
    func next() -> Int {
        number.withLock { number in
            number += 1
            return number
        }
    }
}
