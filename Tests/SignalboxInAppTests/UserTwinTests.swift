import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// Users whose ids have the same characters and other bytes: different persons, as in the rows.
@Suite struct UserTwinTests {
    /// A decision about the twin of the device's last user.
    private func decision(_ world: World, _ event: TriggerEvent, id: String? = nil) -> Decision {
        var state = world.rows.load(device: "phone", user: "\u{e9}")
        state.user = UserState(id: "e\u{301}")
        let request = TriggerRequest(
            id: id, device: "phone", user: "e\u{301}", event: event, client: world.client, ticket: "of_9")
        return world.engine.decide(request, state, messages: world.active("phone"), now: world.now)
    }

    @Test func theTwinDoesNotGetTheAnswerOfTheFormerUser() throws {
        var world = World(try message("m"))
        let first = try #require(world.trigger(bought, user: "\u{e9}", id: "1").offer)
        let other = decision(world, bought, id: "1")
        #expect(!other.answer.isRepeat)
        #expect(other.answer.offer?.id == "of_9" && other.answer.offer?.user.utf8.count == 3)
        #expect(other.state.offers[first.id]?.reason == EndReason.userChanged)
    }

    @Test func theTwinDoesNotGetTheDelayedMessageOfTheFormerUser() throws {
        var world = World(try message("m") { $0.delay = minute })
        world.trigger(bought, user: "\u{e9}")
        world.wait(minute)
        let other = decision(world, .poll)
        #expect(other.answer.offer == nil)
        #expect(other.records.map(\.detail) == [EndReason.userChanged])
    }

    /// A combining mark forms one character with the colon of the anonymous user's prefix.
    @Test func aDeviceWhoseIdBeginsWithACombiningMarkHasAnAnonymousUser() throws {
        let device = "\u{301}x"
        #expect(AnonymousUser.contains(AnonymousUser.id(on: device)))
        var world = World(try message("m"))
        try world.showAndDismiss(bought, device: device, user: nil)
        #expect(world.trigger(bought, device: device, user: "ann", explain: true).failure("m") == .reEligibility)
    }
}
