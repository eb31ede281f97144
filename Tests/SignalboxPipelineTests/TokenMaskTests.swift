import SignalboxJSON
import SignalboxNotification
import SignalboxTesting
import Testing

@testable import SignalboxGateway

@Suite struct TokenMaskTests {
    private static let hash = TokenHash(key: TestPipeline.key)
    private static let token = "fcm-Registration:APA91bExampleTokenOfADevice_0123456789"
    private static let name = hash.name(of: Array(token.utf8))

    private func masked(_ json: String, key: String = "recipient", token: String = token) throws -> String {
        let tokens = [DeviceToken(key: Array(key.utf8), text: Array(token.utf8))]
        let mask = try #require(TokenMask(tokens, hashedBy: Self.hash))
        let parser = JSONParser()
        let text = try withExtendedLifetime(parser) { JSONText(try parser.parse(Array(json.utf8))) }
        return mask.masked(text).string
    }

    // MARK: Fixtures

    /// A token that a vendor declares is absent from the event, from the displayed payload and from the explanation.
    @Test(arguments: try PayloadFixture.all())
    func noTokenOfAFixtureLeavesInClear(_ fixture: PayloadFixture) throws {
        let tokens = try declaredTokens(of: fixture)
        guard !tokens.isEmpty else { return }
        let event = try event(fixture)
        var texts = [String(decoding: event.body, as: UTF8.self)]
        if let shown = event.shown { texts.append(shown.string) }
        texts += try explanation(of: fixture)
        for token in tokens where token.count >= 8 {
            for text in texts { #expect(!text.contains(token), "\(fixture): \(text)") }
        }
        let names = tokens.map { Self.hash.name(of: Array($0.utf8)) }
        #expect(names.contains { texts[0].contains($0) })
    }

    @Test func someFixturesHoldTokens() throws {
        let folders = try PayloadFixture.all().filter { try !declaredTokens(of: $0).isEmpty }.map(\.description)
        #expect(folders.contains("SignalboxVendorsTests/customerio/web-push-actions.json"))
        #expect(folders.contains("SignalboxVendorsTests/customerio/live-activity-apns.json"))

    }

    private func declaredTokens(of fixture: PayloadFixture) throws -> [String] {
        try withPayload(fixture) { payload in
            var notification = PushNotification(platform: payload.platform)
            VendorChain().read(payload, into: &notification)
            return notification.deviceTokens.map { String(decoding: $0.text, as: UTF8.self) }
        }
    }

    private func explanation(of fixture: PayloadFixture) throws -> [String] {
        try withPayload(fixture) { payload in VendorChain().links.flatMap { $0.explain(payload) } }
    }

    private func withPayload<R>(_ fixture: PayloadFixture, _ read: (borrowing PlatformPayload) throws -> R) throws -> R
    {
        let parser = Normalizer.makeParser()
        return try withExtendedLifetime(parser) {
            let payload = try Platforms.recognise(
                try parser.parse(fixture.input), size: fixture.input.count, parser: parser)
            return try read(payload)
        }
    }

    private func event(_ fixture: PayloadFixture) throws -> Event {
        let normalizer = Normalizer(chain: VendorChain(), gateway: "demo", tokens: Self.hash, showsPayloads: true)
        let parser = Normalizer.makeParser()
        return try fixture.input.withUnsafeBufferPointer { bytes throws(Rejection) in
            try normalizer.event(bytes, as: TestPipeline().reception, at: PayloadPosition(), with: parser)
        }
    }

    // MARK: Vendors

    @Test(arguments: [
        #"{"aps":{"alert":"x"},"source":"xnpe_platform","attributes":{"campaign_id":"c","recipient":"TOKEN"}}"#,
        #"{"source":"xnpe_platform","title":"T","message":"M","attributes":"{\"recipient\":\"TOKEN\"}"}"#,
        #"{"source":"xnpe_platform","title":"T","message":"M","data":"{\"x\":1,\"recipient\":\"TOKEN\"}"}"#,
        #"{"aps":{"alert":"x"},"CIO-Delivery-ID":"d","CIO-Delivery-Token":"TOKEN"}"#,
        // The vendor is only hinted at, or another one reads the payload.
        #"{"aps":{"alert":"x"},"CIO-Delivery-Token":"TOKEN"}"#,
        #"{"_ab":"true","a":"x","t":"y","CIO-Delivery-ID":"d","CIO-Delivery-Token":"TOKEN"}"#,
        // The request's own token, copied into the app's data.
        #"{"message":{"token":"TOKEN","data":{"to":"TOKEN","nested":"{\"me\":[\"TOKEN\"]}"}}}"#,
        #"{"to":"TOKEN","data":{"me":"TOKEN"}}"#,
    ])
    func hashesTokensOfVendors(_ payload: String) throws {
        let event = try TestPipeline().event(payload.replacing("TOKEN", with: Self.token)).get()
        let text = String(decoding: event.body, as: UTF8.self)
        #expect(!text.contains(Self.token))
        #expect(text.contains(Self.name))
    }

    @Test func hashesATokenLikeTheTarget() throws {
        let payload = #"{"message":{"token":"TOKEN","data":{"CIO-Delivery-ID":"d","CIO-Delivery-Token":"TOKEN"}}}"#
        let event = try TestPipeline().event(payload.replacing("TOKEN", with: Self.token)).get()
        try withEvent(event) { json in
            #expect(json["data"]?["target"]?["token"]?.string == Self.name)
            #expect(json["data"]?["custom"]?["CIO-Delivery-Token"]?.string == Self.name)
        }
    }

    // MARK: Texts

    @Test func replacesAtAnyDepth() throws {
        let json = #"{"a":[{"b":"TOKEN"},"TOKEN",7,null],"c":"TOKEN"}"#
        #expect(
            try masked(json.replacing("TOKEN", with: Self.token)) == json.replacing("TOKEN", with: Self.name))
    }

    @Test func opensTextsInTexts() throws {
        let inner = #"{"recipient":"TOKEN","url":"https://a.example"}"#.replacing("TOKEN", with: Self.token)
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("data", inner)
        writer.endObject()
        let text = try masked(JSONText(writer).string)
        #expect(!text.contains(Self.token))
        #expect(text.contains(Self.name))
    }

    @Test func findsTokensWithEscapedSlashes() throws {
        let endpoint = "https://push.example.net/v2/abcdefghijklmnop"
        let json = #"{"data":"{\"endpoint\":\"https:\\/\\/push.example.net\\/v2\\/abcdefghijklmnop\"}"}"#
        let text = try masked(json, key: "endpoint", token: endpoint)
        #expect(text.contains(Self.hash.name(of: Array(endpoint.utf8))))
        #expect(!text.contains("abcdefghijklmnop"))
    }

    @Test func doesNotChangeTextsWithoutAToken() throws {
        let json = #"{"a":"{ \"x\" : 1 }","b":"{broken","recipient":"TOKEN"}"#
        let text = try masked(json.replacing("TOKEN", with: Self.token))
        #expect(text == json.replacing("TOKEN", with: Self.name))
    }

    /// Other values can equal a short token by chance.
    @Test func replacesAShortTokenUnderItsKeyOnly() throws {
        let text = try masked(
            #"{"recipient":"7","payload.recipient":"7","score":"7","list":["7"]}"#, token: "7")
        let name = Self.hash.name(of: Array("7".utf8))
        let expected = #"{"recipient":"NAME","payload.recipient":"NAME","score":"7","list":["7"]}"#
        #expect(text == expected.replacing("NAME", with: name))
    }

    @Test func hashesATextThatCannotBeParsed() throws {
        let texts = (0..<5000).map { #""{\"n\":\#($0)}""# } + [#""{\"me\":\"TOKEN\"}""#]
        let json = (#"["TOKEN",\#(texts.joined(separator: ","))]"#).replacing("TOKEN", with: Self.token)
        #expect(try !masked(json).contains(Self.token))
    }
}
