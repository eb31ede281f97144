import Foundation
import SignalboxNotification
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// Uses a model instead of a clock.
@Suite struct LiveBacklogTests {
    /// The frames of one reader.
    private struct Received {
        var frames: [RecentPosition] = []
        var dropped = 0
    }

    private static func read(_ log: RecentLog, into backlog: inout LiveBacklog, step: Int) {
        while true {
            let reading = log.read(after: backlog.position, upTo: step)
            backlog.append(reading) { _ in true }
            if reading.entries.count < step { return }
        }
    }

    private static func occur(_ log: RecentLog, _ random: inout SeededGenerator) {
        let vendor = ["braze", "mce", "granify"].randomElement(using: &random) ?? "mce"
        switch Int.random(in: 0..<6, using: &random) {
        case 0: log.pass(.event, count: Int.random(in: 1...40, using: &random))
        case 1: log.pass(.delivery, count: Int.random(in: 1...40, using: &random))
        case 2:
            log.append(
                .destination(
                    DestinationChange(
                        at: ObservationSetting.start, name: DestinationName("crm"), state: "paused", reason: nil)))
        case 3:
            if let delivery = RecentDelivery(
                ObservationSetting.settlement(.delivered(status: 200)), at: ObservationSetting.start)
            {
                log.append(.delivery(delivery))
            }
        default: log.append(.event(RecentEvent(ObservationSetting.event(of: vendor), payload: nil)))
        }
    }

    /// However much happens between two reads, and wherever the stream is cut, frames and gaps add up to all that
    /// happened. No frame is repeated.
    @Test(arguments: Array(1...40) as [UInt64])
    func framesAndGapsAddUp(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let log = RecentLog(limit: Int.random(in: 1...50, using: &random))
        let kinds = Set(RecentEntry.Kind.allCases)
        let most = Int.random(in: 1...20, using: &random)
        var backlog = LiveBacklog(kinds, most: most, after: RecentPosition())
        var (received, last) = (Received(), RecentPosition())
        for _ in 0..<200 {
            for _ in 0..<Int.random(in: 0...30, using: &random) { Self.occur(log, &random) }
            Self.read(log, into: &backlog, step: Int.random(in: 1...20, using: &random))
            #expect(backlog.count <= most)
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                guard let frame = backlog.next() else { break }
                received.frames.append(frame.entry.position)
                received.dropped += frame.dropped
                last = frame.entry.position
            }
            let gap = Bool.random(using: &random) ? backlog.takeDropped() : 0
            if gap > 0 {
                received.dropped += gap
                last = backlog.position
            }
            // A cut: the reader resumes after the last id that it has.
            if Int.random(in: 0..<10, using: &random) == 0 { backlog = LiveBacklog(kinds, most: most, after: last) }
        }
        Self.read(log, into: &backlog, step: 20)
        while let frame = backlog.next() {
            received.frames.append(frame.entry.position)
            received.dropped += frame.dropped
        }
        received.dropped += backlog.takeDropped()
        #expect(Int64(received.frames.count + received.dropped) == log.position.order, "seed \(seed)")
        let orders = received.frames.map(\.order)
        #expect(orders == orders.sorted() && Set(orders).count == orders.count, "seed \(seed)")
    }

    @Test func aReaderOfOneKindMissesOnlyThatKind() {
        let log = RecentLog(limit: 10)
        var backlog = LiveBacklog([.destination], most: 20, after: RecentPosition())
        log.pass(.event, count: 1000)
        log.pass(.delivery, count: 1000)
        log.append(
            .destination(
                DestinationChange(
                    at: ObservationSetting.start, name: DestinationName("crm"), state: "paused", reason: nil)))
        Self.read(log, into: &backlog, step: 20)
        #expect(backlog.next()?.dropped == 0)
        #expect(backlog.takeDropped() == 0)
    }

    @Test func eventsThatAreNotSelectedAreNotMissing() {
        let log = RecentLog(limit: 100)
        var backlog = LiveBacklog([.event], most: 20, after: RecentPosition())
        for number in 0..<10 {
            log.append(
                .event(RecentEvent(ObservationSetting.event(of: number == 4 ? "mce" : "braze"), payload: nil)))
        }
        log.pass(.event, count: 3)
        backlog.append(log.read(after: backlog.position, upTo: 100)) { entry in
            if case .event(let event) = entry.item { event.vendor.name == "mce" } else { false }
        }
        #expect(backlog.next()?.dropped == 0)
        #expect(backlog.takeDropped() == 3)
    }

    @Test func oneEventOfARareVendorIsAmongTheNextFrames() {
        let log = RecentLog(limit: 1000)
        var backlog = LiveBacklog([.event], most: 20, after: RecentPosition())
        for number in 0..<300 {
            log.append(
                .event(RecentEvent(ObservationSetting.event(of: number == 17 ? "granify" : "braze"), payload: nil)))
        }
        Self.read(log, into: &backlog, step: 256)
        var vendors: [String] = []
        while let frame = backlog.next() {
            if case .event(let event) = frame.entry.item { vendors.append(event.vendor.name) }
        }
        #expect(vendors.count == 20 && vendors.contains("granify"))
    }
}
