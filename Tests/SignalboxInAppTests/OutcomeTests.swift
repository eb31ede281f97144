import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// Reports, leases and the stack.
@Suite struct OutcomeTests {
    @Test func aDiscardedMessageIsOfferedAtItsNextEvent() throws {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought).offer)
        try world.report(.discard, offer.id)
        #expect(world.state(offer.id) == .discarded)
        #expect(world.trigger(.poll).offer == nil)
        #expect(world.trigger(bought).offer != nil)
    }

    /// A gateway before this version also removes it from the rows that it writes.
    @Test func anOfferThatWasStoredWithoutACampaignHasThatOfItsRevision() throws {
        var world = World(try message("m") { $0.campaign = "c-1" })
        let offer = try #require(world.trigger(bought).offer)
        world.rows.offers[offer.id]?.campaign = nil
        try world.report(.shown, offer.id)
        #expect(world.records.map(\.offer?.campaign) == ["c-1", "c-1"])
        world.rows.offers[offer.id]?.campaign = nil
        world.messages.register(try message("m") { ($0.campaign, $0.revision) = ("c-2", 2) })
        try world.report(.dismissed(how: "user"), offer.id)
        #expect(world.records.last?.kind == .dismissed && world.records.last?.offer?.campaign == nil)
    }

    @Test func theNewestWaitingMessageIsOfferedFirst() throws {
        var world = World(try message("a"), try message("b", on: [.sessionStart]))
        let first = try #require(world.trigger(bought).offer)
        try world.report(.later, first.id)
        world.client.foreground = false
        world.trigger(.sessionStart)
        world.client.foreground = true
        let second = try #require(world.trigger(.poll).offer)
        #expect(second.message == "b")
        try world.report(.discard, second.id)
        #expect(world.trigger(.poll).offer?.message == "a")
    }

    @Test func anUndoneMessageCountsAsNeverTriggered() throws {
        var world = World(try message("m"), interval: 30 * second)
        let offer = try #require(world.trigger(bought).offer)
        try world.report(.undo, offer.id)
        #expect(world.rows.ledger(.user("ann")) == Ledger())
        #expect(world.trigger(.poll).offer == nil)
        #expect(world.trigger(bought).offer != nil)
    }

    @Test func aRepeatedTriggerMovesItsMessageToTheTopOfTheStack() throws {
        var world = World(try message("a"), try message("b", on: [.sessionStart]))
        world.client.foreground = false
        world.trigger(bought)
        world.trigger(.sessionStart)
        world.trigger(bought)
        #expect(world.rows.offers.count == 2)
        world.client.foreground = true
        #expect(world.trigger(.poll).offer?.message == "a")
    }

    @Test func theStackSkipsAMessageThatHasEnded() throws {
        var world = World(try message("a"), try message("b", on: [.sessionStart]) { $0.schedule.end = noon + minute })
        world.client.foreground = false
        world.trigger(bought)
        world.trigger(.sessionStart)
        world.wait(minute)
        world.client.foreground = true
        #expect(world.trigger(.poll).offer?.message == "a")
        #expect(world.records.contains { $0.offer?.message == "b" && $0.detail == EndReason.scheduleEnded })
    }

    @Test func aControlIsHeldAndNoOtherMessageIsOffered() throws {
        var world = World(
            try message("best", .control) { $0.rank = 1 }, try message("second"),
            try message("third", on: [.sessionStart]),
            interval: 30 * second)
        let answer = world.trigger(bought, explain: true)
        #expect(answer.offer == nil)
        #expect(answer.result("best") == .held && answer.result("second") == .lost)
        #expect(world.records.map(\.kind) == [.held])
        #expect(world.trigger(.sessionStart, explain: true).failure("third") == .interval)
        world.wait(30 * second)
        #expect(world.trigger(bought, explain: true).failure("best") == .reEligibility)
    }

    @Test func aMessageWithoutItsImageKeepsNoReservation() throws {
        var world = World(try message("m", .fullscreen) { $0.requirements.lacksImage = true })
        #expect(world.trigger(bought, explain: true).failure("m") == .imageMissing)

        var reported = World(try message("m", .fullscreen) { $0.limits = [Limit(1, .lifetime, per: .everyone)] })
        let offer = try #require(reported.trigger(bought).offer)
        try reported.report(.imageMissing, offer.id)
        #expect(reported.rows.tallies["m"] == Tally())
        #expect(reported.trigger(bought).offer != nil)
    }

    @Test func aLowerMessageThatFitsTheOrientationIsOffered() throws {
        var world = World(
            try message("best") {
                $0.rank = 1; $0.requirements.orientation = .landscape
            }, try message("lower"))
        world.client.orientation = .portrait
        let answer = world.trigger(bought, explain: true)
        #expect(answer.offer?.message == "lower")
        #expect(answer.failure("best") == .orientation)
    }

    @Test func aMessageWhoseAssetFailsIsDiscarded() throws {
        var world = World(try message("m") { $0.requirements.assets = ["a"] })
        let offer = try #require(world.trigger(bought).offer)
        try world.report(.assetFailed, offer.id)
        #expect(world.records.last?.detail == "asset-failed")
        #expect(world.trigger(bought).offer != nil)
        world.client.assets = ["a": .failed]
        #expect(world.trigger(bought, device: "tablet", user: "bob", explain: true).failure("m") == .assetFailed)
    }

    @Test(arguments: [Report.Outcome.templateAborted, .templateUnknown, .orientation])
    func theReportOfAFailedDisplayOffersTheNextMessage(_ outcome: Report.Outcome) throws {
        var world = World(
            try message("a") { $0.rank = 1 }, try message("b") { $0.rank = 2 }, try message("c") { $0.rank = 3 })
        let first = try #require(world.trigger(bought).offer)
        let second = try #require(try world.report(outcome, first.id).offer)
        #expect(second.message == "b")
        #expect(try world.report(outcome, second.id).offer?.message == "c")
    }

    @Test func aMandatoryUpgradeIsNeitherCoveredNorDismissed() throws {
        var world = World(
            try message("upgrade", vendor: "synerise", .banner, on: [.sessionStart]) { $0.isBlocking = true },
            try message("m") { $0.isTest = true })
        let upgrade = try #require(world.trigger(.sessionStart).offer)
        try world.report(.shown, upgrade.id)
        #expect(world.trigger(bought, explain: true).result("m") == .waiting)
        let conflict = ReportFault.Conflict(code: .notDismissible, state: .shown, reason: nil)
        #expect(throws: ReportFault.conflict(conflict)) { try world.report(.dismissed(how: "back"), upgrade.id) }
        try world.report(.clicked(button: "store", closes: true), upgrade.id)
        #expect(world.state(upgrade.id) == .done)
    }

    @Test func aFailedRenderingCountsNoImpression() throws {
        var world = World(try message("m", vendor: "synerise") { $0.renderTimeout = 5 * second })
        let offer = try #require(world.trigger(bought).offer)
        world.wait(6 * second)
        try world.report(.renderFailed, offer.id)
        #expect(world.kinds("m") == [.offered, .discarded])
        #expect(world.rows.ledger(.user("ann")).displays.isEmpty)
    }

    @Test func aMessageWithAnUnknownTemplateIsNotCounted() throws {
        var world = World(
            try message("m", vendor: "mce", on: [.rule("k")]) {
                $0.requirements.template = "video"; $0.limits = [Limit(1, .lifetime)]
            })
        world.client.templates = ["default"]
        #expect(world.trigger(.rule("k"), explain: true).failure("m") == .templateUnknown)
        world.client.templates = ["video"]
        #expect(world.trigger(.rule("k")).offer != nil)
    }

    @Test func aRepeatedTriggerHasTheSameAnswer() throws {
        var world = World(try message("m"))
        let answers = (0..<3).map { _ in world.trigger(bought, id: "t-1") }
        #expect(Set(answers.map { $0.offer?.id }) == ["of_1"])
        #expect(world.kinds("m") == [.offered])
        let digests = (0..<2).map { _ in world.trigger(.sessionStart, device: "tablet", deviceTime: 5) }
        #expect(digests.map(\.isRepeat) == [false, true])
    }

    @Test func aRepeatedImpressionCountsOnce() throws {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought).offer)
        try world.report(.shown, offer.id)
        let repeated = try world.report(.shown, offer.id, id: "another")
        #expect(repeated.isRepeat)
        try world.report(.dismissed(how: "user"), offer.id)
        #expect(try world.report(.shown, offer.id).isRepeat)
        #expect(world.kinds("m") == [.offered, .impression, .dismissed])
        #expect(world.rows.ledger(.user("ann")).totals[.scope]?.count == 1)
    }

    @Test func anUnansweredMessageIsOfferedOnceMore() throws {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought).offer)
        world.wait(30 * second)
        world.advance()
        #expect(world.state(offer.id) == .waiting)
        #expect(world.trigger(.poll).offer?.id == offer.id)
        world.wait(30 * second)
        world.advance()
        #expect(world.records.last?.detail == EndReason.noAnswer)
        #expect(world.rows.ledger(.user("ann")) == Ledger())
    }

    @Test func aLateImpressionCounts() throws {
        var world = World(try message("a"), try message("b", on: [.sessionStart]))
        let late = try #require(world.trigger(bought).offer)
        world.wait(30 * second)
        let other = try #require(world.trigger(.sessionStart).offer)
        #expect(other.message == "b")
        try world.report(.shown, late.id)
        #expect(world.records.last?.kind == .impression)
        #expect(world.records.last?.flags == ["late"])
        #expect(world.state(other.id) == .offered)
        #expect(world.rows.ledger(.user("ann")).totals[.message("a")]?.count == 1)
    }

    @Test func theImpressionOfAWithdrawnMessageIsRecorded() throws {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought).offer)
        world.messages.withdraw("m")
        try world.report(.shown, offer.id)
        #expect(world.records.last?.flags == [EndReason.withdrawn])
        #expect(world.trigger(bought, device: "tablet", user: "bob").offer == nil)
    }

    @Test func aDisplayFreesTheScreenAfterHalfAnHourOfSilence() throws {
        var world = World(try message("a"), try message("b", on: [.sessionStart]))
        let offer = try #require(world.trigger(bought).offer)
        try world.report(.shown, offer.id)
        world.wait(30 * minute - 1)
        world.advance()
        #expect(world.state(offer.id) == .shown)
        world.wait(1)
        world.advance()
        #expect(world.records.last?.detail == EndReason.interrupted)
        #expect(world.rows.ledger(.user("ann")).totals[.message("a")]?.count == 1)
        #expect(world.trigger(.sessionStart).offer?.message == "b")
    }

    /// The app was killed and started again, so its later requests do not mention the message.
    @Test func otherRequestsOfTheDeviceDoNotKeepADisplay() throws {
        var world = World(try message("a"), try message("b", on: [.sessionStart]))
        let offer = try #require(world.trigger(bought).offer)
        try world.report(.shown, offer.id)
        world.wait(20 * minute)
        #expect(world.trigger(.sessionStart).offer == nil)
        world.wait(10 * minute)
        #expect(world.trigger(.sessionStart).offer?.message == "b")
        #expect(world.rows.offers[offer.id]?.reason == EndReason.interrupted)
    }

    @Test func aDisplayThatTheClientListsOrReportsIsKept() throws {
        var world = World(try message("a"))
        let offer = try #require(world.trigger(bought).offer)
        try world.report(.shown, offer.id)
        world.client.visible = [offer.id]
        for _ in 0..<5 {
            world.wait(20 * minute)
            world.trigger(.poll)
            #expect(world.state(offer.id) == .shown)
        }
        world.client.visible = nil
        world.wait(20 * minute)
        try world.report(.clicked(button: "more", closes: false), offer.id)
        world.wait(30 * minute - 1)
        world.trigger(.poll)
        #expect(world.state(offer.id) == .shown)
        world.wait(1)
        world.trigger(.poll)
        #expect(world.state(offer.id) == .done)
    }

    @Test func noWaitingMessageIsOfferedWhenAControlIsHeld() throws {
        var world = World(try message("control", .control), try message("waiting", on: [.sessionStart]))
        let offer = try #require(world.trigger(.sessionStart).offer)
        try world.report(.later, offer.id)
        #expect(world.trigger(bought).offer == nil)
        #expect(world.records.last?.kind == .held)
    }

    @Test func aMessageThatNeverRepeatsIsOfferedToOneDevice() throws {
        var world = World(try message("m"))
        world.trigger(bought, device: "phone")
        let answer = world.trigger(bought, device: "tablet", explain: true)
        #expect(answer.offer == nil)
        #expect(answer.check("m")?.actual == "offered elsewhere")
    }
}
