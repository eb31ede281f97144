import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// Repeats, contradictions and reports out of order.
@Suite struct ReportTests {
    private func world() throws -> (World, OfferID) {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought).offer)
        return (world, offer.id)
    }

    private func conflict(_ code: ReportFault.Conflict.Code, _ state: Offer.State, _ reason: String? = nil)
        -> ReportFault
    {
        .conflict(.init(code: code, state: state, reason: reason))
    }

    @Test func rejectsReportsOfAnotherDevice() throws {
        var (world, offer) = try world()
        #expect(throws: ReportFault.unknownOffer) { try world.report(.shown, offer, device: "thief") }
        #expect(throws: ReportFault.unknownOffer) { try world.report(.shown, "of_none") }
        #expect(world.state(offer) == .offered)
    }

    @Test func rejectsARefusalAfterTheImpression() throws {
        for outcome in [Report.Outcome.later, .undo, .discard, .assetFailed, .renderFailed] {
            var (world, offer) = try world()
            try world.report(.shown, offer)
            #expect(throws: conflict(.alreadyShown, .shown)) { try world.report(outcome, offer) }
        }
    }

    @Test func rejectsAnImpressionAfterARefusal() throws {
        var (world, offer) = try world()
        try world.report(.discard, offer)
        #expect(throws: conflict(.alreadyEnded, .discarded, "discard")) { try world.report(.shown, offer) }
        #expect(try world.report(.discard, offer, id: "again").isRepeat)
        #expect(throws: conflict(.alreadyEnded, .discarded, "discard")) { try world.report(.undo, offer) }
    }

    @Test func rejectsAnotherMannerOfTheSameEnd() throws {
        var (world, offer) = try world()
        try world.report(.shown, offer)
        try world.report(.dismissed(how: "swipe"), offer)
        #expect(try world.report(.dismissed(how: "swipe"), offer).isRepeat)
        #expect(throws: conflict(.alreadyEnded, .done, "swipe")) { try world.report(.dismissed(how: "auto"), offer) }
        #expect(throws: conflict(.alreadyEnded, .done, "swipe")) {
            try world.report(.clicked(button: nil, closes: false), offer)
        }
    }

    @Test func countsTheImpressionThatAClickImplies() throws {
        var (world, offer) = try world()
        try world.report(.clicked(button: "yes", closes: true), offer)
        #expect(world.kinds("m") == [.offered, .impression, .clicked, .dismissed])
        #expect(try world.report(.shown, offer).isRepeat)
        #expect(try world.report(.dismissed(how: "user"), offer).isRepeat)
    }

    @Test func flagsASecondClick() throws {
        var (world, offer) = try world()
        try world.report(.shown, offer)
        try world.report(.clicked(button: "a", closes: false), offer, deviceTime: 1)
        try world.report(.clicked(button: "a", closes: false), offer, deviceTime: 2)
        #expect(try world.report(.clicked(button: "a", closes: false), offer, deviceTime: 2).isRepeat)
        #expect(world.records.filter { $0.kind == .clicked }.map(\.flags) == [[], ["again"]])
    }

    @Test func rejectsAReportBeforeTheOffer() throws {
        var world = World(try message("m") { $0.delay = minute })
        world.trigger(bought)
        #expect(throws: conflict(.notOffered, .triggered)) { try world.report(.shown, "of_1") }
        #expect(throws: conflict(.notOffered, .triggered)) { try world.report(.later, "of_1") }
    }

    @Test func endsAShownMessageThatTheClientNoLongerShows() throws {
        var (world, offer) = try world()
        try world.report(.shown, offer)
        world.client.visible = [offer]
        world.trigger(.poll)
        #expect(world.state(offer) == .shown)
        world.client.visible = []
        world.trigger(.poll)
        #expect(world.rows.offers[offer]?.reason == EndReason.interrupted)
    }

    /// The client reports the click before it sends the event.
    @Test func showsAFollowUpAfterTheReportOfItsClick() throws {
        var world = World(
            try message("m"), try message("next", on: [.messageClick(message: "m", button: nil)]),
            try message("other", on: [.messageClick(message: "next", button: nil)]), interval: hour)
        let offer = try #require(world.trigger(bought).offer)
        try world.report(.shown, offer.id)
        try world.report(.clicked(button: nil, closes: true), offer.id)
        let other = world.trigger(.messageClick(message: "next", button: nil), explain: true)
        #expect(other.failure("other") == .interval, "it was not on the screen")
        #expect(world.trigger(.messageClick(message: "m", button: nil)).offer?.message == "next")
    }

    @Test func showsAFollowUpOfAClickWithoutInterval() throws {
        var world = World(
            try message("m"), try message("next", on: [.messageClick(message: "m", button: "more")]), interval: hour)
        let offer = try #require(world.trigger(bought).offer)
        try world.report(.shown, offer.id)
        world.trigger(.messageClick(message: "m", button: "less"))
        world.trigger(.messageClick(message: "m", button: "more"))
        let answer = try world.report(.clicked(button: "more", closes: true), offer.id)
        #expect(answer.offer?.message == "next")
    }

    @Test func endsAPendingMessageByItsUnlessEvent() throws {
        var world = World(
            try message("m") {
                $0.delay = minute; $0.unless = [.screen("thanks")]
            })
        world.trigger(bought)
        world.trigger(.screen("thanks"))
        #expect(world.records.contains { $0.kind == .discarded && $0.detail == EndReason.unless })
    }

    @Test func countsAnImpressionThatCrossesAUserChange() throws {
        var (world, offer) = try world()
        world.trigger(.poll, user: "bob")
        try world.report(.shown, offer)
        #expect(world.records.last?.flags == ["late"])
        #expect(world.rows.ledger(.user("ann")).totals[.message("m")]?.count == 1)
        #expect(world.rows.ledger(.user("bob")) == Ledger())
    }

    /// The lease ended, and another device took the only place of the limit.
    @Test func flagsALateImpressionBeyondALimit() throws {
        for limit in [Limit(1, .lifetime, owner: .scope), Limit(2, .lifetime, owner: .scope)] {
            var world = World(try message("m"), try message("n", on: [.screen("n")]))
            world.policy.limits = [limit]
            let offer = try #require(world.trigger(bought).offer)
            world.wait(minute)
            try world.showAndDismiss(.screen("n"), device: "tablet")
            try world.report(.shown, offer.id)
            #expect(world.records.last?.flags == (limit.count == 1 ? ["over-limit", "late"] : ["late"]))
            #expect(world.rows.ledger(.user("ann")).totals[.scope]?.count == 2)
        }
    }

    /// The same for the message's own limits.
    @Test func flagsALateImpressionBeyondItsOwnLimit() throws {
        var world = World(
            try message("m") {
                $0.limits = [Limit(1, .lifetime, per: .everyone)]; $0.reEligibility = .always
            })
        let offer = try #require(world.trigger(bought).offer)
        world.wait(minute)
        world.advance()
        try world.showAndDismiss(bought, device: "tablet", user: "bob")
        try world.report(.shown, offer.id)
        #expect(world.records.last?.flags == ["over-limit", "late"])
    }

    /// Neither has a reservation in the tally.
    @Test func theTallyOfAnAddressedMessageCountsLateAndHeldDisplays() throws {
        var world = World()
        var index = MessageIndex()
        for (id, kind) in [("late", Message.Kind.modal), ("held", .control)] {
            index.register(
                try message(id, kind, on: [.screen(id)]) {
                    $0.limits = [Limit(1, .lifetime, per: .everyone)]; $0.reEligibility = .always
                })
        }
        world.addressed["phone"] = index
        let offer = try #require(world.trigger(.screen("late")).offer)
        world.wait(minute)
        world.advance()
        try world.report(.shown, offer.id)
        try world.report(.dismissed(how: "user"), offer.id)
        world.trigger(.screen("held"))
        #expect(world.rows.tallies == ["late": Tally(committed: 1), "held": Tally(committed: 1)])
    }

    @Test func rejectsAnotherOutcomeWithTheSameID() throws {
        var (world, offer) = try world()
        try world.report(.shown, offer, id: "1")
        #expect(try world.report(.shown, offer, id: "1").isRepeat)
        #expect(throws: conflict(.idReused, .shown)) {
            try world.report(.clicked(button: nil, closes: true), offer, id: "1")
        }
        try world.report(.clicked(button: nil, closes: true), offer, id: "11")
        #expect(world.state(offer) == .done)
    }

    @Test func acceptsLaterForEachLease() throws {
        var (world, offer) = try world()
        for _ in 0..<3 {
            #expect(try !world.report(.later, offer).isRepeat)
            #expect(try world.report(.later, offer).isRepeat)
            #expect(world.trigger(.poll).offer?.id == offer)
        }
    }

    @Test func releasesAnOfferWhoseAppWasKilledBeforeTheImpression() throws {
        var (world, offer) = try world()
        try world.report(.interrupted, offer)
        #expect(try world.report(.interrupted, offer, id: "again").isRepeat)
        #expect(world.state(offer) == .discarded)
        #expect(world.trigger(bought).offer != nil)
    }

    @Test func acceptsNoReportOfAHeldMessage() throws {
        var world = World(try message("m", .control))
        world.trigger(bought)
        for outcome in [Report.Outcome.shown, .clicked(button: nil, closes: true), .dismissed(how: "user"), .later] {
            #expect(throws: ReportFault.self) { try world.report(outcome, "of_1") }
        }
        #expect(world.rows.ledger(.user("ann")).totals[.message("m")]?.count == 1)
    }

    @Test func releasesTheReservationWithLater() throws {
        var world = World(try message("m") { $0.limits = [Limit(1, .lifetime, per: .everyone)] })
        let offer = try #require(world.trigger(bought).offer)
        try world.report(.later, offer.id)
        #expect(world.rows.tallies["m"] == Tally())
        world.trigger(.poll)
        #expect(world.rows.tallies["m"] == Tally(reserved: 1))
    }

    @Test func reservesNoPlaceForALeaseThatIsOver() throws {
        var world = World(try message("m"))
        world.policy.limits = [Limit(1, .lifetime, owner: .scope)]
        world.trigger(bought, device: "phone")
        world.wait(30 * second)
        #expect(world.trigger(bought, device: "tablet").offer != nil)
    }

    @Test func flagsAnImpressionReportedWhenTheLeaseHasJustEnded() throws {
        var (world, offer) = try world()
        world.wait(30 * second)
        try world.report(.shown, offer)
        #expect(world.records.last?.flags == ["late"])
        #expect(world.state(offer) == .shown)
    }
}
