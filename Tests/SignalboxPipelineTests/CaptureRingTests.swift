import SignalboxConfig
import SignalboxNotification
import Testing

@testable import SignalboxGateway

@Suite struct CaptureRingTests {
    @Test func keepsTheNewestUpToTheCount() {
        var ring = CaptureRing(limits: CaptureSetting.limits(count: 3))
        for _ in 0..<5 { ring.append(CaptureSetting.accepted()) }
        #expect(ring.batch(after: 0, upTo: 10).map(\.number) == [3, 4, 5])
        #expect(ring.dropped == 2 && ring.last == 5)
    }

    @Test func keepsTheMemoryWithinItsLimit() {
        var ring = CaptureRing(limits: CaptureSetting.limits(bytes: 1500))
        for _ in 0..<100 {
            ring.append(CaptureSetting.accepted())
            #expect(ring.bytes <= 1500)
        }
        #expect(ring.count >= 2)
        #expect(ring.newest(before: .max, upTo: 1).map(\.number) == [100])
    }

    @Test func refusedPushesDoNotPushOutAccepted() {
        var ring = CaptureRing(limits: CaptureSetting.limits())
        ring.append(CaptureSetting.accepted())
        for _ in 0..<5000 { ring.append(CaptureSetting.refused()) }
        #expect(ring.count == 1 + CaptureRing.mostRefused)
        #expect(ring.batch(after: 0, upTo: 2).map(\.number) == [1, 4002])
        #expect(ring.dropped == 0)
    }

    /// The real push service rejected it after it was stored.
    @Test func aRejectedPushWithAnEventIsKeptWithTheAccepted() {
        var rejected = Capture(.apns, .rejected, status: 410, at: CaptureSetting.accepted().time)
        rejected.event = CaptureSetting.accepted().event
        var ring = CaptureRing(limits: CaptureSetting.limits())
        ring.append(rejected)
        for _ in 0..<CaptureRing.mostRefused { ring.append(CaptureSetting.refused()) }
        ring.append(CaptureSetting.accepted())
        #expect(ring.batch(after: 0, upTo: 2).map(\.number) == [1, 2])
        #expect(ring.newest(before: .max, upTo: 2).map(\.number) == [1002, 1001])
        #expect(ring.newest(before: 3, upTo: 5).map(\.number) == [2, 1])
    }

    @Test func ordersBothKindsByNumber() {
        var ring = CaptureRing(limits: CaptureSetting.limits())
        for number in 0..<10 {
            ring.append(number.isMultiple(of: 3) ? CaptureSetting.refused() : CaptureSetting.accepted())
        }
        #expect(ring.batch(after: 4, upTo: 3).map(\.number) == [5, 6, 7])
        #expect(ring.newest(before: 9, upTo: 4).map(\.number) == [8, 7, 6, 5])
        #expect(ring.batch(after: 10, upTo: 3).isEmpty && ring.newest(before: 1, upTo: 3).isEmpty)
    }

    @Test func smallerLimitsDropAtOnce() {
        var ring = CaptureRing(limits: CaptureSetting.limits())
        for _ in 0..<10 { ring.append(CaptureSetting.accepted()) }
        ring.append(CaptureSetting.refused())
        ring.limits.count = 2
        #expect(ring.batch(after: 0, upTo: 10).map(\.number) == [9, 10, 11])
        ring.limits.count = 0
        #expect(ring.count == 0 && ring.bytes == 0)
    }

    @Test func removesOneRunOrAll() {
        var ring = CaptureRing(limits: CaptureSetting.limits())
        for run in ["a", "b", nil, "a"] { ring.append(CaptureSetting.accepted(run: run)) }
        #expect(ring.remove(run: "a") == 2)
        #expect(ring.batch(after: 0, upTo: 10).map(\.number) == [2, 3])
        #expect(ring.remove(run: nil) == 2)
        #expect(ring.bytes == 0)
        ring.append(CaptureSetting.accepted())
        #expect(ring.last == 5)
    }
}
