import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// Delays, intervals, clocks and windows.
@Suite struct TimingTests {
    /// Each waiting message ends with an event. Upkeep removes the rows of the device later.
    @Test func aDeviceThatStaysAwayLosesWhatWaitsForIt() throws {
        let day = 24 * hour
        var world = World(try message("waits"), try message("late", vendor: "braze") { $0.delay = 100 * day })
        world.client.foreground = false
        world.trigger(bought)
        #expect(world.rows.offers.values.map(\.state.rawValue).sorted() == ["T", "W"])
        let state = world.rows.load(device: "phone", user: "ann")
        let next = world.engine.advance(state, messages: world.active("phone"), now: world.now).nextDue
        #expect(next == noon + world.policy.history + 12 * hour, "the next midnight")
        world.wait(world.policy.history)
        world.advance()
        #expect(world.rows.offers.values.allSatisfy { !$0.state.isEnded })
        world.wait(12 * hour)
        world.advance()
        let ends = world.records.filter { $0.kind == .expired }
        #expect(ends.map(\.detail) == [EndReason.deviceAbsent, EndReason.deviceAbsent])
    }

    @Test func aMessageWhoseTimeoutIsBeforeItsDelayExpires() throws {
        var world = World(
            try message("m", vendor: "braze") {
                $0.delay = 10 * second; $0.timeout = 8 * second
            })
        world.trigger(bought)
        world.wait(10 * second)
        #expect(world.trigger(.poll).offer == nil)
        #expect(world.records.last?.kind == .expired)
        #expect(world.records.last?.detail == EndReason.timeout)
    }

    /// One sweep ends both, so the message expires with and without a request.
    @Test(arguments: [true, false]) func aLeaseThatEndsAfterTheTimeoutExpires(_ isTimer: Bool) throws {
        var world = World(try message("m") { $0.timeout = 30 * second })
        let offer = try #require(world.trigger(bought).offer)
        world.wait(world.policy.lease)
        let state = world.rows.load(device: "phone", user: "ann")
        #expect(world.engine.advance(state, messages: world.active("phone"), now: world.now).nextDue == nil)
        if isTimer { world.advance() } else { world.trigger(.poll) }
        #expect(world.state(offer.id) == .expired)
        #expect(world.records.last?.kind == .expired && world.records.last?.detail == EndReason.timeout)
    }

    @Test(arguments: [(39 * second, true), (40 * second, false)])
    func theDefaultTimeoutOnTheWebIsThirtySecondsAfterTheDelay(_ passed: Span, _ isShown: Bool) throws {
        var world = World(try message("m", vendor: "braze") { $0.delay = 10 * second })
        world.client.platform = .web
        world.trigger(bought)
        world.wait(passed)
        #expect((world.trigger(.poll).offer != nil) == isShown)
    }

    @Test func aMessageOnAndroidHasNoDefaultTimeout() throws {
        var world = World(try message("m", vendor: "braze") { $0.delay = 10 * second })
        world.client.platform = .android
        world.trigger(bought)
        world.wait(hour)
        #expect(world.trigger(.poll).offer != nil)
    }

    @Test func noMessageIsOfferedDuringTheInterval() throws {
        var world = World(
            try message("first", on: [.sessionStart]), try message("m", vendor: "braze"), interval: 30 * second)
        try world.showAndDismiss(.sessionStart)
        world.wait(29 * second)
        let answer = world.trigger(bought, explain: true)
        #expect(answer.offer == nil)
        #expect(answer.check("m")?.code == .interval)
        #expect(answer.check("m")?.until == world.now + second)
        world.wait(second)
        #expect(world.trigger(bought).offer?.message == "m")
    }

    @Test func aMessageWaitsBehindAVisibleOne() throws {
        var world = World(try message("first", on: [.sessionStart]), try message("m"))
        let first = try #require(world.trigger(.sessionStart).offer)
        try world.report(.shown, first.id)
        let answer = world.trigger(bought, explain: true)
        #expect(answer.offer == nil && answer.result("m") == .waiting)
        #expect(answer.failure("m") == .slotBusy)
        #expect(try world.report(.dismissed(how: "user"), first.id).offer?.message == "m")
    }

    @Test func aMessagesOwnIntervalOverridesTheGeneralOne() throws {
        var world = World(
            try message("first", on: [.sessionStart]), try message("m") { $0.interval = 5 * second },
            interval: 30 * second)
        try world.showAndDismiss(.sessionStart)
        world.wait(6 * second)
        #expect(world.trigger(bought).offer?.message == "m")
    }

    @Test func aShownMessageIsOfferedAgainOnlyWhenEligible() throws {
        var never = World(try message("m") { $0.reEligibility = .never })
        try never.showAndDismiss(bought)
        never.wait(400 * 24 * hour)
        #expect(never.trigger(bought, explain: true).failure("m") == .reEligibility)

        var again = World(try message("m") { $0.reEligibility = .after(60 * second) })
        try again.showAndDismiss(bought)
        again.wait(60 * second - 1)
        #expect(again.trigger(bought).offer == nil)
        again.wait(1)
        #expect(again.trigger(bought).offer != nil)
    }

    @Test func aMessageWhoseAssetIsPendingLetsOthersPass() throws {
        var world = World(
            try message("slow") {
                $0.rank = 1; $0.requirements.assets = ["a.png"]; $0.timeout = minute
            },
            try message("other", on: [buy, .screen("shop")]))
        world.client.assets = ["a.png": .loading]
        let answer = world.trigger(bought, explain: true)
        #expect(answer.result("slow") == .waiting && answer.failure("slow") == .assetPending)
        #expect(answer.offer?.message == "other")
        world.wait(minute)
        world.advance()
        #expect(world.records.contains { $0.kind == .expired && $0.offer?.message == "slow" })
    }

    @Test func aChangeOfUserEndsDelayedMessages() throws {
        var world = World(try message("m") { $0.delay = 10 * second })
        world.trigger(bought)
        world.wait(5 * second)
        world.trigger(.poll, user: "bob")
        #expect(world.records.last?.detail == EndReason.userChanged)
        world.wait(minute)
        #expect(world.trigger(.poll, user: "bob").offer == nil)
    }

    @Test(arguments: [("cart", "m"), ("home", nil)])
    func theRequiredScreenIsCheckedAtTheEndOfTheDelay(_ required: String, _ offered: String?) throws {
        var world = World(
            try message("m") {
                $0.delay = 10 * second; $0.requirements.screens = [required]
            })
        world.trigger(bought)
        world.wait(10 * second)
        world.client.screen = "cart"
        #expect(world.trigger(.poll).offer?.message == offered)
    }

    @Test func aMessageWhoseScheduleEndsDuringItsDelayExpires() throws {
        for vendor in ["braze", "sourse"] {
            var world = World(
                try message("m", vendor: vendor) {
                    $0.delay = 10 * second; $0.schedule.end = noon + 5 * second
                })
            world.trigger(bought)
            world.wait(10 * second)
            world.advance()
            #expect(world.kinds("m") == [.expired])
            #expect(world.records.last?.detail == EndReason.scheduleEnded)
        }
    }

    @Test func aMessageWhoseDelayEndsInBackgroundWaits() throws {
        var world = World(try message("m") { $0.delay = 10 * second })
        world.trigger(bought)
        world.client.foreground = false
        world.trigger(.poll)
        world.wait(10 * second)
        world.advance()
        #expect(world.rows.offers.values.map(\.state) == [.waiting])
        world.client.foreground = true
        #expect(world.trigger(.poll).offer?.message == "m")
    }

    @Test func everyStateOfAnOfferSurvivesARestart() throws {
        // Every step of World loads its rows anew. This test also begins a new World with the rows of each state.
        for steps in 0..<4 {
            var world = World(try message("m") { $0.delay = 10 * second })
            world.trigger(bought)
            let due = world.rows.offers["of_1"]?.due
            if steps > 0 { world.client.foreground = false; world.wait(10 * second); world.trigger(.poll) }
            if steps > 1 { world.client.foreground = true; world.trigger(.poll) }
            if steps > 2 { try world.report(.shown, "of_1") }
            var restarted = World()
            (restarted.messages, restarted.policy, restarted.rows) = (world.messages, world.policy, world.rows)
            (restarted.now, restarted.tickets) = (world.now, world.tickets)
            restarted.client = world.client
            restarted.trigger(bought)
            #expect(restarted.rows.offers.count == 1)
            #expect(restarted.rows.offers["of_1"]?.due == due)
            let states: [Offer.State] = [.triggered, .waiting, .offered, .shown]
            #expect(world.state("of_1") == states[steps])
        }
    }

    @Test func aClockSetBackReopensNoLimit() throws {
        var world = World(
            try message("m") {
                $0.reEligibility = .always; $0.limits = [Limit(1, .rolling(24 * hour))]
            })
        try world.showAndDismiss(bought)
        world.wait(-hour)
        #expect(world.trigger(bought, explain: true).failure("m") == .limitMessage)
        world.wait(24 * hour)
        #expect(world.trigger(bought).offer == nil)
    }

    @Test func aClockSetBackOverMidnightBeginsNoNewDay() throws {
        var world = World(
            try message("m") {
                $0.reEligibility = .always
                $0.limits = [Limit(1, .day(.user))]
            })
        world.now = noon + 12 * hour + 30 * minute
        try world.showAndDismiss(bought)
        world.wait(-hour)
        #expect(world.trigger(bought, explain: true).failure("m") == .limitMessage)
    }

    @Test func overdueMessagesAreOfferedOnePerInterval() throws {
        var world = World(
            try message("a") { $0.delay = minute }, try message("b", vendor: "other") { $0.delay = minute },
            interval: 30 * second)
        world.trigger(bought)
        world.wait(hour)
        let first = try #require(world.trigger(.poll).offer)
        #expect(first.flags.contains(.overdue))
        try world.report(.shown, first.id)
        #expect(try world.report(.dismissed(how: "user"), first.id).offer == nil)
        #expect(world.trigger(.poll).nextCheck == world.now + 30 * second)
        world.wait(30 * second)
        let next = try #require(world.trigger(.poll).offer)
        #expect(next.message != first.message && next.flags.contains(.overdue))
    }

    @Test func theClockOfTheDeviceIsIgnored() throws {
        var world = World(try message("m") { $0.reEligibility = .after(24 * hour) })
        let offer = try #require(world.trigger(bought, deviceTime: noon - 900 * hour).offer)
        try world.report(.shown, offer.id, deviceTime: noon - 900 * hour)
        try world.report(.dismissed(how: "user"), offer.id, deviceTime: noon + 900 * hour)
        #expect(world.trigger(bought, deviceTime: noon + 900 * hour).offer == nil)
    }
}
