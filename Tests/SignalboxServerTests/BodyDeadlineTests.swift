import NIOCore
import Testing

@testable import SignalboxServer

@Suite struct BodyDeadlineTests {
    private let start = NIODeadline.uptimeNanoseconds(0)

    @Test func aBodyAtTheMinimumRateIsInTime() {
        var deadline = BodyDeadline(grace: .seconds(30), now: start)
        for second in 1...1000 { deadline.receive(BodyDeadline.bytesPerSecond, at: start + .seconds(Int64(second))) }
        #expect(deadline.time == start + .seconds(1030))
    }

    @Test func aTrickleDoesNotExtendIt() {
        var deadline = BodyDeadline(grace: .seconds(30), now: start)
        for second in 1...29 { deadline.receive(1, at: start + .seconds(Int64(second))) }
        #expect(deadline.time < start + .seconds(31))
    }

    @Test func unusedRateDoesNotAccumulate() {
        var deadline = BodyDeadline(grace: .seconds(30), now: start)
        deadline.receive(8 * 1024 * 1024 - 1, at: start + .seconds(1))
        #expect(deadline.time == start + .seconds(31))
    }
}
