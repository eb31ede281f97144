import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// The users of a device, one after another.
@Suite struct IdentityTests {
    /// A client may number its triggers anew for each user.
    @Test func aRepeatedTriggerIdOfAnotherUserIsAnotherTrigger() throws {
        var world = World(try message("m"))
        let first = try #require(world.trigger(bought, user: "ann", id: "1").offer)
        let other = world.trigger(bought, user: "bob", id: "1")
        #expect(!other.isRepeat)
        #expect(other.offer?.message == "m" && other.offer?.id != first.id && other.offer?.user == "bob")
        #expect(world.rows.offers[first.id]?.reason == EndReason.userChanged)
        let again = world.trigger(bought, user: "bob", id: "1")
        #expect(again.isRepeat && again.offer?.id == other.offer?.id)
    }

    /// The same person: the answer stays.
    @Test func aRepeatedTriggerIdAfterTheLoginIsARepeat() throws {
        var world = World(try message("m"))
        let first = try #require(world.trigger(bought, user: nil, id: "1").offer)
        let again = world.trigger(bought, user: "ann", id: "1")
        #expect(again.isRepeat && again.offer?.id == first.id)
    }

    /// Upkeep reads the row to see who still comes.
    @Test func aKnownUserIsSeenOnEachDayWithoutAnOffer() {
        var world = World()
        world.trigger(.sessionStart)
        #expect(world.rows.users["ann"] == noon)
        world.wait(hour)
        world.trigger(.sessionStart)
        #expect(world.rows.users["ann"] == noon, "one row for each day")
        world.wait(24 * hour)
        world.trigger(.sessionStart)
        #expect(world.rows.users["ann"] == noon + 25 * hour)
        world.wait(24 * hour)
        world.advance()
        #expect(world.rows.users["ann"] == noon + 25 * hour, "the timer is not the user")
        world.trigger(.sessionStart, device: "guest", user: nil)
        #expect(world.rows.users.count == 1, "no message is addressed to an anonymous user")
    }
}
