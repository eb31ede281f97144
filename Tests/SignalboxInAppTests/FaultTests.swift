import Foundation
import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// Faults of other in-app systems, each excluded by a fact about this one.
@Suite struct FaultTests {
    @Test func anOfferLeasesTheScreenBeforeItsAssetsLoad() throws {
        var world = World(try message("a"), try message("b", on: [.sessionStart]))
        #expect(world.trigger(bought).offer != nil)
        #expect(world.trigger(.sessionStart).offer == nil)
    }

    @Test func impressionsOnTwoDevicesBothCount() throws {
        var world = World(
            try message("m") {
                $0.reEligibility = .always; $0.limits = [Limit(2, .lifetime)]
            })
        let first = try #require(world.trigger(bought, device: "phone").offer)
        let second = try #require(world.trigger(bought, device: "tablet").offer)
        try world.report(.shown, first.id, device: "phone")
        try world.report(.shown, second.id, device: "tablet")
        #expect(world.rows.ledger(.user("ann")).totals[.message("m")]?.count == 2)
    }

    @Test func anOfferWithoutAnImpressionIsDiscarded() throws {
        var world = World(try message("m"))
        world.trigger(bought)
        for _ in 0..<2 {
            world.wait(30 * second)
            world.trigger(.poll)
        }
        #expect(world.state("of_1") == .discarded)
        #expect(world.trigger(.poll).offer == nil)
    }

    @Test func anImpressionCountsOnEveryPlatform() throws {
        for platform in [ClientState.Platform.ios, .android, .web, .roku] {
            var world = World(try message("m"))
            world.client.platform = platform
            let offer = try #require(world.trigger(bought).offer)
            try world.report(.shown, offer.id)
            #expect(world.rows.ledger(.user("ann")).totals[.message("m")]?.count == 1)
        }
    }

    @Test func aFailedDisplayUsesNoLimit() throws {
        var world = World(try message("m") { $0.limits = [Limit(1, .lifetime)] })
        let offer = try #require(world.trigger(bought).offer)
        try world.report(.renderFailed, offer.id)
        #expect(world.trigger(bought).offer != nil)
    }

    @Test func aPostponedMessageIsOfferedAgain() throws {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought).offer)
        try world.report(.later, offer.id)
        #expect(world.trigger(.poll).offer?.id == offer.id)
    }

    @Test func theClientIsCheckedWhenTheDelayEnds() throws {
        var world = World(
            try message("m") {
                $0.delay = minute; $0.requirements.orientation = .portrait
            })
        world.client.orientation = .landscape
        world.trigger(bought)
        world.client.orientation = .portrait
        world.wait(minute)
        #expect(world.trigger(.poll).offer != nil)
    }

    @Test func aDelayThatEndsInBackgroundIsKept() throws {
        var world = World(try message("m") { $0.delay = minute })
        world.client.foreground = false
        world.trigger(bought)
        world.wait(hour)
        world.client.foreground = true
        #expect(world.trigger(.poll).offer != nil)
    }

    @Test func aNewDayBeginsAtMidnightWithinASession() throws {
        var world = World(
            try message("m") {
                $0.reEligibility = .always; $0.limits = [Limit(1, .day(.user))]
            })
        world.trigger(.sessionStart)
        world.now = noon + 12 * hour - 1
        try world.showAndDismiss(bought)
        world.wait(1)
        #expect(world.trigger(bought).offer != nil)
    }

    @Test func aDayAndAWeekAreExactToTheMillisecond() throws {
        // noon is a Sunday: the day began 12 hours ago and the week on Monday before.
        for (window, before) in [(Limit.Window.day(.user), 12 * hour), (.week(.user), 156 * hour)] {
            for (since, isFree) in [(before, false), (before + 1, true)] {
                var world = World(
                    try message("m") {
                        $0.reEligibility = .always; $0.limits = [Limit(1, window)]
                    })
                world.now = noon - since
                try world.showAndDismiss(bought)
                world.now = noon
                #expect((world.trigger(bought).offer != nil) == isFree)
            }
        }
    }

    @Test func intervalsPassBeforeAnyDisplay() throws {
        var world = World(try message("m") { $0.interval = 3 * hour }, interval: hour)
        #expect(world.trigger(bought).offer != nil)
    }

    @Test func aDismissalTriggersNoMessage() throws {
        let unequal = Filter([[.init("kind", .notEquals(.text("a")))]])
        var world = World(try message("m", on: [.event(name: "buy", filter: unequal)]) { $0.reEligibility = .always })
        try world.showAndDismiss(bought(["kind": .text("b")]))
        #expect(world.trigger(.poll).offer == nil)
    }

    @Test func aTriggerBeforeTheFirstDefinitionIsReplayed() throws {
        var world = World()
        world.policy.replay = 30 * second
        world.trigger(.pushOpen(campaign: "A"))
        world.wait(5 * second)
        world.messages.register(try message("m", on: [.pushOpen(campaign: "A")]) { $0.registeredAt = world.now })
        #expect(world.trigger(.poll).offer != nil)
    }

    @Test func aChangedMessageIsNotOfferedAgainForAPastEvent() throws {
        func revision(_ number: Int, at instant: Instant) throws -> Definition {
            try message("m") {
                $0.revision = number
                $0.registeredAt = instant
                $0.reEligibility = .always
            }
        }
        var world = World(try revision(1, at: noon))
        world.policy.replay = minute
        world.wait(second)
        try world.showAndDismiss(bought)
        world.wait(second)
        world.messages.register(try revision(2, at: world.now))
        world.wait(second)
        #expect(world.trigger(.poll).offer == nil)
        #expect(world.trigger(bought).offer?.revision == 2)
    }

    @Test func withdrawalsAndAdditionsApplyAtOnce() throws {
        var world = World(try message("old"))
        world.messages.withdraw("old")
        world.messages.register(try message("new"))
        #expect(world.trigger(bought).offer?.message == "new")
    }

    @Test func aLowerMessageIsOfferedIfTheBestCannotBeShown() throws {
        var world = World(
            try message("best") {
                $0.rank = 1; $0.requirements.template = "video"
            }, try message("lower") { $0.rank = 900 })
        world.client.templates = ["modal"]
        #expect(world.trigger(bought).offer?.message == "lower")
    }

    @Test func aMemberOfAControlGroupIsOfferedNoOtherMessage() throws {
        var world = World(
            try message("best") {
                $0.rank = 1; $0.experiment = "x"
            }, try message("next"))
        world.policy.controlGroups = [ControlGroup("x", share: 10_000)]
        #expect(world.trigger(bought).offer == nil)
        #expect(world.records.map(\.kind) == [.held])
    }

    @Test func anOfferThatIsNotShownUsesNoLimit() throws {
        var world = World(try message("m"), interval: 30 * second)
        world.trigger(bought)
        #expect(world.rows.ledger(.user("ann")) == Ledger())
        #expect(world.rows.devices["phone"]?.lastEnd == nil)
    }

    @Test func aReturnToForegroundIsNotAScreenView() throws {
        var world = World(try message("m", on: [.screen("home")]))
        world.trigger(.sessionStart)
        #expect(world.trigger(.screen("home")).offer == nil)
    }

    @Test func aMessageOfThePreviousUserIsNotOffered() throws {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought, user: "ann").offer)
        try world.report(.later, offer.id)
        #expect(world.trigger(.poll, user: "bob").offer == nil)
        #expect(world.rows.offers[offer.id]?.reason == EndReason.userChanged)
    }

    @Test func anUnknownLimitIsNotReadAsLifetime() {
        #expect(throws: InputFault.self) { try Limit.Window(kind: "every", at: "/limits/0") }
    }

    @Test func everyGroupOfAFilterMustMatch() {
        let filter = Filter([[.init("a", .atLeast(1))], [.init("b", .equals(.text("x")))]])
        #expect(filter.outcome(of: ["a": .number(1), "b": .text("y")], strict: true) == .fails(group: 1))
    }

    @Test func repeatedImpressionsAndClicksAreRecordedOnce() throws {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought).offer)
        for _ in 0..<3 { try world.report(.shown, offer.id) }
        for _ in 0..<3 { try world.report(.clicked(button: "yes", closes: false), offer.id, id: "c1") }
        #expect(world.kinds("m") == [.offered, .impression, .clicked])
        try world.report(.dismissed(how: "user"), offer.id)
        #expect(world.trigger(bought).offer == nil)
    }

    @Test func aMessageWithASlowImageLetsOthersPass() throws {
        var world = World(
            try message("slow") {
                $0.rank = 1; $0.requirements.assets = ["big"]
            }, try message("m"))
        world.client.assets = [:]
        #expect(world.trigger(bought).offer?.message == "m")
    }

    @Test func aVisibleMessageIsNotOfferedOnRequest() throws {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought).offer)
        try world.report(.shown, offer.id)
        #expect(world.trigger(.show("m"), explain: true).failure("m") == .alreadyPending)
        #expect(world.kinds("m") == [.offered, .impression])
    }

    @Test func aClientAsksForTheMessageBehindOneThatWasHeldBack() throws {
        var world = World(
            try message("m"), try message("control", vendor: "braze", .control, on: [.sessionStart]), interval: minute)
        world.client.foreground = false
        world.trigger(bought)
        world.client.foreground = true
        let answer = world.trigger(.sessionStart)
        #expect(answer.offer == nil && answer.nextCheck == world.now + minute)
        world.wait(minute)
        #expect(world.trigger(.poll).offer?.message == "m")
    }

    @Test func aPauseAppliesToItsScreensAndTimes() throws {
        var world = World(try message("m"))
        var pause = Policy.Pause("splash")
        pause.screens = ["splash"]
        pause.until = noon + hour
        world.policy.pauses = [pause]
        world.client.screen = "splash"
        let answer = world.trigger(bought, explain: true)
        #expect(answer.failure("m") == .paused)
        #expect(answer.check("m")?.until == noon + hour)
        world.client.screen = "home"
        #expect(world.trigger(bought).offer != nil)
    }
}
