import Foundation
import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// Reports of the client about its screen, with and without all members.
@Suite struct ScreenTests {
    @Test func aVisibleOfferIsShownAlthoughItsReportIsMissing() throws {
        var world = World(try message("m"), try message("better", on: [.sessionStart]) { $0.rank = 1 })
        let offer = try #require(world.trigger(bought).offer)
        world.client.visible = [offer.id]
        #expect(world.trigger(.sessionStart).offer == nil)
        #expect(world.state(offer.id) == .shown)
        #expect(try world.report(.shown, offer.id).isRepeat)
        #expect(world.kinds("m") == [.offered, .impression])
    }

    @Test(arguments: [true, false]) func aVisibleOfferKeepsTheScreenAfterItsLease(_ advances: Bool) throws {
        var world = World(try message("m"), try message("better", on: [.sessionStart]) { $0.rank = 1 })
        let offer = try #require(world.trigger(bought).offer)
        world.wait(35 * second)
        if advances { world.advance() }
        world.client.visible = [offer.id]
        #expect(world.trigger(.sessionStart, explain: true).failure("better") == .slotBusy)
        #expect(world.state(offer.id) == .shown)
        #expect(world.records.last { $0.kind == .impression }?.flags == ["late"])
    }

    @Test func aListedOfferThatTheClientPutOffIsNotShown() throws {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought).offer)
        world.client.isBusy = true
        try world.report(.later, offer.id)
        world.client.visible = [offer.id]
        world.trigger(.poll)
        #expect(world.state(offer.id) == .waiting)
    }

    @Test func aRequestWithoutAScreenKeepsTheLastOne() throws {
        var world = World(
            try message("view", on: [.screen("cart")]) { $0.reEligibility = .always },
            try message("m") { $0.requirements.screens = ["cart"] })
        world.client = ClientState(foreground: true)
        try world.showAndDismiss(.screen("cart"))
        let offer = try #require(world.trigger(bought).offer)
        try world.report(.shown, offer.id)
        try world.report(.dismissed(how: "user"), offer.id)
        #expect(world.trigger(.screen("cart")).offer == nil, "the same view")
        world.trigger(.sessionStart)
        #expect(world.trigger(.screen("cart")).offer?.message == "view")
    }

    @Test func aRequestWithoutAZoneKeepsTheLastOne() throws {
        var world = World(
            try message("m") {
                $0.reEligibility = .always; $0.limits = [Limit(1, .day(.user))]
            })
        world.client.zone = TimeZone(identifier: "Pacific/Auckland")
        try world.showAndDismiss(bought)
        world.client.zone = nil
        // Noon UTC is one o'clock in Auckland; the next day of UTC begins in the same day there.
        world.wait(22 * hour)
        #expect(world.trigger(bought).offer == nil)
        world.wait(2 * hour)
        #expect(world.trigger(bought).offer != nil)
    }

    private func mandatory() throws -> (World, OfferID) {
        var world = World(
            try message("upgrade", vendor: "synerise", .banner, on: [.immediate]) {
                $0.isBlocking = true
                $0.reEligibility = .never
                $0.limits = [Limit(1, .lifetime)]
            }, interval: hour)
        let offer = try #require(world.trigger(.sessionStart).offer)
        try world.report(.shown, offer.id)
        return (world, offer.id)
    }

    /// Reference, section 2: a mandatory upgrade ends only by its action.
    @Test func aMandatoryMessageComesBackAfterARestartOfTheApp() throws {
        var (world, offer) = try mandatory()
        world.client.visible = []
        for number in 2..<5 {
            let again = try #require(world.trigger(.sessionStart).offer)
            #expect(again.message == "upgrade" && again.id == "\(offer)_\(number)")
            #expect(again.flags.isSuperset(of: [.blocking, .uncounted]))
            try world.report(.shown, again.id)
        }
        #expect(world.rows.ledger(.user("ann")).totals[.message("upgrade")]?.count == 1)
        try world.report(.clicked(button: "store", closes: true), "\(offer)_4")
        #expect(world.trigger(.sessionStart).offer == nil)
    }

    @Test func aMandatoryMessageComesBackAfterSilenceAndAReport() throws {
        var (world, offer) = try mandatory()
        world.wait(31 * minute)
        world.advance()
        #expect(world.state(offer) == .done)
        let again = try #require(world.trigger(.poll).offer)
        try world.report(.shown, again.id)
        #expect(try world.report(.interrupted, again.id).offer?.message == "upgrade")
    }

    @Test(arguments: [Report.Outcome.renderFailed, .discard, .templateUnknown, .undo, .interrupted])
    func aMandatoryMessageComesBackAfterAFailure(_ outcome: Report.Outcome) throws {
        var (world, offer) = try mandatory()
        world.client.visible = []
        let again = try #require(world.trigger(.sessionStart).offer)
        #expect(again.id == "\(offer)_2")
        try world.report(outcome, again.id)
        #expect(world.trigger(.poll).offer?.id == "\(offer)_3")
    }

    @Test func aMandatoryMessageOutlivesLostAnswersAndAnotherOrientation() throws {
        var (world, _) = try mandatory()
        world.client.visible = []
        for _ in 0..<5 {
            #expect(world.trigger(.poll).offer?.message == "upgrade")
            world.wait(31 * second)
        }
        world.messages.register(
            try message("upgrade", vendor: "synerise", .banner, on: [.immediate]) {
                $0.isBlocking = true
                $0.reEligibility = .never
                $0.revision = 2
                $0.requirements.orientation = .landscape
            })
        world.client.orientation = .portrait
        #expect(world.trigger(.poll).offer == nil)
        world.client.orientation = .landscape
        #expect(world.trigger(.poll).offer?.message == "upgrade")
    }

    /// The app restarts and begins a session before it sends the report. `lost`: leases that end meanwhile.
    @Test(arguments: 0..<4) func aMandatoryMessageDoesNotComeBackAfterALateClick(lost: Int) throws {
        var (world, offer) = try mandatory()
        world.client.visible = []
        var again = try #require(world.trigger(.sessionStart).offer)
        for _ in 0..<lost {
            world.wait(31 * second)
            again = try #require(world.trigger(.poll).offer)
        }
        try world.report(.clicked(button: "store", closes: true), offer)
        #expect(world.rows.offers[again.id]?.reason == EndReason.click)
        world.wait(35 * second)
        #expect(world.trigger(.poll).offer == nil)
        // The client showed it before it sent the click.
        try world.report(.shown, again.id)
        #expect(world.state(again.id) == .done)
        #expect(world.trigger(.sessionStart).offer == nil)
    }

    @Test func aMandatoryMessageOnTheScreenStaysAfterALateClick() throws {
        var (world, offer) = try mandatory()
        world.client.visible = []
        let again = try #require(world.trigger(.sessionStart).offer)
        try world.report(.shown, again.id)
        try world.report(.clicked(button: "store", closes: true), offer)
        #expect(world.state(again.id) == .shown)
    }

    @Test func aWithdrawnMandatoryMessageDoesNotComeBack() throws {
        var (world, _) = try mandatory()
        world.messages.withdraw("upgrade")
        world.client.visible = []
        #expect(world.trigger(.sessionStart).offer == nil)
        #expect(world.rows.offers.values.allSatisfy { $0.state.isEnded })
    }

    /// Losers of one event are not stacked; neither are they kept for a later lease of the winner.
    @Test(arguments: [true, false]) func aRunnerUpIsForTheTurnOfItsEvent(_ putsOff: Bool) throws {
        var world = World(try message("a") { $0.rank = 1 }, try message("b"))
        let offer = try #require(world.trigger(bought).offer)
        if putsOff { try world.report(.later, offer.id) }
        world.wait(hour)
        #expect(world.trigger(.poll).offer?.id == offer.id)
        #expect(try world.report(.templateUnknown, offer.id).offer == nil)
    }

    /// The closed form is the search that it replaces, also on days with a change of the offset.
    @Test(arguments: ["UTC", "Europe/Warsaw", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns"])
    func theActiveHourBeginsWhereASearchFindsIt(_ name: String) throws {
        let zone = LocalDay(TimeZone(identifier: name))
        for day in stride(from: noon - 250 * 24 * hour, to: noon + 50 * 24 * hour, by: 7 * Int64.Stride(hour) + 777) {
            let target = Int(day / 1000 % 24)
            let first = day - day % 900_000
            let found = (0...97).map { first + Int64($0) * 900_000 }.first { zone.hour(of: $0) == target }
            #expect(SourseMoment.start(of: target, in: zone, from: day) == found.map { max($0, day) })
        }
    }
}
