import SignalboxConfig
import Testing

@testable import SignalboxGateway

@Suite struct HandshakeTests {
    private func handshake(base: Duration = .seconds(10), max: Duration = .seconds(86_400)) -> Handshake {
        Handshake(age: .seconds(100), retry: .init(attempts: 3, base: base, max: max))
    }

    @Test func requestsPermissionOnceBeforeTheFirstDelivery() {
        var handshake = handshake()
        #expect(handshake.permission(at: .zero) == .ask)
        handshake.begin()
        #expect(handshake.permission(at: .zero) == .asking)
        handshake.given(at: .seconds(1))
        #expect(handshake.permission(at: .seconds(1)) == .given)
        #expect(handshake.isGiven)
    }

    @Test func repeatsAnAbandonedRequest() {
        var handshake = handshake()
        handshake.begin()
        handshake.abandon()
        #expect(handshake.permission(at: .zero) == .ask)
        handshake.given(at: .zero)
        handshake.abandon()
        #expect(handshake.permission(at: .zero) == .given)
    }

    @Test func aPermissionHasAnAge() {
        var handshake = handshake()
        handshake.given(at: .seconds(5))
        #expect(handshake.permission(at: .seconds(104)) == .given)
        #expect(handshake.permission(at: .seconds(105)) == .ask)
    }

    @Test func doublesTheWaitUpToAnHour() {
        var handshake = handshake()
        var waits: [Duration] = []
        for _ in 0..<11 {
            handshake.withheld(at: .zero, asked: .zero)
            if case .withheld(let until) = handshake.permission(at: .zero) { waits.append(until) }
        }
        #expect(waits == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600].map { .seconds($0) })
        #expect(handshake.permission(at: .seconds(3599)) == .withheld(until: .seconds(3600)))
        #expect(handshake.permission(at: .seconds(3600)) == .ask)
        handshake.given(at: .seconds(3600))
        handshake.withheld(at: .zero, asked: .zero)
        #expect(handshake.permission(at: .zero) == .withheld(until: .seconds(10)), "it begins anew")
    }

    @Test func waitsAsLongAsTheDestinationAsks() {
        var handshake = handshake()
        handshake.withheld(at: .zero, asked: .seconds(7200))
        #expect(handshake.permission(at: .zero) == .withheld(until: .seconds(7200)))
    }

    @Test func requestsAWithdrawnPermissionAtOnce() {
        var handshake = handshake()
        handshake.given(at: .zero)
        handshake.takeBack()
        #expect(handshake.permission(at: .zero) == .ask)
        handshake.withheld(at: .zero, asked: .zero)
        handshake.takeBack()
        #expect(handshake.permission(at: .zero) == .withheld(until: .seconds(10)), "there is none to take back")
        handshake.begin()
        handshake.takeBack()
        #expect(handshake.permission(at: .zero) == .asking)
    }

    @Test func requestsAWithheldPermissionOnDemand() {
        var handshake = handshake()
        handshake.withheld(at: .zero, asked: .zero)
        handshake.askAgain()
        #expect(handshake.permission(at: .zero) == .ask)
        handshake.given(at: .zero)
        handshake.askAgain()
        #expect(handshake.permission(at: .zero) == .given, "there is nothing to ask")
    }

    @Test func statusesThatWithdrawAPermission() {
        let statuses = [nil, 200, 400, 401, 403, 404, 405, 410, 429, 500, 503]
        #expect(statuses.filter { Handshake.isTakenBack(by: $0) } == [403, 410, 429])
    }

    // MARK: In the gate

    private func gate(perSecond: Double? = nil) -> LaneGate {
        LaneGate(
            limit: 4, breaker: Breaker(failures: 1, probe: .seconds(30)), perSecond: perSecond, handshake: handshake(),
            at: .zero)
    }

    @Test func startsNoAttemptDuringAQuestion() {
        let gate = gate()
        #expect(gate.takePlaces(at: .zero) == .question)
        #expect(gate.takePlaces(at: .zero) == .free(0))
        gate.giveBack(1, at: .zero)
        #expect(gate.takePlaces(at: .zero) == .question, "there was nothing to send")
        #expect(!gate.isIdle(at: .zero))
        gate.recordGiven(perMinute: nil, at: .zero)
        #expect(gate.takePlaces(at: .zero) == .free(3))
    }

    @Test func withheldPermissionDoesNotDelayAStop() {
        let gate = gate()
        #expect(gate.takePlaces(at: .zero) == .question)
        gate.recordWithheld(at: .zero, asked: .zero)
        gate.sent()
        #expect(gate.takePlaces(at: .seconds(4)) == .later(.seconds(6), isLong: true))
        #expect(gate.takePlaces(at: .seconds(10)) == .question)
    }

    @Test func anOpenBreakerAsksNoQuestion() {
        let gate = gate()
        #expect(gate.recordFailure(begunAt: .zero, at: .zero) == .leftAlone)
        #expect(gate.takePlaces(at: .zero) == .later(.seconds(30), isLong: true))
        #expect(gate.takePlaces(at: .seconds(30)) == .question, "it is the probe as well")
    }

    @Test func usesTheLowerOfTwoRates() {
        for (own, allowed, atOnce) in [(nil, 120, 2), (1, 120, 1), (3, 120, 2), (2, nil, 2)] as [(Double?, Int?, Int)] {
            let gate = gate(perSecond: own)
            #expect(gate.takePlaces(at: .zero) == .question)
            gate.recordGiven(perMinute: allowed, at: .zero)
            var begun = 1
            if case .free(let more) = gate.takePlaces(at: .zero) { begun += more }
            #expect(begun == atOnce, "\(own ?? 0) \(allowed ?? 0)")
        }
    }
}
