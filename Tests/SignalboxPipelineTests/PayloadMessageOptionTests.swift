import Foundation
import SignalboxConfig
import SignalboxInApp
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// The option `inapp.payloads`: events do not depend on it, and messages exist only with it.
@Suite struct PayloadMessageOptionTests {
    private static func pipeline(registersMessages: Bool) -> TestPipeline {
        var pipeline = TestPipeline()
        pipeline.normalizer = Normalizer(
            chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: TestPipeline.key),
            registersMessages: registersMessages)
        return pipeline
    }

    private static let trigger =
        #"{"id":"A","type":"inapp","trigger_condition":[{"type":"open"}],"data":{"type":"HTML","message":"x"}}"#

    @Test func isOffByDefault() throws {
        #expect(try !RoutedConfig(Array(#"{"inapp": {}}"#.utf8)).config.inapp.registersPayloads)
        #expect(try RoutedConfig(Array(#"{"inapp": {"payloads": true}}"#.utf8)).config.inapp.registersPayloads)
    }

    /// Fixtures of messages include payloads that the option adds a warning to.
    @Test(arguments: try PayloadFixture.all() + PayloadFixture.all(in: "SignalboxPipelineTests", folder: "Messages"))
    func eventsDoNotDependOnIt(_ fixture: PayloadFixture) throws {
        let on = try Self.pipeline(registersMessages: true).event(fixture.input, of: fixture.vendor).get()
        let off = try Self.pipeline(registersMessages: false).event(fixture.input, of: fixture.vendor).get()
        #expect(off.messages.isEmpty)
        #expect(off.warnings == on.warnings.filter { !Self.isAboutMessages($0) })
        guard off.warnings == on.warnings else { return }
        // The ids differ.
        let data = try [on, off].map { event in
            try withEvent(event) { JSONText(try #require($0["data"])) }
        }
        #expect(data[0] == data[1])
    }

    private static func isAboutMessages(_ code: String) -> Bool {
        code.hasSuffix(".message-not-registered") || code == "braze.condition-unknown"
    }

    @Test func decidesWhetherMessagesAreRegistered() async throws {
        for isOn in [false, true] {
            try await withTemporaryDirectory { directory in
                let queue = try SQLiteQueue(in: directory)
                let intake = Intake(
                    normalizer: Self.pipeline(registersMessages: isOn).normalizer, routes: RouteTable(routes: []),
                    queue: queue, now: { TestPipeline.time })
                _ = try await intake.accept(
                    Array(#"{"triggers":[\#(Self.trigger)]}"#.utf8), from: SourceName("mobile"))
                let stored = try await queue.messages(after: nil, upTo: 9, includingWithdrawn: true)
                #expect(stored.map(\.registration.id) == (isOn ? ["braze:A"] : []))
            }
        }
    }
}
