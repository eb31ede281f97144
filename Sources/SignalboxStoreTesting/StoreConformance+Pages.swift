import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

extension StoreConformance {
    /// Pages of lists: a filter without matches ends after a number of rows, and continues where it stopped.
    static let pages = [
        Self("pagesContinueWhereTheFormerOneEnded") { bench in
            let queue = try bench.open()
            try await bench.fill(queue, from: 1, count: 5)
            var filter = DeliveryFilter(destination: bench.crm)
            var pages: [[Int64]] = []
            var cursor: Int64?
            repeat {
                filter.before = cursor
                let page = try await queue.deliveryPage(filter, limit: 2, examining: 100)
                #expect(page.isComplete)
                pages.append(page.records.map(\.id))
                cursor = page.next
            } while cursor != nil && pages.count < 9
            #expect(pages.map(\.count) == [2, 2, 1])
            #expect(pages.joined().sorted(by: >) == Array(pages.joined()))
        },
        Self("aPageThatExaminedTooManyRowsIsNotComplete") { bench in
            let queue = try bench.open()
            try await queue.append([bench.event(0, to: [DeliveryOrder(to: bench.inbox)])])
            try await bench.fill(queue, from: 1, count: 9)
            var filter = DeliveryFilter(destination: bench.inbox)
            var found: [DeliveryRecord] = []
            for _ in 0..<2 {
                let page = try await queue.deliveryPage(filter, limit: 5, examining: 4)
                #expect(page.records.isEmpty && !page.isComplete)
                filter.before = page.next
                #expect(filter.before != nil)
            }
            let last = try await queue.deliveryPage(filter, limit: 5, examining: 4)
            found += last.records
            #expect(last.isComplete && last.next == nil)
            #expect(found.map(\.destination) == [bench.inbox])
        },
        Self("pagesAreOfATimeAndAState") { bench in
            let queue = try bench.open()
            var times: [Date] = []
            for number in 1...3 {
                times.append(bench.clock.now)
                try await queue.append([bench.event(number)])
                bench.clock.advance(by: 60)
            }
            for lease in try await queue.claim(from: bench.crm, upTo: 1) { try await queue.settle(lease, .refused) }
            let dead = try await queue.deliveryPage(DeliveryFilter(state: .dead), limit: 5, examining: 1)
            #expect(dead.records.map(\.state) == [.dead] && dead.isComplete)
            var filter = DeliveryFilter()
            (filter.acceptedSince, filter.acceptedBefore) = (times[1], times[2])
            let page = try await queue.deliveryPage(filter, limit: 5, examining: 100)
            #expect(page.records.map(\.acceptedAt) == [times[1]])
        },
        Self("aPageOfAPeriodExaminesNoOtherRows") { bench in
            let queue = try bench.open()
            var times: [Date] = []
            for number in 1...9 {
                times.append(bench.clock.now)
                try await queue.append([bench.event(number)])
                bench.clock.advance(by: 5 * 3600)
            }
            let events = try await queue.eventPage(EventFilter(), limit: 9, examining: 9).records
            // A later delivery of an older event.
            _ = try await queue.send(ManualDelivery(events[1].id, to: bench.inbox), as: nil)
            var period = EventFilter()
            (period.acceptedSince, period.acceptedBefore) = (times[3], times[5])
            let page = try await queue.eventPage(period, limit: 9, examining: 3)
            #expect(page.records.map(\.acceptedAt) == [times[4], times[3]] && page.isComplete && page.next == nil)
            var filter = DeliveryFilter()
            filter.acceptedSince = times[8]
            let last = try await queue.deliveryPage(filter, limit: 9, examining: 3)
            #expect(last.records.map(\.acceptedAt) == [times[8]] && last.isComplete && last.next == nil)
        },
        Self("aPeriodContainsEventsOfAClockThatWasAheadForMinutes") { bench in
            let queue = try bench.open()
            let start = bench.clock.now
            for minutes in [0.0, 45, 90, 50, 100] {
                try await queue.append([bench.event(Int(minutes), at: start.addingTimeInterval(minutes * 60))])
            }
            var filter = EventFilter()
            filter.acceptedSince = start.addingTimeInterval(60 * 60)
            #expect(try await queue.eventPage(filter, limit: 9, examining: 9).records.map(\.body.count) == [3, 2])
            (filter.acceptedSince, filter.acceptedBefore) = (nil, filter.acceptedSince)
            #expect(try await queue.eventPage(filter, limit: 9, examining: 9).records.map(\.body.count) == [2, 2, 1])
        },
        Self("aPeriodContainsEventsAroundOneOfAWrongClock") { bench in
            let queue = try bench.open()
            let start = bench.clock.now
            // The search for a period looks at these two early.
            let errors = [20: 48, 30: -48]
            var times: [Date] = []
            for number in 0..<40 {
                let time = start.addingTimeInterval(TimeInterval(number + errors[number, default: 0]) * 3600)
                try await queue.append([bench.event(number, at: time)])
                if errors[number] == nil { times.append(time) }
            }
            func page(_ filter: EventFilter) async throws -> [Date] {
                let found = try await queue.eventPage(filter, limit: 99, examining: 99).records.map(\.acceptedAt)
                return found.filter { times.contains($0) }.reversed()
            }
            for time in times {
                var filter = EventFilter()
                filter.acceptedSince = time
                #expect(try await page(filter) == times.filter { $0 >= time })
                (filter.acceptedSince, filter.acceptedBefore) = (nil, time)
                #expect(try await page(filter) == times.filter { $0 < time })
            }
        },
    ]
}
