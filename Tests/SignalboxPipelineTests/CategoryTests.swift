import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import SignalboxTesting
import Testing

/// Payloads with buttons, and the event's category, warnings and registry entry. A separate program derived the
/// expected files from those of the vendors' tests.
@Suite struct CategoryTests {
    /// The assumptions of the fixture folder.
    private static let config = """
        { "categories": { "static": { "ORDER": { "actions": [
          { "identifier": "ACCEPT", "title": "Accept", "options": ["foreground"] },
          { "identifier": "DECLINE", "title": "Decline", "options": ["destructive", "authenticationRequired"] },
          { "identifier": "COMMENT", "title": "Comment",
            "textInput": { "buttonTitle": "Send", "placeholder": "Your comment" } } ] } } } }
        """

    private static func pipeline(with statics: StaticCategories) -> TestPipeline {
        TestPipeline(
            normalizer: Normalizer(
                chain: VendorChain(), gateway: "demo", tokens: TokenHash(key: TestPipeline.key), categories: statics))
    }

    private let pipeline: TestPipeline

    init() throws {
        let config = try RoutedConfig(Array(Self.config.utf8)).config
        pipeline = Self.pipeline(with: config.categories.statics)
    }

    @Test(arguments: try Fixture.all(in: .module))
    func buttonsBecomeACategory(_ fixture: Fixture) throws {
        let event = try pipeline.event(fixture.input).get()
        let differences = try JSONDifference.lines(expected: fixture.expected, actual: try Self.summary(of: event))
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    }

    /// The category, the warnings of this stage, and the registry entry.
    private static func summary(of event: Event) throws -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        try withEvent(event) { body in
            let data = try #require(body["data"])
            json.key("category")
            json.value(try #require(data["category"]))
            let all = data["warnings"]?.elements.map { $0 } ?? []
            let warnings = all.filter { $0["code"]?.string?.hasPrefix("category.") == true }
            guard !warnings.isEmpty else { return }
            json.key("warnings")
            json.beginArray()
            for warning in warnings {
                json.beginObject()
                json.key("code")
                json.string(warning["code"]?.string ?? "")
                json.key("path")
                json.string(warning["path"]?.string ?? "")
                json.endObject()
            }
            json.endArray()
        }
        if let record = event.category?.record {
            json.key("registered")
            json.raw(record.definition)
        }
        json.endObject()
        return json.bytes
    }

    /// Paths of this stage point into the event, to a present or a missing member.
    @Test(arguments: try Fixture.all(in: .module))
    func warningPathsPointIntoTheEvent(_ fixture: Fixture) throws {
        try withEvent(try pipeline.event(fixture.input).get()) { body in
            let data = try #require(body["data"])
            for warning in data["warnings"]?.elements.map({ $0 }) ?? [] {
                guard let code = warning["code"]?.string, code.hasPrefix("category."),
                    code != "category.default-action-missing"
                else { continue }
                let path = try #require(warning["path"]?.string)
                let pointer = try #require(JSONPointer(path))
                #expect(pointer.value(in: data) != nil, "\(code) at \(path)")
            }
        }
    }

    /// Android shows three buttons, has another type for web pages, and needs no action for a tap.
    @Test(arguments: [
        #"{"message":{"token":"t","apns":{"payload":{"aps":{"alert":"x","mutable-content":1},KEYS}}}}"#,
        #"{"messageId":"1","data":{KEYS},"notification":{"title":"x","apple":{}}}"#,
    ])
    func buttonsForApplesDevicesThroughFCMFollowTheRulesOfApple(_ payload: String) throws {
        let button =
            #"{"type":"displayWebView","name":"N","destructive":false,"authentication":false,"foreground":true,"#
            + #""value":"https://a.example/ID"}"#
        let buttons = (1...4).map { button.replacing("ID", with: String($0)) }.joined(separator: ",")
        let keys = #""alert":"the app's","category-actions":[BUTTONS]"#.replacing("BUTTONS", with: buttons)
        let action = #","notification-action":{"type":"url","value":"https://a.example"}"#
        #expect(try codes(of: payload.replacing("KEYS", with: keys)) == ["category.default-action-missing"])
        #expect(try codes(of: payload.replacing("KEYS", with: keys + action)) == [])
    }

    private func codes(of payload: String) throws -> [String] {
        try withEvent(try pipeline.event(payload).get()) { body in
            #expect(body["data"]?["vendor"]?.string == "mce")
            return body["data"]?["warnings"]?.elements.map { $0["code"]?.string ?? "" } ?? []
        }
    }

    /// A cursor could not continue after such a name.
    @Test func doesNotRegisterANameWithNUL() throws {
        func payload(_ name: String) -> [UInt8] {
            Array(
                #"{"aps":{"alert":"x"},"category-name":"\#(name)","category-actions":[{"type":"url","name":"N","value":"https://a.example"}]}"#
                    .utf8)
        }
        #expect(try pipeline.event(payload("b")).get().category?.record != nil)
        #expect(try pipeline.event(payload(#"b\u0000x"#)).get().category == nil)
    }

    @Test func aListedCategoryHasTheNameInTheEvent() throws {
        var listed = 0
        for fixture in try Fixture.all(in: .module) {
            let event = try pipeline.event(fixture.input).get()
            guard let record = event.category?.record else { continue }
            listed += 1
            try withEvent(event) { #expect($0["data"]?["category"]?["identifier"]?.string == record.identifier) }
        }
        #expect(listed > 30)
    }
}
