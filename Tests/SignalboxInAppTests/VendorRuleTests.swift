import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// Rules of single vendors, changes of users, and new revisions of messages.
@Suite struct VendorRuleTests {
    @Test func displaysToAnAnonymousUserCountForTheKnownUser() throws {
        var world = World(
            try message("m"),
            try message("n", on: [.sessionStart]) {
                $0.limits = [Limit(2, .lifetime)]; $0.reEligibility = .always
            })
        try world.showAndDismiss(bought, user: nil)
        try world.showAndDismiss(.sessionStart, user: nil)
        #expect(world.trigger(bought, user: "ann", explain: true).failure("m") == .reEligibility)
        try world.showAndDismiss(.sessionStart)
        #expect(world.trigger(.sessionStart).offer == nil)
        // After a logout and another login, each display still counts once.
        world.trigger(.poll, user: nil)
        world.trigger(.poll)
        #expect(world.rows.ledger(.user("ann")).totals[.message("n")]?.count == 2)
        #expect(world.trigger(bought, user: nil).offer == nil)
    }

    @Test func aBlockedScreenRejectsABannerAndKeepsSlots() throws {
        var world = World(
            try message("banner", vendor: "synerise", .banner),
            try message("inline", vendor: "granify", .inline, on: [.slot(SlotLabel("top"))]))
        world.client.blocks = true
        let answer = world.trigger(bought, explain: true)
        #expect(answer.failure("banner") == .screenBlocked && answer.result("banner") == .discarded)
        #expect(world.rows.offers.isEmpty)
        let slots = world.place(
            SlotRequest(
                device: "phone", user: "ann", page: "p", slots: [.init(SlotLabel("top"))], client: world.client,
                ticket: "s"))
        #expect(slots.slots[0].offer?.message == "inline")
    }

    @Test func anEventShowsNoWalkthroughTwiceInARow() throws {
        func walkthrough(_ id: MessageID, _ event: String) throws -> Definition {
            try message(id, vendor: "synerise", .walkthrough, on: [.event(name: event, filter: nil)])
        }
        var world = World(try walkthrough("A", "a"), try walkthrough("B", "b"))
        try world.showAndDismiss(.event(name: "a", properties: nil))
        #expect(
            world.trigger(.event(name: "a", properties: nil), explain: true).failure("A") == .walkthroughNotUnique)
        try world.showAndDismiss(.event(name: "b", properties: nil))
        try world.showAndDismiss(.event(name: "a", properties: nil))
        // The app itself may show one as often as it requests it.
        try world.showAndDismiss(.show("A"))
        try world.showAndDismiss(.show("A"))
    }

    @Test func theAppIsAskedUnlessItRequestedTheMessage() throws {
        var world = World(try message("b", vendor: "synerise", .banner) { $0.asksApp = true })
        let offer = try #require(world.trigger(bought).offer)
        #expect(offer.flags.contains(.asksApp))
        try world.report(.discard, offer.id)
        let requested = try #require(world.trigger(.show("b")).offer)
        #expect(!requested.flags.contains(.asksApp))
    }

    /// Neither re-eligibility nor the interval applies when the delay ends.
    @Test func aRequestLastsUntilTheDelayEnds() throws {
        var world = World(try message("m") { $0.delay = minute }, interval: hour)
        try #require(world.trigger(.show("m")).offer == nil)
        world.wait(minute)
        let first = try #require(world.trigger(.poll).offer)
        #expect(first.flags.contains(.requested))
        try world.report(.dismissed(how: "user"), first.id)
        world.trigger(.show("m"))
        world.wait(minute)
        #expect(world.trigger(.poll).offer?.message == "m")
    }

    @Test(arguments: [second, minute]) func theAppMayRequestADelayedMessage(_ passed: Span) throws {
        var world = World(
            try message("m") { $0.delay = minute }, try message("other", on: [.sessionStart]), interval: hour)
        try world.showAndDismiss(.sessionStart)
        world.trigger(bought)
        world.wait(passed)
        world.trigger(.show("m"))
        world.wait(minute - passed)
        let state = world.rows.offers.values.first { $0.message == "m" }?.state
        #expect((state == .offered) == (passed == minute))
        if state == .triggered { #expect(world.trigger(.poll).offer?.message == "m") }
    }

    @Test func anMCEMessageMatchesOneKeywordAfterItsTriggerDate() throws {
        var world = World(
            try message("m", vendor: "mce", .banner, on: [.rule("a"), .rule("b")]) { $0.schedule.start = noon })
        #expect(world.trigger(.rule("b"), explain: true).failure("m") == .scheduleNotStarted)
        world.wait(1)
        #expect(world.trigger(.rule("b")).offer != nil)
    }

    @Test func anMCEBannerReplacesTheVisibleOne() throws {
        var world = World(
            try message("one", vendor: "mce", .banner, on: [.rule("a")]),
            try message("two", vendor: "mce", .banner, on: [.rule("b")]))
        let first = try #require(world.trigger(.rule("a")).offer)
        try world.report(.shown, first.id)
        #expect(world.trigger(.rule("b")).offer?.message == "two")
        #expect(world.rows.offers[first.id]?.reason == EndReason.replaced)
        #expect(world.state(first.id) == .done)
    }

    private func news(_ change: (inout Message) -> Void = { _ in }) throws -> Definition {
        try message("news", vendor: "sourse", on: [.immediate]) {
            $0.isSmart = true
            change(&$0)
        }
    }

    @Test func aMessageIsOfferedFromItsEmbargoToItsExpiry() throws {
        var world = World(
            try news {
                $0.isSmart = false; $0.schedule = .init(start: noon + hour, end: noon + 2 * hour);
                $0.reEligibility = .always
            })
        world.wait(hour - 1)
        let answer = world.trigger(.sessionStart, explain: true)
        #expect(answer.failure("news") == .embargo && answer.result("news") == .waiting)
        #expect(answer.nextCheck == noon + hour)
        world.wait(1)
        let offer = try #require(world.trigger(.poll).offer)
        try world.report(.discard, offer.id)
        world.now = noon + 2 * hour
        let last = try #require(world.trigger(.poll).offer)
        try world.report(.later, last.id)
        world.wait(1)
        #expect(world.trigger(.poll).offer == nil)
        #expect(world.records.last?.kind == .expired)
    }

    @Test func anImmediateMessageWaitsForItsEmbargo() throws {
        var world = World(
            try news {
                $0.isSmart = false; $0.schedule.start = noon + hour
            })
        #expect(world.trigger(.sessionStart).offer == nil)
        #expect(world.rows.offers.values.map(\.state) == [.waiting])
        world.wait(hour)
        #expect(world.trigger(.poll).offer != nil)
    }

    @Test func aSmartMessageIsOfferedAtOnceWithoutSmartDelay() throws {
        var world = World(try news())
        #expect(world.trigger(.poll, explain: true).failure("news") == .moment)
        world.client.smartDelay = false
        #expect(world.trigger(.poll).offer?.message == "news")
        #expect(world.records.last?.detail == "immediate")
    }

    @Test func showsASmartMessageAtTheNextSessionOrInTheActiveHour() throws {
        var session = World(try news())
        session.trigger(.poll)
        #expect(session.trigger(.sessionStart).offer != nil)
        #expect(session.records.last?.detail == "session-start")

        var hours = World(try news())
        for _ in 0..<10 { hours.trigger(.sessionStart, device: "phone", user: "bob") }
        // Bob's sessions have used the message. Another user of the device waits for the hour with the most sessions.
        hours.now = noon + 3 * hour
        #expect(hours.trigger(.poll, explain: true).check("news")?.until == noon + 24 * hour)
        hours.now = noon + 24 * hour
        #expect(hours.trigger(.poll).offer != nil)
        #expect(hours.records.last?.detail == "active-hour")
    }

    @Test func aDeviceIsOfferedOneOfTwoPairedMessages() throws {
        let condition = "'news' in topics && 'sourse_sdk_integrated' in topics"
        let plainCondition = "'news' in topics && !('sourse_sdk_integrated' in topics)"
        let pair = try #require(SoursePair.pair(condition: condition, title: "T", body: "B"))
        let plainPair = try #require(SoursePair.pair(condition: plainCondition, title: "T", body: "B"))
        #expect(pair.key == plainPair.key && pair.role == .smart && plainPair.role == .plain)
        let smart = try message("smart") { $0.pair = pair }
        let plain = try message("plain") { $0.pair = plainPair }
        var world = World(smart, plain)
        world.client.topics = ["news", "sourse_sdk_integrated"]
        let answer = world.trigger(bought, explain: true)
        #expect(answer.offer?.message == "smart" && answer.failure("plain") == .paired)
        #expect(world.kinds("plain").isEmpty)
        let offer = try #require(answer.offer)
        for _ in 0..<2 { try world.report(.shown, offer.id) }
        #expect(world.records.filter { $0.detail == EndReason.paired }.map { $0.offer?.message } == ["plain"])
        for topics in [["news"], nil] as [Set<String>?] {
            world = World(smart, plain)
            world.client.topics = topics
            #expect(world.trigger(bought).offer?.message == "plain")
        }
    }

    @Test func aMessageOfAnUnknownVendorIsShownAtOnceAndOnce() throws {
        var world = World(
            try message("m", vendor: "acme", on: [.immediate]),
            try message("first", on: [.sessionStart]) { $0.rank = 1 },
            interval: 30 * second)
        try world.showAndDismiss(.sessionStart)
        #expect(world.trigger(.poll, explain: true).failure("m") == .interval)
        world.wait(30 * second)
        try world.showAndDismiss(.poll)
        world.wait(hour)
        #expect(world.trigger(.poll).offer == nil)
    }

    @Test func theNewRevisionIsCheckedAtTheEndOfTheDelay() throws {
        var world = World(try message("m") { $0.delay = 10 * second })
        world.trigger(bought)
        world.messages.register(
            try message("m") {
                $0.revision = 2; $0.delay = 10 * second; $0.requirements.lacksImage = true
            })
        world.wait(10 * second)
        #expect(world.trigger(.poll).offer == nil)
        #expect(world.records.last?.detail == "image-missing")
    }

    @Test(arguments: [0, 30 * second])
    func aLateDefinitionIsShownOnlyIfReplayIsOn(_ replay: Span) throws {
        var world = World()
        world.policy.replay = replay
        world.trigger(bought)
        world.wait(20 * second)
        world.messages.register(
            try message("m") {
                $0.registeredAt = world.now; $0.reEligibility = .always
            })
        world.wait(second)
        let offer = world.trigger(.poll).offer
        #expect((offer != nil) == (replay > 0))
        if let offer {
            try world.report(.shown, offer.id)
            try world.report(.dismissed(how: "user"), offer.id)
            #expect(world.trigger(.poll).offer == nil)
        }
    }

    @Test func aScreenTriggerFiresOncePerView() throws {
        var world = World(try message("m", on: [.screen("cart")]) { $0.reEligibility = .always })
        try world.showAndDismiss(.screen("cart"))
        world.client.screen = "cart"
        world.client.foreground = false
        world.trigger(.poll)
        world.client.foreground = true
        #expect(world.trigger(.screen("cart")).offer == nil)
        world.trigger(.screen("home"))
        world.client.screen = "home"
        #expect(world.trigger(.screen("cart")).offer != nil)
    }

    @Test func asksTheAppForAnotherMessageThanTheRequestedOne() throws {
        var world = World(
            try message("due") {
                $0.delay = minute
                $0.asksApp = true
                $0.rank = 1
            }, try message("wanted", on: [.sessionStart]))
        world.trigger(bought)
        world.wait(minute)
        let offer = try #require(world.trigger(.show("wanted")).offer)
        #expect(offer.message == "due" && offer.flags.contains(.asksApp) && !offer.flags.contains(.requested))
    }

    @Test func keepsABannerWhenAControlFollows() throws {
        var world = World(
            try message("one", vendor: "mce", .banner, on: [.rule("a")]),
            try message("two", vendor: "mce", .banner, on: [.rule("b")]) { $0.experiment = "x" })
        world.policy.controlGroups = [ControlGroup("x", share: 10_000)]
        let first = try #require(world.trigger(.rule("a")).offer)
        try world.report(.shown, first.id)
        world.trigger(.rule("b"))
        #expect(world.state(first.id) == .shown)
        #expect(world.records.last?.kind == .held)
    }

    @Test func showsNoMessageWhoseEmbargoIsAfterItsExpiry() throws {
        var world = World(try news { $0.schedule = .init(start: noon + 2 * hour, end: noon + hour) })
        let answer = world.trigger(.sessionStart, explain: true)
        #expect(answer.result("news") == .discarded && answer.failure("news") == .scheduleEnded)
    }
}
