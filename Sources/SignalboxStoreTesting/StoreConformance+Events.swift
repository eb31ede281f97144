import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Lists of events, their payloads and reports, and deliveries that operators order.
    static let events = [
        Self("eventsAreListedNewestFirstWithTheirDeliveries") { bench in
            let queue = try bench.open()
            let both = [DeliveryOrder(to: bench.crm), DeliveryOrder(to: bench.inbox)]
            let events = [bench.event(1, to: both), bench.event(2, to: [])]
            try await queue.append(events)
            for lease in try await queue.claim(from: bench.crm, upTo: 1) { try await queue.settle(lease, .refused) }
            let page = try await queue.eventPage(EventFilter(), limit: 5, examining: 100)
            #expect(page.records.map(\.id) == events.reversed().map(\.event.id.description))
            #expect(page.records.map(\.deliveries) == [[:], [.dead: 1, .waiting: 1]])
            #expect(page.records.map(\.body) == [Array("2".utf8), Array("1".utf8)])
            #expect(page.isComplete && page.next == nil)
            let record = try await queue.eventRecord(events[0].event.id.description)
            #expect(record == page.records.last)
            #expect(try await queue.eventRecord("no-such-event") == nil)
        },
        Self("eventsAreFilteredBySubjectSourceTimeAndRoute") { bench in
            let queue = try bench.open()
            let start = bench.clock.now
            let events = [("mce", "alert", "app"), ("braze", "alert", "web"), ("mce", "silent", "web")]
            for (vendor, kind, source) in events {
                try await queue.append([bench.event(of: vendor, kind, from: source)])
                bench.clock.advance(by: 60)
            }
            try await queue.append([bench.event(of: "mce", "alert", from: "web", to: [])])
            func subjects(_ change: (inout EventFilter) -> Void) async throws -> [String] {
                var filter = EventFilter()
                change(&filter)
                return try await queue.eventPage(filter, limit: 9, examining: 100).records.map(\.subject)
            }
            #expect(try await subjects { $0.vendor = "mce" } == ["mce/alert", "mce/silent", "mce/alert"])
            #expect(try await subjects { $0.vendor = "mc" }.isEmpty)
            #expect(try await subjects { $0.kind = "silent" } == ["mce/silent"])
            #expect(try await subjects { ($0.vendor, $0.source) = ("mce", SourceName("app")) } == ["mce/alert"])
            #expect(try await subjects { $0.isUnrouted = true } == ["mce/alert"])
            let (since, until) = (start.addingTimeInterval(60), start.addingTimeInterval(120))
            #expect(try await subjects { ($0.acceptedSince, $0.acceptedBefore) = (since, until) } == ["braze/alert"])
            #expect(try await subjects { $0.matches = { $0 == Array("mce silent".utf8) } } == ["mce/silent"])
        },
        Self("aPageOfEventsThatExaminedTooManyRowsIsNotComplete") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(of: "mce", "alert", from: "app")])
            try await bench.fill(queue, from: 1, count: 9)
            var filter = EventFilter()
            filter.vendor = "mce"
            var pages: [Int] = []
            for _ in 0..<3 {
                let page = try await queue.eventPage(filter, limit: 5, examining: 4)
                #expect(page.isComplete == (page.next == nil))
                pages.append(page.records.count)
                filter.before = page.next
            }
            #expect(pages == [0, 0, 1])
        },
        Self("aPageOfLargeEventsEndsEarlyAndContinues") { bench in
            let queue = try bench.open()
            let size = StoreLimits.eventPageBytes / 2
            for number in 1...3 { try await queue.append([bench.event(number, size: size)]) }
            var filter = EventFilter()
            let first = try await queue.eventPage(filter, limit: 5, examining: 100)
            #expect(first.records.count == 2 && !first.isComplete)
            filter.before = first.next
            let second = try await queue.eventPage(filter, limit: 5, examining: 100)
            #expect(second.records.count == 1 && second.isComplete && second.next == nil)
        },
        Self("reportsAreFoundByTheirEvent") { bench in
            let queue = try bench.open()
            let event = bench.event(1, to: [bench.later])
            let id = event.event.id.description
            try await queue.append([event, bench.event(2, about: id), bench.event(3, about: "other")])
            try await queue.append([bench.event(4, about: id)])
            let reports = try await queue.reports(onEvent: id, limit: 5)
            #expect(reports.map(\.body) == [Array("2".utf8), Array("4".utf8)])
            #expect(try await queue.reports(onEvent: id, limit: 1).count == 1)
            #expect(try await queue.purge(DeliveryFilter()) == 4)
            #expect(try await queue.reports(onEvent: id, limit: 5).isEmpty)
        },
    ]

    /// Payloads that are kept for operators.
    static let payloads = [
        Self("aPayloadIsKeptWithItsEvent") { bench in
            let queue = try bench.open()
            let kept = bench.event(1, keeping: .withEvent)
            let (unrouted, without) = (bench.event(2, to: [], keeping: .withEvent), bench.event(3))
            try await queue.append([kept, unrouted, without])
            for lease in try await queue.claim(from: bench.crm, upTo: 9) {
                #expect(lease.payload == nil)
                try await queue.settle(lease, .delivered(status: 200))
            }
            _ = try await queue.remove(beyond: bench.longRetention)
            let reopened = try bench.open()
            #expect(try await bench.payload(kept, reopened) == Array("payload 1".utf8))
            #expect(try await bench.payload(unrouted, reopened) == Array("payload 2".utf8))
            #expect(try await bench.payload(without, reopened) == nil)
            #expect(
                try await reopened.eventPage(EventFilter(), limit: 9, examining: 9).records.map(\.hasPayload)
                    == [false, true, true])
        },
        Self("aPassingPayloadIsForgottenOnceNoDeliveryCanDie") { bench in
            let queue = try bench.open()
            let events = (1...3).map { bench.event($0, keeping: .untilDelivered) }
            let unrouted = bench.event(4, to: [], keeping: .untilDelivered)
            try await queue.append(events + [unrouted])
            let outcomes: [Outcome] = [.delivered(status: 200), .refused, .failed(after: 60)]
            for (lease, outcome) in zip(try await queue.claim(from: bench.crm, upTo: 3), outcomes) {
                try await queue.settle(lease, outcome)
            }
            func kept() async throws -> [Bool] {
                var kept: [Bool] = []
                for event in events + [unrouted] { kept.append(try await bench.payload(event, queue) != nil) }
                return kept
            }
            #expect(try await kept() == [true, true, true, false])
            _ = try await queue.remove(beyond: bench.longRetention)
            #expect(try await kept() == [false, true, true, false])
            // A retry of the dead one may end it.
            _ = try await queue.retry(DeliveryFilter(state: .dead))
            for lease in try await queue.claim(from: bench.crm, upTo: 3) {
                try await queue.settle(lease, .delivered(status: 200))
            }
            _ = try await queue.remove(beyond: bench.longRetention)
            #expect(try await kept() == [false, false, true, false])
        },
        Self("aPayloadOfADestinationIsStoredOnce") { bench in
            let queue = try bench.open()
            let event = bench.event(1, payload: Array("raw".utf8), keeping: .untilDelivered)
            try await queue.append([event])
            let lease = try await bench.claimOne(queue)
            #expect(lease.payload == Array("raw".utf8))
            try await queue.settle(lease, .delivered(status: 200))
            _ = try await queue.remove(beyond: bench.longRetention)
            #expect(try await bench.payload(event, queue) == Array("raw".utf8))
        },
    ]
}

extension StoreBench {
    /// An event of a vendor; its body is the vendor and the kind, with a space between them.
    fileprivate func event(
        of vendor: String, _ kind: String, from source: String, to orders: [DeliveryOrder]? = nil
    ) -> RoutedEvent {
        let event = Event(
            id: EventID(at: clock.now, random: (.random(in: 0 ... .max), .random(in: 0 ... .max))),
            source: SourceName(source), acceptedAt: clock.now, vendor: VendorID(vendor), kind: .alert, warnings: [],
            subject: "\(vendor)/\(kind)", body: Array("\(vendor) \(kind)".utf8))
        return RoutedEvent(event: event, routes: [], deliveries: orders ?? [DeliveryOrder(to: crm)])
    }

    /// The event of a number, with the payload `payload NUMBER` for operators. `payload`: of a destination.
    fileprivate func event(
        _ number: Int, to orders: [DeliveryOrder]? = nil, payload: [UInt8]? = nil, keeping: PayloadKeeping
    ) -> RoutedEvent {
        var event = event(number).event
        event.payload = payload ?? Array("payload \(number)".utf8)
        event.keeping = keeping
        return RoutedEvent(
            event: event, routes: [], deliveries: orders ?? [DeliveryOrder(to: crm)], payload: payload)
    }

    /// The event of a number, which reports on another one.
    fileprivate func event(_ number: Int, about id: String) -> RoutedEvent {
        RoutedEvent(event: event(number).event, routes: [], deliveries: [later], about: id)
    }

    /// A delivery that no lane holds, so that it can be purged.
    fileprivate var later: DeliveryOrder {
        var order = DeliveryOrder(to: crm)
        order.notBefore = clock.now.addingTimeInterval(60)
        return order
    }

    fileprivate func payload(_ event: RoutedEvent, _ queue: any Store) async throws -> [UInt8]? {
        try await queue.payload(ofEvent: event.event.id.description)
    }

    /// Removes no event.
    fileprivate var longRetention: Retention {
        Retention(ended: .seconds(86_400), dead: .seconds(86_400), bytes: 1 << 40)
    }
}
