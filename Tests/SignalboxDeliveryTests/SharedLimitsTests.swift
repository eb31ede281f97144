import SignalboxStore
import Testing

@testable import SignalboxGateway

/// Limits of a destination to which several processes deliver: the store gives out attempts and probes.
@Suite struct SharedLimitsTests {
    private func gate(limit: Int = 4, failures: Int = 1, perSecond: Double? = nil) -> LaneGate {
        LaneGate(
            limit: limit, breaker: Breaker(failures: failures, probe: .seconds(30)), perSecond: perSecond,
            isShared: true, at: .zero)
    }

    @Test func aLaneUsesItsPartOfThePlaces() {
        let gate = gate(limit: 4)
        #expect(gate.takePlaces(at: .zero, outOf: 1) == .free(1))
        #expect(gate.takePlaces(at: .zero, outOf: 1) == .free(0))
        // Another process ended.
        #expect(gate.takePlaces(at: .zero, outOf: 4) == .free(3))
        // It is back. Attempts in flight continue.
        #expect(gate.takePlaces(at: .zero, outOf: 2) == .free(0))
    }

    @Test func asksTheStoreForAttempts() {
        let gate = gate(perSecond: 2)
        #expect(gate.takePlaces(at: .zero) == .needsAttempts(perSecond: 2))
        gate.add(AttemptShare(count: 3, wait: .zero), at: .zero)
        #expect(gate.takePlaces(at: .zero) == .free(3))
        gate.giveBack(1, at: .zero)
        #expect(gate.takePlaces(at: .zero) == .free(1), "what found nothing costs nothing")
        gate.sent()
        #expect(gate.takePlaces(at: .zero) == .needsAttempts(perSecond: 2))
        gate.add(AttemptShare(count: 0, wait: .milliseconds(400)), at: .zero)
        #expect(gate.takePlaces(at: .milliseconds(100)) == .later(.milliseconds(300), isLong: false))
        #expect(gate.takePlaces(at: .milliseconds(400)) == .needsAttempts(perSecond: 2))
    }

    @Test func returnsAttemptsThatAreNotUsed() {
        let gate = gate(perSecond: 8)
        #expect(gate.takeUnused() == nil)
        gate.add(AttemptShare(count: 2, wait: .zero), at: .zero)
        #expect(gate.takePlaces(at: .zero) == .free(2))
        gate.giveBack(2, at: .zero)
        let unused = gate.takeUnused()
        #expect(unused?.count == 2 && unused?.perSecond == 8)
        #expect(gate.takeUnused() == nil)
    }

    // MARK: Backoffs of other processes

    @Test func followsABreakerThatAnotherProcessOpened() {
        let gate = gate(failures: 3)
        gate.follow(breakerOpen: .seconds(30), quiet: nil, at: .zero)
        #expect(gate.takePlaces(at: .zero) == .later(.seconds(30), isLong: true))
        // The other one probes, or has ended: one process may probe.
        #expect(gate.takePlaces(at: .seconds(30)) == .needsProbe)
        gate.recordProbe(wait: .seconds(1), at: .seconds(30))
        // Its probe failed.
        gate.follow(breakerOpen: .seconds(61), quiet: nil, at: .seconds(31))
        #expect(gate.takePlaces(at: .seconds(31)) == .later(.seconds(30), isLong: true))
        // Its probe succeeded.
        gate.follow(breakerOpen: nil, quiet: nil, at: .seconds(40))
        #expect(gate.takePlaces(at: .seconds(40)) == .free(4))
    }

    @Test func anAnswerElsewhereEndsTheBreakerThatThisProcessOpened() {
        let gate = gate(failures: 1)
        #expect(gate.takePlaces(at: .zero) == .free(4))
        _ = gate.recordFailure(begunAt: .seconds(1), at: .seconds(1))
        #expect(gate.beginRecording())
        #expect(gate.nextRecord(at: .seconds(1)) == .record(.init(kind: .breakerOpen, until: .seconds(31))))
        #expect(gate.nextRecord(at: .seconds(1)) == .done)
        gate.endBreaker()
        #expect(gate.recordedBackoff == nil)
        for _ in 0..<4 { gate.sent() }
        #expect(gate.takePlaces(at: .seconds(2)) == .free(4))
        #expect(!gate.takeEndOfOthers(), "its own answers did not end it")
    }

    @Test func anAnswerToAProbeEndsTheBreakersOfOthers() {
        let gate = gate(failures: 1)
        gate.follow(breakerOpen: .seconds(30), quiet: nil, at: .zero)
        gate.recordProbe(wait: nil, at: .seconds(30))
        #expect(gate.takePlaces(at: .seconds(30)) == .free(1))
        _ = gate.recordAnswer(delivered: true, at: .seconds(31))
        #expect(gate.takeEndOfOthers())
        #expect(!gate.takeEndOfOthers(), "once")
        _ = gate.recordAnswer(delivered: true, at: .seconds(32))
        #expect(!gate.takeEndOfOthers(), "it was closed")
    }

    @Test func recordsNoBackoffOfAnotherProcess() {
        let gate = gate(failures: 1)
        gate.follow(breakerOpen: .seconds(30), quiet: nil, at: .zero)
        #expect(gate.beginRecording())
        #expect(gate.nextRecord(at: .seconds(1)) == .done)
        #expect(gate.takePlaces(at: .seconds(30)) == .needsProbe)
        gate.recordProbe(wait: nil, at: .seconds(30))
        #expect(gate.takePlaces(at: .seconds(30)) == .free(1))
        _ = gate.recordFailure(begunAt: .seconds(31), at: .seconds(31))
        #expect(gate.beginRecording())
        #expect(
            gate.nextRecord(at: .seconds(31)) == .record(.init(kind: .breakerOpen, until: .seconds(61))),
            "its own probe failed")
    }

    @Test func anAnswerCountsMoreThanAnEarlierFailureElsewhere() {
        let gate = gate(failures: 3)
        #expect(gate.takePlaces(at: .seconds(9)) == .free(4))
        for _ in 0..<4 { gate.sent() }
        _ = gate.recordAnswer(delivered: true, at: .seconds(10))
        // Opened at 9 s.
        gate.follow(breakerOpen: .seconds(39), quiet: nil, at: .seconds(10))
        #expect(gate.takePlaces(at: .seconds(10)) == .free(4))
        for _ in 0..<4 { gate.sent() }
        // Opened, or probed, at 12 s.
        gate.follow(breakerOpen: .seconds(42), quiet: nil, at: .seconds(12))
        #expect(gate.takePlaces(at: .seconds(12)) == .later(.seconds(30), isLong: true))
    }

    @Test func itsOwnBreakerStaysOpen() {
        let gate = gate(failures: 1)
        #expect(gate.takePlaces(at: .zero) == .free(4))
        #expect(gate.recordFailure(begunAt: .zero, at: .zero) == .leftAlone)
        for _ in 0..<4 { gate.sent() }
        gate.follow(breakerOpen: .seconds(90), quiet: nil, at: .seconds(1))
        gate.follow(breakerOpen: nil, quiet: nil, at: .seconds(2))
        #expect(gate.takePlaces(at: .seconds(2)) == .later(.seconds(28), isLong: true))
    }

    @Test func keepsQuietAsAnotherProcessWasAsked() {
        let gate = gate()
        gate.follow(breakerOpen: nil, quiet: .seconds(5), at: .zero)
        #expect(gate.takePlaces(at: .seconds(1)) == .later(.seconds(4), isLong: true))
        #expect(gate.takePlaces(at: .seconds(5)) == .free(4))
    }

    /// Also for the backoff of another process, which the gate follows.
    @Test func aResumeEndsPauseAndWait() {
        let gate = gate()
        gate.follow(breakerOpen: .seconds(30), quiet: .seconds(86_400), at: .zero)
        #expect(gate.takePlaces(at: .seconds(1)) == .later(.seconds(86_399), isLong: true))
        gate.resume(at: .seconds(1))
        #expect(gate.takePlaces(at: .seconds(1)) == .needsProbe)
        gate.recordProbe(wait: nil, at: .seconds(1))
        #expect(gate.takePlaces(at: .seconds(1)) == .free(1))
    }

    @Test func asksTheStoreForTheProbe() {
        let gate = gate()
        #expect(gate.takePlaces(at: .zero) == .free(4))
        #expect(gate.recordFailure(begunAt: .zero, at: .zero) == .leftAlone)
        for _ in 0..<4 { gate.sent() }
        #expect(gate.takePlaces(at: .seconds(29)) == .later(.seconds(1), isLong: true))
        #expect(gate.takePlaces(at: .seconds(30)) == .needsProbe)
        // Another process probes.
        gate.recordProbe(wait: .seconds(1), at: .seconds(30))
        #expect(gate.takePlaces(at: .seconds(30)) == .later(.seconds(1), isLong: true))
        #expect(gate.takePlaces(at: .seconds(31)) == .needsProbe)
        gate.recordProbe(wait: nil, at: .seconds(31))
        #expect(gate.takePlaces(at: .seconds(31)) == .free(1))
        // There was no delivery: it may still probe, without asking.
        gate.giveBack(1, at: .seconds(31))
        #expect(gate.takePlaces(at: .seconds(32)) == .free(1))
        #expect(gate.takePlaces(at: .seconds(32)) == .free(0))
        _ = gate.recordFailure(begunAt: .seconds(33), at: .seconds(33))
        gate.sent()
        #expect(gate.takePlaces(at: .seconds(63)) == .needsProbe, "the next probe needs another permission")
    }
}
