import Foundation
import SignalboxNotification
import Testing

@testable import SignalboxGateway

@Suite struct RecentLogTests {
    private static func entry(_ number: Int64, bytes: Int = 0) -> RecentEntry {
        var entry = RecentEntry(
            .event(RecentEvent(ObservationSetting.event(), payload: [UInt8](repeating: 0, count: bytes))))
        entry.position = RecentPosition(events: number)
        return entry
    }

    private static func change(_ number: Int64, after events: Int64) -> RecentEntry {
        var entry = RecentEntry(
            .destination(
                DestinationChange(
                    at: ObservationSetting.start, name: DestinationName("crm"), state: "paused", reason: nil)))
        entry.position = RecentPosition(events: events, changes: number)
        return entry
    }

    private static func numbers(_ ring: RecentRing, after order: Int64 = 0) -> [Int64] {
        ring.batch(after: order, upTo: 100, events: true, others: true).map(\.position.order)
    }

    @Test func aRingKeepsTheNewest() {
        var ring = RecentRing(limit: 3)
        for number in 1...5 { ring.append(Self.entry(Int64(number))) }
        #expect(Self.numbers(ring) == [3, 4, 5])
        #expect(Self.numbers(ring, after: 4) == [5])
        ring.limit = 1
        #expect(Self.numbers(ring) == [5])
        ring.limit = 0
        #expect(ring.count == 0 && ring.bytes == 0)
    }

    @Test func aRingKeepsItsMemoryWithinTheLimit() {
        var ring = RecentRing(limit: 1000, mostBytes: 10_000)
        for number in 1...200 {
            ring.append(Self.entry(Int64(number), bytes: 1000))
            #expect(ring.bytes <= 10_000)
        }
        #expect(ring.count >= 5)
    }

    @Test func aRingOrdersEventsAndOtherEntries() {
        var ring = RecentRing(limit: 10)
        ring.append(Self.entry(1))
        ring.append(Self.change(1, after: 1))
        ring.append(Self.entry(2))
        ring.append(Self.change(2, after: 3))
        #expect(
            ring.batch(after: 0, upTo: 10, events: true, others: true).map(\.kind)
                == [.event, .destination, .event, .destination])
        #expect(ring.batch(after: 0, upTo: 10, events: false, others: true).count == 2)
        #expect(ring.newestEvents(upTo: 10).count == 2)
    }

    @Test func positionsCountWhatIsNotShown() {
        let log = RecentLog(limit: 10)
        log.pass(.event, count: 4)
        log.append(.event(RecentEvent(ObservationSetting.event(), payload: nil)))
        log.pass(.delivery, count: 2)
        #expect(log.position == RecentPosition(events: 5, deliveries: 2))
        let reading = log.read(after: RecentPosition(), upTo: 10)
        #expect(reading.entries.map(\.position) == [RecentPosition(events: 5)])
        #expect(reading.position == RecentPosition(events: 5, deliveries: 2))
    }

    @Test func cursorsReturnTheirPosition() {
        let (log, other) = (RecentLog(limit: 10), RecentLog(limit: 10))
        let position = RecentPosition(events: 7, deliveries: 3, changes: 1)
        #expect(log.position(ofCursor: log.cursor(position)) == position)
        #expect(log.position(ofCursor: other.cursor(position)) == RecentPosition())
        let wrong = [
            "", "x", "1-2-3", "\(log.cursor(position))-1", "aaaaaaaa--1-2-3", "aaaaaaaa-1-2-99999999999999999",
        ]
        for text in wrong {
            #expect(log.position(ofCursor: text) == nil, "\(text)")
        }
    }

    @Test func findsThePayloadOfAnEvent() throws {
        let log = RecentLog(limit: 10)
        let routed = ObservationSetting.event(number: 3)
        log.append(.event(RecentEvent(routed, payload: [1, 2])))
        #expect(log.payload(of: routed.event.id) == [1, 2])
        #expect(log.payload(of: ObservationSetting.event(number: 4).event.id) == nil)
    }
}
