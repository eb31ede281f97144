import Testing

@testable import SignalboxGateway

@Suite struct LaneGateTests {
    private func gate(limit: Int = 4, failures: Int = 2, perSecond: Double? = nil) -> LaneGate {
        LaneGate(
            limit: limit, breaker: Breaker(failures: failures, probe: .seconds(30)), perSecond: perSecond, at: .zero)
    }

    @Test func givesAsManyPlacesAsAreFree() {
        let gate = gate()
        #expect(gate.takePlaces(at: .zero) == .free(4))
        #expect(gate.takePlaces(at: .zero) == .free(0))
        gate.giveBack(3, at: .zero)
        #expect(gate.takePlaces(at: .zero) == .free(3))
        gate.sent()
        #expect(gate.takePlaces(at: .zero) == .free(1), "what is sent and not yet on disk needs no place")
    }

    @Test func outcomesThatAreNotOnDiskAreBounded() {
        let gate = gate(limit: 2000)
        #expect(gate.takePlaces(at: .zero) == .free(1024))
        for _ in 0..<1024 { gate.sent() }
        #expect(gate.takePlaces(at: .zero) == .free(0))
        let wakes = (0..<10).map { _ in gate.settled() }
        #expect(wakes == [true] + Array(repeating: false, count: 9), "only the first was waited for")
        #expect(gate.takePlaces(at: .zero) == .free(10))
    }

    @Test func keepsItsRate() {
        let gate = gate(limit: 100, perSecond: 2)
        #expect(gate.takePlaces(at: .zero) == .free(2))
        #expect(gate.takePlaces(at: .zero) == .later(.milliseconds(500), isLong: false))
        #expect(gate.takePlaces(at: .milliseconds(500)) == .free(1))
        gate.giveBack(1, at: .milliseconds(500))
        #expect(gate.takePlaces(at: .milliseconds(500)) == .free(1), "what found nothing costs nothing")
    }

    /// A lane with a rate is idle when it does not use its allowance.
    @Test func aLaneWithARateIsIdleWhenItDoesNotUseIt() {
        let gate = gate(perSecond: 2)
        #expect(gate.takePlaces(at: .zero) == .free(2))
        gate.giveBack(2, at: .zero)
        #expect(!gate.isIdle(at: .seconds(4)))
        #expect(gate.isIdle(at: .seconds(5)))
        #expect(gate.takePlaces(at: .seconds(5)) == .free(2))
        gate.giveBack(0, at: .seconds(5))
        for _ in 0..<2 {
            gate.sent()
            _ = gate.settled()
        }
        #expect(!gate.isIdle(at: .seconds(10)), "the next one is allowed half a second later")
        #expect(gate.isIdle(at: .seconds(11)))
    }

    @Test func pausesForRetryAfter() {
        let gate = gate()
        gate.keepQuiet(until: .seconds(60))
        gate.keepQuiet(until: .seconds(20))
        #expect(gate.takePlaces(at: .seconds(15)) == .later(.seconds(45), isLong: true))
        #expect(gate.takePlaces(at: .seconds(60)) == .free(4))
    }

    @Test func aBreakerThatOpensStopsAndOneProbeClosesIt() {
        let gate = gate()
        #expect(gate.takePlaces(at: .zero) == .free(4))
        #expect(gate.recordFailure(begunAt: .zero, at: .zero) == .fails)
        #expect(gate.recordFailure(begunAt: .zero, at: .zero) == .leftAlone)
        #expect(gate.recordFailure(begunAt: .seconds(1), at: .seconds(1)) == .none, "it was under way")
        for _ in 0..<4 { gate.sent() }
        #expect(gate.takePlaces(at: .seconds(1)) == .later(.seconds(29), isLong: true))
        #expect(gate.takePlaces(at: .seconds(30)) == .free(1))
        #expect(gate.takePlaces(at: .seconds(30)) == .free(0), "one probe at a time")
        gate.sent()
        #expect(gate.recordFailure(begunAt: .seconds(31), at: .seconds(31)) == .none)
        #expect(gate.takePlaces(at: .seconds(31)) == .later(.seconds(30), isLong: true))
        #expect(gate.takePlaces(at: .seconds(61)) == .free(1))
        gate.sent()
        #expect(gate.recordAnswer(delivered: false) == .takesAgain, "it answers, if only to refuse")
        #expect(gate.takePlaces(at: .seconds(61)) == .free(4))
    }

    @Test func anUnusedProbeIsReturned() {
        let gate = gate(failures: 1)
        #expect(gate.recordFailure(begunAt: .zero, at: .zero) == .leftAlone)
        #expect(gate.takePlaces(at: .seconds(30)) == .free(1))
        gate.giveBack(1, at: .seconds(30))
        #expect(gate.takePlaces(at: .seconds(30)) == .free(1))
        gate.recordNoAnswer(begunAt: .seconds(30), at: .seconds(30))
        gate.sent()
        #expect(gate.takePlaces(at: .seconds(30)) == .free(1))
    }

    @Test func theRateDoesNotCountUnsentAttempts() {
        let gate = LaneGate(
            limit: 4, breaker: Breaker(failures: 5, probe: .seconds(30)), perSecond: 2, at: .zero)
        #expect(gate.takePlaces(at: .zero) == .free(2))
        for _ in 0..<2 {
            gate.recordUnsent(begunAt: .zero, at: .zero)
            gate.sent()
        }
        #expect(gate.takePlaces(at: .zero) == .free(2))
    }

    @Test func aFailureIsSaidOnceAndItsEndOnce() {
        let gate = gate(failures: 100)
        let changes = (0..<2).map { _ in gate.recordFailure(begunAt: .zero, at: .zero) }
        #expect(changes == [.fails, .none])
        #expect(gate.recordAnswer(delivered: false) == .none, "a refusal says nothing new")
        #expect([gate.recordAnswer(delivered: true), gate.recordAnswer(delivered: true)] == [.takesAgain, .none])
        #expect(gate.recordFailure(begunAt: .zero, at: .zero) == .fails)
    }

    @Test func startsNoAttemptAfterClose() {
        let gate = gate()
        gate.close()
        #expect(gate.takePlaces(at: .zero) == .free(0))
        #expect(gate.isClosed)
    }
}
