import Foundation
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxTesting
import Testing

@Suite struct NormalizerTests {
    private static let seed: UInt64 = 20_261_120
    private let pipeline = TestPipeline()

    // MARK: Events

    @Test(arguments: try PayloadFixture.all())
    func everyFixtureBecomesAnEvent(_ fixture: PayloadFixture) throws {
        let event = try pipeline.event(fixture.input, of: fixture.vendor).get()
        try withEvent(event) { json in
            let keys = json.members.map { String(decoding: $0.key, as: UTF8.self) }
            #expect(
                keys == [
                    "specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema", "data",
                ])
            #expect(json["specversion"]?.string == "1.0")
            #expect(json["id"]?.string == event.id.description)
            #expect(json["source"]?.string == "/signalbox/demo/mobile")
            #expect(json["type"]?.string == "io.signalbox.notification.received")
            #expect(json["subject"]?.string == event.subject)
            #expect(json["time"]?.string == "2026-11-20T21:29:00.123Z")
            #expect(json["datacontenttype"]?.string == "application/json")
            #expect(json["dataschema"]?.string == "urn:signalbox:schema:notification:1")
            let data = try #require(json["data"])
            #expect(data["vendor"]?.string == event.vendor.name)
            #expect(data["kind"]?.string == event.kind.rawValue)
            #expect(data["detection"]?["evidence"]?.isArray == true)
            #expect(data["detection"]?["also"]?.isArray == true)
            #expect(data["platform"]?.isString == true)
            #expect(data["warnings"].map { $0.elements.map { $0["code"]?.string } } ?? [] == event.warnings)
            guard let expected = fixture.data else { return }
            // The gateway's own action warnings, and the names of categories, are not part of the vendor readers'
            // expectations.
            var found = try JSONDifference.lines(
                expected: expected, actual: JSONText(data).bytes,
                optional: ["message", "target", "token", "identifier"]
            ).filter { !($0.contains("expected nothing") && $0.contains(#""code":"category."#)) }
            // Device tokens inside vendor data are hashed here: TokenMaskTests.
            found.removeAll { $0.contains(#", found "sha256:"#) }
            let ofActions = event.warnings.filter { $0.hasPrefix("action.") }
            if !ofActions.isEmpty { found.removeAll { $0.hasPrefix("/warnings") && $0.contains("action.") } }
            #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
            #expect(ofActions == Self.ofActions[fixture.description] ?? [])
        }
    }

    /// The fixtures with invalid actions, and the problem of each.
    private static let ofActions = [
        // The Android plug-in requires a time.
        "SignalboxVendorsTests/mce/keys-of-android.json": ["action.calendar-invalid"],
        // A button whose address is not a string.
        "SignalboxVendorsTests/synerise/wrong-types.json": ["action.value-missing"],
        // A wrapped link that is not percent-encoded.
        "SignalboxVendorsTests/webengage/wrapped-link-fcm-data.json": ["action.uri-invalid"],
        // Addresses that are relative to the web app, which the payload does not name.
        "SignalboxVendorsTests/unknown/web-push-declarative.json": ["action.uri-invalid"],
        "SignalboxVendorsTests/unknown/web-push-declarative-badge-in-notification.json": ["action.uri-invalid"],
    ]

    /// Replaces values of a fixture by values of other types: the event still matches its schema.
    @Test(arguments: try PayloadFixture.all())
    func acceptsStrangeValues(_ fixture: PayloadFixture) throws {
        var random = SeededGenerator(seed: Self.seed)
        for _ in 0..<40 {
            let payload = try StrangePayload(fixture.input, using: &random).bytes
            let event = try pipeline.event(payload, of: fixture.vendor).get()
            #expect(event.body.count > 200, "seed \(Self.seed)")
        }
    }

    @Test func everyEventHasAnIDOfItsOwnThatSortsByTime() throws {
        let ids = try (0..<1000).map { _ in try pipeline.event(#"{"aps":{}}"#).get().id }
        #expect(Set(ids).count == 1000)
        let milliseconds = UInt64(TestPipeline.time.timeIntervalSince1970 * 1000)
        #expect(ids.allSatisfy { UInt64($0.description.prefix(13).filter { $0 != "-" }, radix: 16) == milliseconds })
    }

    @Test func acceptsAByteOrderMark() throws {
        let event = try pipeline.event("\u{FEFF}{\"aps\":{\"alert\":\"x\"}}").get()
        #expect(event.warnings.isEmpty)
    }

    // MARK: Rejections

    @Test(
        arguments: [
            ("", .empty), (" \n", .empty), ("nope", .notJSON), ("{\"a\":1,}", .notJSON), ("{\"a\":1}{", .notJSON),
            ("{\"a\":\"\\x\"}", .notJSON), ("{\"a\":\"\\ud800\"}", .notJSON), ("{\"a\":\"x\ny\"}", .notJSON),
            ("{\"a\":1e999}", .invalidNumber), ("{\"a\":18446744073709551616}", .invalidNumber),
            ("{\"a\":\"x", .truncated), ("{\"a\":[{}]", .truncated), ("{", .truncated), ("[]", .notAnObject),
            ("\"aps\"", .notAnObject), ("1", .notAnObject), ("null", .notAnObject),
        ] as [(String, Rejection.Code)])
    func rejectsUnreadablePayloadsWithOneError(_ payload: String, _ code: Rejection.Code) throws {
        let rejection = try #require(pipeline.event(payload).rejection)
        #expect(rejection.code == code)
        #expect(rejection.place == PayloadPosition(line: 3, offset: 40))
        #expect(rejection.message.hasSuffix(".") && rejection.message.count > 20)
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        let payload = Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8)
        #expect(pipeline.event(payload).rejection?.code == .invalidUTF8)
        #expect(
            pipeline.event(payload).rejection?.message
                == "The payload is not valid UTF-8 at line 1, column 7 of the payload: encode it as UTF-8.")
    }

    @Test func acceptsNestingUpToTheLimit() {
        func nested(_ levels: Int) -> String {
            String(repeating: "{\"a\":", count: levels) + "1" + String(repeating: "}", count: levels)
        }
        #expect(pipeline.event(nested(Normalizer.depthLimit - 1)).rejection == nil)
        #expect(pipeline.event(nested(Normalizer.depthLimit + 1)).rejection?.code == .tooDeep)
        #expect(pipeline.event(nested(100_000)).rejection?.code == .tooDeep)
    }

    @Test func acceptsPayloadsUpToTheLimit() {
        func payload(_ size: Int) -> [UInt8] {
            Array("{\"a\":\"".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: size - 8) + Array("\"}".utf8)
        }
        #expect(pipeline.event(payload(Normalizer.payloadLimit)).rejection == nil)
        #expect(pipeline.event(payload(Normalizer.payloadLimit + 1)).rejection?.code == .tooLarge)
    }

    @Test func everyCodeIsStable() {
        #expect(
            Rejection.Code.allCases.map(\.rawValue) == [
                "payload-empty", "payload-not-json", "payload-not-utf8", "payload-number-invalid",
                "payload-too-deep", "payload-too-large", "payload-truncated", "payload-not-an-object",
                "payload-too-costly", "envelope-malformed", "failure-rule",
            ])
    }

    // MARK: Tokens

    @Test func aTokenHasTheSameHashUnderTheSameKeyOnly() {
        let token = Array("fcm-token-1234567890".utf8)
        let name = TokenHash(key: TestPipeline.key).name(of: token)
        #expect(name == TokenHash(key: TestPipeline.key).name(of: token))
        #expect(name != TokenHash(key: [UInt8](repeating: 8, count: 32)).name(of: token))
        #expect(name != TokenHash(key: TestPipeline.key).name(of: token + [0]))
        #expect(name.hasPrefix("sha256:") && name.count == 71)
        // RFC 4231, test case 2.
        #expect(
            TokenHash(key: Array("Jefe".utf8)).name(of: Array("what do ya want for nothing?".utf8))
                == "sha256:5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test(arguments: [
        #"{"message":{"token":"SECRET-TOKEN","data":{"a":"b"}}}"#,
        #"{"message":{"token":"SECRET-TOKEN","notification":{"title":"t"}},"validate_only":true}"#,
        #"{"to":"SECRET-TOKEN","data":{"a":"b"}}"#, #"{"to":"SECRET-TOKEN","notification":{"title":"t"}}"#,
        #"{"registration_ids":["SECRET-TOKEN"],"data":{"a":"b"}}"#,
        #"{"registration_ids":["SECRET-TOKEN","SECRET-TOKEN-2"],"data":{"a":"b"}}"#,
        #"{"message":{"token":"SECRET-\u0054OKEN","data":{}}}"#, #"{"message":{"token":["SECRET-TOKEN"],"data":{}}}"#,
        #"{"message":{"token":{"x":"SECRET-TOKEN"},"data":{}}}"#,
        #"{"message":{"token":"SECRET-TOKEN","token":"SECRET-TOKEN","data":{}}}"#,
        #"{"to":["SECRET-TOKEN"],"data":{"a":"b"}}"#, #"{"registration_ids":"SECRET-TOKEN","data":{"a":"b"}}"#,
    ])
    func aTokenNeverLeavesInClear(_ payload: String) throws {
        let event = try pipeline.event(payload).get()
        #expect(!String(decoding: event.body, as: UTF8.self).contains("SECRET"))
    }

    @Test func anEventHasTheHashOfItsToken() throws {
        let event = try pipeline.event(#"{"message":{"token":"T","topic":"news","data":{}}}"#).get()
        let name = TokenHash(key: TestPipeline.key).name(of: [UInt8(ascii: "T")])
        try withEvent(event) { json in
            #expect(json["data"]?["target"]?["token"]?.string == name)
            #expect(json["data"]?["target"]?["topic"]?.string == "news")
        }
    }
}
