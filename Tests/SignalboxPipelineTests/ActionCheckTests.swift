import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxTesting
import Testing

/// Problems of actions become warnings of their events.
@Suite struct ActionCheckTests {
    @Test func warnsAboutAnInvalidTapAction() throws {
        #expect(
            try warnings(#""notification-action": {"type": "dial", "value": "1-800-FLOWERS"}"#) == [
                "action.phone-invalid /action/value"
            ])
        #expect(
            try warnings(#""notification-action": {"type": "url", "value": "https://air.example.com/a b"}"#) == [
                "action.uri-invalid /action/value"
            ])
        #expect(try warnings(#""notification-action": {"type": "url", "value": "https://air.example.com/a"}"#) == [])
    }

    @Test func warnsAboutAnInvalidButtonWithItsPath() throws {
        let buttons =
            #"[{"name": "A", "type": "url", "value": "https://a.example"}, {"name": "B", "type": "dial", "value": "+"}]"#
        #expect(try warnings(#""category-actions": "# + buttons) == ["action.phone-invalid /category/actions/1/value"])
    }

    /// MCE's reader has rules of its own.
    @Test(arguments: [
        (#"{"type": "dial"}"#, ["mce.action-value-missing /notification-action/value"]),
        (#"{"type": "passbook", "value": "http://a.example"}"#, ["mce.value-not-https /notification-action/value"]),
        (#"{"type": "passbook", "value": "ftp://a.example"}"#, ["action.not-https /action/value"]),
        (#"{"type": "snooze", "value": "later"}"#, ["mce.snooze-not-a-number /notification-action/value"]),
        (#"{"type": "snooze", "value": 0}"#, ["action.snooze-invalid /action/value"]),
        (#"{"type": "snooze", "value": "0"}"#, ["action.snooze-invalid /action/value"]),
    ])
    func reportsEachProblemOnce(_ action: String, expected: [String]) throws {
        #expect(try warnings(#""notification-action": "# + action) == expected)
    }

    @Test func usesTheTypesAndSchemesOfTheConfig() throws {
        let config = #"""
            { "actions": { "schemes": ["https"], "types": { "viewProduct": {
                "arguments": { "type": "object", "properties": { "sku": { "type": "string" } }, "required": ["sku"] },
                "requiredOptions": ["foreground"] } } } }
            """#
        let types = try RoutedConfig(Array(config.utf8)).config.actions
        let tap = #""notification-action": {"type": "viewProduct", "value": "1"}"#
        #expect(try warnings(tap, types) == ["action.argument-missing /action/arguments"])
        #expect(try warnings(tap) == [])
        let button =
            #"{"name": "A", "type": "viewProduct", "sku": 7, "destructive": false, "authentication": false, "foreground": false}"#
        #expect(
            try warnings(#""category-actions": ["# + button + "]", types) == [
                "action.option-missing /category/actions/0/options"
            ])
        #expect(
            try warnings(#""notification-action": {"type": "url", "value": "mdldemo://"}"#, types) == [
                "action.scheme-not-allowed /action/value"
            ])
    }

    @Test func limitsTheNumberOfWarnings() throws {
        let buttons = Array(repeating: #"{"name": "A", "type": "dial", "value": "+"}"#, count: 300).joined(
            separator: ",")
        #expect(try allWarnings(#""category-actions": ["# + buttons + "]").count == 100)
    }

    /// Without the warnings about categories.
    private func warnings(_ members: String, _ actions: ActionTypes = ActionTypes()) throws -> [String] {
        try allWarnings(members, actions).filter { !$0.hasPrefix("category.") }
    }

    private func allWarnings(_ members: String, _ actions: ActionTypes = ActionTypes()) throws -> [String] {
        let normalizer = Normalizer(
            chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: TestPipeline.key), actions: actions)
        let payload = Array(#"{"aps": {"alert": "Hi", "mutable-content": 1}, \#(members)}"#.utf8)
        let parser = Normalizer.makeParser()
        let reception = Reception(from: SourceName("mobile"), at: TestPipeline.time)
        let event = try payload.withUnsafeBufferPointer {
            try normalizer.event($0, as: reception, at: PayloadPosition(), with: parser)
        }
        EventRecorder.record(event.body)
        let reader = JSONParser()
        let root = try reader.parse(event.body)
        return try withExtendedLifetime(reader) {
            try root["data"]?["warnings"]?.elements.map { warning in
                let code = try #require(warning["code"]?.string)
                return code + " " + (try #require(warning["path"]?.string))
            } ?? []
        }
    }
}
