import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// Clients that missed an answer: a repeat gets it again, and changes nothing.
@Suite struct RepeatTests {
    private func stacked() throws -> (World, OfferID) {
        var world = World(try message("first", on: [.sessionStart]), try message("next"))
        let first = try #require(world.trigger(.sessionStart).offer)
        try world.report(.shown, first.id)
        world.trigger(bought)
        return (world, first.id)
    }

    @Test func aRepeatedTriggerHasTheNextCheckAgain() throws {
        var world = World(try message("m") { $0.delay = 10 * second })
        let first = world.trigger(bought, id: "a")
        #expect(first.nextCheck == noon + 10 * second)
        world.wait(second)
        #expect(world.trigger(bought, id: "a").nextCheck == first.nextCheck)
    }

    /// The timer of the gateway made the message ready in the meantime.
    @Test(arguments: [true, false]) func aRepeatAfterTheDelayAsksAtOnce(_ advances: Bool) throws {
        var world = World(try message("m") { $0.delay = 10 * second })
        world.trigger(bought, id: "a")
        world.wait(20 * second)
        if advances { world.advance() }
        #expect(world.trigger(bought, id: "a").nextCheck == world.now)
        #expect(world.trigger(.poll).offer?.message == "m")
    }

    @Test(arguments: [true, false]) func aRepeatAfterTheLeaseAsksAtOnce(_ advances: Bool) throws {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought, id: "a").offer)
        world.wait(31 * second)
        if advances { world.advance() }
        let repeated = world.trigger(bought, id: "a")
        #expect(repeated.offer == nil && repeated.nextCheck == world.now)
        #expect(world.trigger(.poll).offer?.id == offer.id)
    }

    /// The first answer to the repeated trigger had no offer, because another message had the screen.
    @Test(arguments: [true, false]) func aRepeatAfterTheLeaseOfAnotherMessageAsksAtOnce(_ advances: Bool) throws {
        var world = World(try message("first", on: [.sessionStart]), try message("next"))
        world.trigger(.sessionStart)
        let waiting = world.trigger(bought, id: "a")
        #expect(waiting.offer == nil)
        #expect(world.trigger(bought, id: "a").nextCheck == waiting.nextCheck)
        world.wait(31 * second)
        if advances { world.advance() }
        let repeated = world.trigger(bought, id: "a")
        #expect(repeated.isRepeat && repeated.offer == nil && repeated.nextCheck == world.now)
        #expect(world.trigger(.poll).offer != nil)
    }

    @Test(arguments: ["r", nil]) func aRepeatedReportHasTheFollowingOfferAgain(_ id: String?) throws {
        var (world, first) = try stacked()
        let offer = try #require(try world.report(.dismissed(how: "user"), first, id: id).offer)
        #expect(offer.message == "next")
        for id in [id, "another"] {
            let repeated = try world.report(.dismissed(how: "user"), first, id: id)
            #expect(repeated.isRepeat && repeated.offer?.id == offer.id)
        }
        #expect(try world.report(.shown, first).offer == nil, "that answer had no offer")
        try world.report(.shown, offer.id)
        #expect(try world.report(.dismissed(how: "user"), first, id: id).offer == nil)
        #expect(world.kinds("next") == [.offered, .impression])
    }

    @Test func aRepeatedReportHasTheRunnerUpAgain() throws {
        var world = World(try message("a") { $0.rank = 1 }, try message("b"))
        let first = try #require(world.trigger(bought).offer)
        let offer = try #require(try world.report(.templateUnknown, first.id, id: "r").offer)
        #expect(try world.report(.templateUnknown, first.id, id: "r").offer?.id == offer.id)
    }

    @Test func aReportNamesTheCheckOfAReadyMessage() throws {
        var world = World(
            try message("first", on: [.sessionStart]), try message("m", vendor: "other") { $0.delay = 10 * second })
        let first = try #require(world.trigger(.sessionStart).offer)
        try world.report(.shown, first.id)
        world.trigger(bought)
        world.wait(10 * second)
        #expect(try world.report(.dismissed(how: "user"), first.id).nextCheck == world.now)
        #expect(world.trigger(.poll).offer?.message == "m")
    }

    /// The client refuses an offer whose time is over, before the timer of the gateway has ended it.
    @Test func aRefusalOfAnOfferThatHasLapsedEndsIt() throws {
        var world = World(try message("m") { $0.timeout = 10 * second })
        let offer = try #require(world.trigger(bought).offer).id
        world.wait(world.policy.lease)
        #expect(try world.report(.discard, offer).isRepeat)
        #expect(world.state(offer) == .expired)
        #expect(world.kinds("m") == [.offered, .expired])
    }

    @Test func everyClickOfAnOfferIsRecognisedAgain() throws {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought).offer).id
        let click = Report.Outcome.clicked(button: "more", closes: false)
        for number in 1..<Bounds.reports { try world.report(click, offer, id: "#\(number)") }
        for number in 1..<Bounds.reports { #expect(try world.report(click, offer, id: "#\(number)").isRepeat) }
        #expect(throws: ReportFault.conflict(.init(code: .idReused, state: .shown, reason: nil))) {
            try world.report(.dismissed(how: "user"), offer, id: "#1")
        }
        #expect(world.rows.offers[offer]?.clicks == Bounds.reports - 1)
    }

    @Test func aMessageWithTheMostReportsCanEnd() throws {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought).offer).id
        let click = Report.Outcome.clicked(button: "more", closes: false)
        for number in 0..<Bounds.reports { try world.report(click, offer, id: "\(number)") }
        let fault = ReportFault.conflict(.init(code: .tooMany, state: .shown, reason: nil))
        #expect(throws: fault) { try world.report(click, offer, id: "one more") }
        try world.report(.clicked(button: "go", closes: true), offer, id: "end")
        #expect(world.state(offer) == .done)
    }

    /// Its id begins as the engine's own keys do.
    @Test func aReportWithAnyIDIsRecognisedAfterTheNextLease() throws {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought).offer).id
        try world.report(.later, offer, id: "#1")
        #expect(world.trigger(.poll).offer?.id == offer)
        #expect(try world.report(.later, offer, id: "#1").isRepeat)
    }
}
