import SignalboxTesting
import Testing

@testable import SignalboxInApp

/// Two devices of one user whose ids have the same characters and other bytes.
@Suite struct DeviceTwinTests {
    /// The leases of one are those of any other device to the second one.
    @Test func leasesOfTheTwinAreThoseOfAnotherDevice() throws {
        var world = World(try message("m"), try message("n"), interval: hour)
        try #require(world.trigger(bought, device: "\u{e9}").offer != nil)
        let messages = world.active("tablet")
        func decision(on device: DeviceID) -> Decision {
            var state = world.rows.load(device: "tablet", user: "ann")
            state.device = DeviceState(id: device)
            let request = TriggerRequest(
                id: nil, device: device, user: "ann", event: bought, client: world.client, deviceTime: nil,
                ticket: "of_9")
            return world.engine.decide(request, state, messages: messages, now: world.now, explain: true)
        }
        let (other, twin) = (decision(on: "tablet"), decision(on: "e\u{301}"))
        #expect(twin.answer.offer?.message == other.answer.offer?.message)
        #expect(twin.answer.candidates.map(\.result) == other.answer.candidates.map(\.result))
        #expect(twin.answer.check("m")?.code == other.answer.check("m")?.code)
    }
}
