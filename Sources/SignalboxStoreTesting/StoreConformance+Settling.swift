import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Appends: ``IntakeStore/append(_:of:)`` stores events with all their deliveries and variants, or none of them.
    /// A new process finds them. Batches of any size keep each event with its own deliveries.
    ///
    /// Appends share commits with claims and settlements. A delivery is leased once at a time, however many tasks
    /// claim.
    static let appending = [
        Self("aNewProcessFindsAppendedEvents") { bench in
            try await bench.open().append((1...3).map { bench.event($0) })
            let queue = try bench.open()
            #expect(try await bench.claimNumbers(queue) == [1, 2, 3])
            #expect(try await queue.audit().isRight)
        },
        Self("aFailedAppendWritesNothing") { bench in
            let queue = try bench.open()
            let first = bench.event(1)
            try await queue.append([first])
            // The second event has an id that is in use.
            await #expect(throws: StoreError.self) { try await queue.append([bench.event(2), first, bench.event(3)]) }
            #expect(try await queue.eventCount() == 1)
            #expect(try await bench.claimNumbers(queue) == [1])
            #expect(try await queue.audit().accounts.map(\.accepted) == [1])
        },
        Self("eachOfManyEventsKeepsItsDeliveries") { bench in
            let queue = try bench.open()
            let numbers = Array(1...141)
            let events = numbers.map { number in
                // Some are large, some have a lasting id, some have a variant.
                let asWell = DeliveryOrder(to: bench.inbox)
                var varied = DeliveryOrder(to: bench.inbox)
                varied.variant = 0
                let orders =
                    [DeliveryOrder(to: bench.crm)] + (number % 3 == 0 ? [number % 2 == 0 ? varied : asWell] : [])
                return bench.event(
                    number, to: orders, variants: number % 6 == 0 ? [Array("-\(number)".utf8)] : [],
                    hasLastingID: number % 10 == 0, size: number % 7 == 0 ? 30_000 : 0)
            }
            // Appends batches of several sizes.
            var position = 0
            for count in [1, 7, 8, 9, 31, 33, 52] {
                #expect(
                    try await queue.append(Array(events[position..<position + count])) == .appended(duplicates: [:]))
                position += count
            }
            #expect(position == events.count)
            let next = try bench.open()
            #expect(try await bench.claimNumbers(next, upTo: 200) == numbers)
            let others = try await next.claim(from: bench.inbox, upTo: 200)
            #expect(others.map(\.number) == numbers.filter { $0 % 3 == 0 }.map { $0 % 2 == 0 ? -$0 : $0 })
            #expect(others.map(\.event) == numbers.filter { $0 % 3 == 0 }.map { events[$0 - 1].event.id.description })
            #expect(try await next.audit().isRight)
        },
        Self("appendsShareCommitsWithOtherWrites") { bench in
            let queue = try bench.open()
            try await queue.append((0..<40).map { bench.event($0) })
            let leases = try await queue.claim(from: bench.crm, upTo: 40)
            // Claims and settlements run between appends.
            try await withThrowingTaskGroup { group in
                for lease in leases {
                    group.addTask { _ = try await queue.settle(lease, .delivered(status: 200)) }
                    group.addTask {
                        _ = try await queue.append([bench.event(100 + lease.number, to: [.init(to: bench.inbox)])])
                    }
                    group.addTask { _ = try await queue.claim(from: bench.crm, upTo: 1) }
                }
                try await group.waitForAll()
            }
            #expect(try await bench.count(.delivered, in: queue) == 40)
            let found = try await queue.claim(from: bench.inbox, upTo: 100).map(\.number)
            #expect(found.sorted() == (100..<140).map { $0 })
            #expect(try await queue.audit().isRight)
        },
        Self("anIDInUseFailsTheWholeAppend") { bench in
            let queue = try bench.open()
            let first = bench.event(1)
            try await queue.append([first])
            let others = (2...60).map { bench.event($0) }
            for position in [0, 30, 59] {
                var events = others
                events.insert(first, at: position)
                await #expect(throws: StoreError.self) { try await queue.append(events) }
            }
            #expect(try await queue.eventCount() == 1)
            try await queue.append(others)
            #expect(try await bench.claimNumbers(queue) == Array(1...60))
            #expect(try await queue.audit().isRight)
        },
        Self("aDeliveryIsLeasedOnceAtATime") { bench in
            let queue = try bench.open()
            try await bench.fill(queue, from: 0, count: 3000)
            let claims = try await withThrowingTaskGroup(of: [Int64].self) { group in
                for _ in 0..<40 {
                    group.addTask { try await queue.claim(from: bench.crm, upTo: 100).map(\.delivery) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(Set(claims).count == claims.count)
            #expect(!claims.isEmpty)
        },
        Self("aDestinationReceivesItsOwnVariant") { bench in
            var orders = [DeliveryOrder(to: bench.crm), DeliveryOrder(to: bench.inbox)]
            orders[1].variant = 1
            let event = bench.event(1, to: orders, variants: [Array("2".utf8), Array("3".utf8)])
            let first = try bench.open()
            try await first.append([event])
            #expect(try await first.claim(from: bench.crm, upTo: 1).map(\.number) == [1])
            #expect(try await first.claim(from: bench.inbox, upTo: 1).map(\.number) == [3])
            // A new process reads it from the store.
            let queue = try bench.open()
            #expect(try await queue.claim(from: bench.crm, upTo: 1).map(\.number) == [1])
            let lease = try #require(try await queue.claim(from: bench.inbox, upTo: 1).first)
            #expect(lease.number == 3)
            try await queue.settle(Settlement(lease, .delivered(status: 204)))
            #expect(try await queue.purge(DeliveryFilter(destination: bench.inbox)) == 1)
            #expect(try await queue.audit().isRight)
        },
    ]

    /// Settlements: ``LaneStore/settle(_:)`` records the outcome of an attempt together with everything that follows
    /// from it: the next state, the record of the attempt, the disabling of the destination, and a follow-up event.
    ///
    /// A settlement is fenced: one of a process that lost the lease, of an earlier attempt, or of a lease that was
    /// settled already, writes nothing and returns `lost`. Waits count from the store's clock, not from that of the
    /// sender.
    ///
    /// ``InspectionStore/retry(_:)`` gives a fresh budget of attempts and keeps their record. During an attempt it
    /// forgives only attempts that were made. Another process sees it at its next tick.
    static let settling = [
        Self("recordsEachOutcome") { bench in
            let queue = try bench.open()
            let outcomes: [(Outcome, DeliveryRecord.State, attempts: Int)] = [
                (.delivered(status: 204), .delivered, 1), (.failed(after: 30), .waiting, 1), (.refused, .dead, 1),
                (.expired, .expired, 0), (.postponed(for: .seconds(30), reason: "x"), .waiting, 0),
                (.returned, .waiting, 0),
            ]
            for (position, (outcome, state, attempts)) in outcomes.enumerated() {
                try await queue.append([bench.event(position)])
                let lease = try await bench.claimOne(queue)
                #expect(lease.number == position)
                try await queue.settle(lease, outcome)
                let record = try #require(
                    try await queue.deliveries(DeliveryFilter(ids: [lease.delivery]), limit: 1).first)
                #expect(record.state == state, "\(outcome)")
                #expect(record.attempts == attempts, "\(outcome)")
                if outcome == .returned { #expect(try await bench.claimNumbers(queue) == [position]) }
            }
            #expect(try await queue.audit().isRight)
        },
        Self("anEndedDeliveryIsNotLeasedAgain") { bench in
            let queue = try bench.open()
            for (position, outcome) in [Outcome.delivered(status: 200), .refused, .expired].enumerated() {
                try await queue.append([bench.event(position)])
                try await queue.settle(bench.claimOne(queue), outcome)
            }
            bench.clock.advance(by: 86_400)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            #expect(try await bench.claimNumbers(bench.open()).isEmpty)
        },
        Self("settlesWithFollowUpsAtomically") { bench in
            let queue = try bench.open()
            let first = bench.event(1)
            try await queue.append([first])
            let lease = try await bench.claimOne(queue)
            // The successor's id is in use, so that the whole settlement fails.
            await #expect(throws: StoreError.self) {
                try await queue.settle(Settlement(lease, .refused, disabling: "gone", successor: first))
            }
            #expect(try await bench.only(queue).state == .waiting)
            #expect(try await queue.statuses().isEmpty)
            #expect(try await bench.claimNumbers(queue).isEmpty, "it is still leased")

            let successor = bench.event(2, to: [DeliveryOrder(to: bench.inbox)])
            try await queue.settle(Settlement(lease, .refused, disabling: "gone", successor: successor))
            #expect(try await bench.count(.dead, in: queue) == 1)
            #expect(try await queue.statuses()[bench.crm]?.word == "disabled")
            #expect(try await queue.claim(from: bench.inbox, upTo: 5).map(\.number) == [2])
            #expect(try await queue.audit().isRight)
        },
        Self("aSettlementByALostHolderWritesNothing") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1)])
            let lease = try await bench.claimOne(queue)
            let next = try bench.open()
            let again = try await bench.claimOne(next)
            let outcomes: [Outcome] = [
                .delivered(status: 200), .failed(after: 0), .refused, .expired, .postponed(for: .zero, reason: "x"),
                .returned,
            ]
            for outcome in outcomes {
                let late = Settlement(lease, outcome, disabling: "gone", successor: bench.event(2))
                #expect(try await queue.settle(late) == .lost, "\(outcome)")
            }
            #expect(try await bench.only(next).isInProgress)
            #expect(try await next.attempts(of: lease.delivery).map(\.error) == ["interrupted"])
            #expect(try await next.statuses().isEmpty)
            #expect(try await next.settle(again, .delivered(status: 200)) == .recorded)
            #expect(try await queue.settle(lease, .refused) == .lost, "it has ended")
            #expect(try await bench.only(next).state == .delivered)
            #expect(try await next.audit().isRight)
        },
        Self("aSettlementOfAnEarlierAttemptWritesNothing") { bench in
            let queue = try bench.open(isOrdered: true)
            try await queue.append([bench.event(1, to: [DeliveryOrder(to: bench.crm, orderKey: "a")])])
            let first = try await bench.claimOne(queue)
            try await queue.settle(first, .failed(after: 0))
            try await queue.tick()
            let second = try await bench.claimOne(queue)
            #expect(second.delivery == first.delivery && second.fence != first.fence)
            for outcome in [Outcome.delivered(status: 200), .refused, .failed(after: 0), .returned] {
                #expect(try await queue.settle(first, outcome) == .lost, "\(outcome)")
            }
            #expect(try await bench.claimNumbers(queue).isEmpty, "the second attempt is still leased")
            #expect(try await queue.settle(second, .delivered(status: 200)) == .recorded)
            #expect(try await queue.attempts(of: first.delivery).map(\.status) == [503, 200])
        },
        Self("aLeaseIsSettledOnce") { bench in
            let queue = try bench.open()
            for outcome in [Outcome.delivered(status: 200), .failed(after: 60)] {
                try await queue.append([bench.event(1)])
                let lease = try await bench.claimOne(queue)
                #expect(try await queue.settle(lease, outcome) == .recorded)
                #expect(try await queue.settle(lease, .refused) == .lost)
            }
            #expect(try await queue.counts()[bench.crm] == [.delivered: 1, .waiting: 1])
        },
        Self("aRetryIsMeasuredByTheStoresClock") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1)])
            let lease = try await bench.claimOne(queue)
            // The clock of the sender is an hour behind, and the attempt took a minute.
            let attempt = Attempt(startedAt: bench.clock.now.addingTimeInterval(-3600), duration: .seconds(60))
            bench.clock.advance(by: 60)
            try await queue.settle(Settlement(lease, .failed(after: 30), attempt: attempt))
            #expect(try await bench.only(queue).due == bench.clock.now.addingTimeInterval(30))
            bench.clock.advance(by: 29)
            #expect(try await bench.claimNumbers(queue).isEmpty)
            bench.clock.advance(by: 1)
            #expect(try await bench.claimNumbers(queue) == [1])
        },
        Self("retryGivesAFreshBudgetAndKeepsAttempts") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1)])
            for _ in 1...3 {
                try await queue.settle(bench.claimOne(queue), .failed(after: 0))
                try await queue.tick()
            }
            try await queue.settle(bench.claimOne(queue), .refused)
            let id = try await bench.only(queue).id
            #expect(try await queue.retry(DeliveryFilter(state: .dead)) == 1)
            let lease = try await bench.claimOne(queue)
            #expect(lease.delivery == id)
            #expect(lease.attempts == 0)
            #expect(lease.earlier == 4)
            try await queue.settle(lease, .delivered(status: 200))
            #expect(try await queue.attempts(of: id).map(\.number) == [1, 2, 3, 4, 5])
            #expect(try await queue.attempts(of: id).map(\.status) == [503, 503, 503, 400, 200])
            #expect(try await queue.retry(DeliveryFilter(ids: [id])) == 0, "it was delivered")
        },
        Self("retryDuringAnAttemptForgivesOnlyAttemptsMade") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1)])
            let lease = try await bench.claimOne(queue)
            #expect(try await queue.retry(DeliveryFilter(ids: [lease.delivery])) == 1)
            try await queue.settle(lease, .returned)
            try await queue.tick()
            let again = try await bench.claimOne(queue)
            #expect(again.attempts == 0)
            try await queue.settle(again, .failed(after: 0))
            try await queue.tick()
            #expect(try await bench.claimOne(queue).attempts == 1)
        },
        Self("retryByAnotherProcessIsSeenAtTheNextTick") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(1)])
            try await queue.settle(bench.claimOne(queue), .failed(after: 3600))
            #expect(try await bench.claimNumbers(queue).isEmpty)
            #expect(try await bench.open().retry(DeliveryFilter(state: .waiting)) == 1)
            #expect(try await bench.claimNumbers(queue) == [1])
        },
    ]
}
