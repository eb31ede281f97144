import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// When a decision writes the row of its user.
@Suite struct UserRowTests {
    @Test func isWrittenOnceADayAndWithADisplay() throws {
        var world = World(try message("m"))
        let offer = try #require(world.trigger(bought).offer)
        let first = world.now
        #expect(world.rows.users["ann"] == first)
        world.wait(second)
        world.trigger(bought)
        #expect(world.rows.users["ann"] == first)
        world.wait(second)
        try world.report(.shown, offer.id)
        #expect(world.rows.users["ann"] == world.now)
    }

    @Test func isWrittenWithAnOfferForAnAddressee() throws {
        var world = World()
        var index = MessageIndex()
        index.register(try message("m"))
        world.addressed["phone"] = index
        world.trigger(bought)
        #expect(world.rows.users["ann"] == world.now)
    }

    @Test func aLeaseHoldsItsPlaceOnOtherDevicesWhenTheClockIsSetBack() throws {
        var world = World(
            try message("m") {
                $0.reEligibility = .always; $0.limits = [Limit(1, .day(.user))]
            })
        world.now = noon + 12 * hour + minute
        try #require(world.trigger(bought).offer != nil)
        world.wait(-hour)
        #expect(world.trigger(bought, device: "tablet", explain: true).failure("m") == .limitMessage)
    }
}
