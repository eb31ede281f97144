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
        return mask.masked(try Self.text(json)).string
    }

    private static func text(_ json: String) throws -> JSONText {
        let parser = JSONParser()
        return try withExtendedLifetime(parser) { JSONText(try parser.parse(Array(json.utf8))) }
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

    // MARK: Requests

    /// A sender can put the tokens of its request into every text. OTHER is a second device.
    @Test(arguments: [
        #"{"message":{"token":"TOKEN","notification":{"title":"Hi","click_action":"https://api.example/unsubscribe?token=TOKEN"},"data":{"link":"https://x.example/?t=TOKEN"}}}"#,
        #"{"message":{"token":"TOKEN","notification":{"body":"TOKEN","tag":"TOKEN"}}}"#,
        #"{"message":{"token":"TOKEN","notification":{"title":"for TOKEN","image":"https://a.example/TOKEN.png","title_loc_key":"TOKEN","title_loc_args":["TOKEN"],"channel_id":"TOKEN"}}}"#,
        #"{"message":{"token":"TOKEN","data":{"TOKEN":"v","k":"{\"TOKEN\":1}","n":["a TOKEN b"]}}}"#,
        #"{"message":{"token":"TOKEN","data":{"TOKEN":7}}}"#,
        #"{"message":{"fid":"TOKEN","data":{"k":"TOKEN"}}}"#,
        #"{"message":{"token":"TOKEN","fid":"OTHER","data":{"k":"OTHER"}}}"#,
        #"{"message":{"token":"t","apns":{"live_activity_token":"TOKEN","payload":{"aps":{"alert":"TOKEN"},"k":"TOKEN"}}}}"#,
        #"{"message":{"topic":"t","webpush":{"notification":{"title":"T","actions":[{"action":"TOKEN","title":"TOKEN"}]},"fcm_options":{"link":"https://a.example/TOKEN"}},"token":"TOKEN"}}"#,
        #"{"registration_ids":["TOKEN","OTHER"],"data":{"device":"TOKEN","others":"OTHER,TOKEN"}}"#,
        #"{"to":["TOKEN","OTHER"],"data":{"device":"OTHER"}}"#,
        #"{"to":"TOKEN","data":{"wzrk_pn":"true","nm":"B","wzrk_id":"TOKEN","wzrk_dl":"a://b?TOKEN","wzrk_acts":"[{\"id\":\"TOKEN\",\"l\":\"TOKEN\",\"dl\":\"a://TOKEN\"}]","pt_id":"TOKEN"}}"#,
        #"{"tokens":["TOKEN","OTHER"],"android":{"priority":"high"},"data":{"k":"v","me":"OTHER"}}"#,
        #"{"tokens":["TOKEN","OTHER"],"notification":{"title":"T"},"data":{"k":"TOKEN"}}"#,
        #"{"fids":["OTHER","TOKEN"],"notification":{"title":"TOKEN"},"data":{"k":"v"}}"#,
        #"{"messageId":"1","to":"TOKEN","notification":{"title":"T"},"data":{"k":"TOKEN"}}"#,
    ])
    func noTextOfAnEventHoldsATokenOfTheRequest(_ payload: String) throws {
        let other = "other-device-0123456789"
        let event = try TestPipeline().event(
            payload.replacing("TOKEN", with: Self.token).replacing("OTHER", with: other)
        ).get()
        let text = String(decoding: event.body, as: UTF8.self)
        #expect(!text.contains(Self.token), "\(text)")
        #expect(!text.contains(other), "\(text)")
        #expect(text.contains(Self.name) || text.contains(Self.hash.name(of: Array(other.utf8))))
    }

    /// The token of an installation begins with its id.
    @Test func aTokenThatContainsAnotherIsHashedAsAWhole() throws {
        let id = "other-device-0123456789"
        let whole = id + ":" + Self.token
        let notification = #"{"title":"see \#(whole), \#(id)"}"#
        let payload = #"{"message":{"token":"\#(whole)","fid":"\#(id)","notification":\#(notification)}}"#
        let event = try TestPipeline().event(payload).get()
        let text = String(decoding: event.body, as: UTF8.self)
        let (first, second) = (Self.hash.name(of: Array(whole.utf8)), Self.hash.name(of: Array(id.utf8)))
        #expect(text.contains("see \(first), \(second)\""), "\(text)")
        #expect(!text.contains(Self.token) && !text.contains(id))
    }

    @Test(arguments: [
        #"{"to":["FIRST","SECOND"],"title":"for FIRST","data":{"list":["SECOND"],"link":"https://a.example/?t=ENCODED"}}"#,
        #"{"to":["FIRST","SECOND"],"title":"SECOND","body":"B"}"#, #"{"to":"FIRST","title":"FIRST","body":"B"}"#,
        #"{"to":["FIRST","SECOND"],"title":"T","data":{"link":"https://a.example/?u=%3Ft%3DTWICE%26u=1"}}"#,
    ])
    func noTextOfAnEventHoldsATokenOfExpo(_ payload: String) throws {
        let first = "ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]"
        let second = "ExponentPushToken[yyyyyyyyyyyyyyyyyyyyyy]"
        let event = try TestPipeline().event(
            payload.replacing("FIRST", with: first).replacing("SECOND", with: second)
                .replacing("ENCODED", with: "ExponentPushToken%5Byyyyyyyyyyyyyyyyyyyyyy%5D")
                .replacing("TWICE", with: "ExponentPushToken%255Byyyyyyyyyyyyyyyyyyyyyy%255D")
        ).get()
        let text = String(decoding: event.body, as: UTF8.self)
        #expect(!text.contains("xxxxxxxx") && !text.contains("yyyyyyyy"), "\(text)")
        #expect([first, second].contains { text.contains(Self.hash.name(of: Array($0.utf8))) })
    }

    /// The values keep the text around the token.
    @Test func replacesAPartOfAText() throws {
        let payload =
            #"{"message":{"token":"TOKEN","notification":{"title":"Hi TOKEN!","click_action":"https://a.example/?t=TOKEN&u=1"}}}"#
        let event = try TestPipeline().event(payload.replacing("TOKEN", with: Self.token)).get()
        try withEvent(event) { json in
            #expect(json["data"]?["content"]?["title"]?.string == "Hi \(Self.name)!")
            #expect(json["data"]?["action"]?["value"]?.string == "https://a.example/?t=\(Self.name)&u=1")
            #expect(json["data"]?["action"]?["type"]?.string == "openUrl")
            #expect(json["data"]?["target"]?["token"]?.string == Self.name)
        }
    }

    // MARK: Texts

    @Test func replacesPartsOfStringsAndKeys() throws {
        let json = #"{"link":"https://a.example/TOKEN?t=TOKEN","a TOKEN":{"TOKEN":["TOKENTOKEN",7]},"plain":"TOKE"}"#
        #expect(
            try masked(json.replacing("TOKEN", with: Self.token)) == json.replacing("TOKEN", with: Self.name))
    }

    @Test(arguments: [
        "fcm-Registration%3AAPA91b", "fcm-Registration%3aAPA91b", "%66cm-Registration:APA91b",
        "fcm-Registration%253AAPA91b", "fcm%2dRegistration%2525253AAPA91b",
    ])
    func replacesAPercentEncodedToken(_ beginning: String) throws {
        let link = "https://a.example/?t=" + beginning + "ExampleTokenOfADevice_0123456789&u=%20"
        #expect(try masked(#"{"k":"\#(link)"}"#) == #"{"k":"https://a.example/?t=\#(Self.name)&u=%20"}"#)
    }

    @Test(arguments: [
        "fcm-Registration:APA91bExampleTokenOfADevice_012345678",
        "cm-Registration:APA91bExampleTokenOfADevice_0123456789",
        "fcm-registration:APA91bExampleTokenOfADevice_0123456789", "6789", "fcm-Registration%3",
        "fcm-Registration253AAPA91bExampleTokenOfADevice_0123456789",
        "fcm-Registration%25253APA91bExampleTokenOfADevice_0123456789",
    ])
    func doesNotReplaceOtherTexts(_ text: String) throws {
        let json = #"{"k":"\#(text)","\#(text)":1}"#
        #expect(try masked(json) == json)
    }

    @Test func findsAHexadecimalTokenInAnyCase() throws {
        let token = "00FC13ADFF785122B4AD28809A3420982341241421348097878E577C991DE8F0"
        let device = DeviceToken(key: Array("token".utf8), text: Array(token.utf8), ignoresCase: true)
        let mask = try #require(TokenMask([device], hashedBy: Self.hash))
        let mixed = token.prefix(30).lowercased() + token.dropFirst(30)
        for copy in [token, token.lowercased(), mixed] {
            #expect(mask.masked("?\(copy)") == "?" + Self.hash.name(of: device.text))
        }
    }

    /// Its own reading would leave the secret out.
    @Test func hashesTheSecretOfAVendorThatIsNotRead() throws {
        let secret = "access-token-of-a-user"
        let event = try TestPipeline().event(
            #"{"aps":{"alert":"See \#(secret)"},"pw_msg":"1","_wp":{"c":"c","n":"n","accessToken":"\#(secret)"}}"#
        ).get()
        let text = String(decoding: event.body, as: UTF8.self)
        #expect(text.contains(#""vendor":"pushwoosh""#) && !text.contains(secret))
        #expect(text.contains(#""accessToken":"sha256:"#))
    }

    /// No service accepts more than a thousand receivers.
    @Test func findsEachOfAThousandTokens() throws {
        let tokens = (0..<1000).map { "device-\($0)-of-a-thousand-\($0)" }
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        let copies = [3, 500, 999].map { #""k\#($0)":"https://a.example/?t=\#(tokens[$0])""# }.joined(separator: ",")
        let event = try TestPipeline().event(#"{"registration_ids":[\#(list)],"data":{\#(copies)}}"#).get()
        let text = String(decoding: event.body, as: UTF8.self)
        #expect(!text.contains("of-a-thousand"))
        for position in [3, 500, 999] { #expect(text.contains(Self.hash.name(of: Array(tokens[position].utf8)))) }
    }

    /// Only some of many tokens with one end are searched for; whole texts are compared with all of them.
    @Test func findsManySimilarTokensAsWholeTexts() throws {
        let tokens = (0..<100).map { DeviceToken(key: Array("to".utf8), text: Array("\($0)-device-with-an-end".utf8)) }
        let mask = try #require(TokenMask(tokens, hashedBy: Self.hash))
        for token in tokens {
            let text = String(decoding: token.text, as: UTF8.self)
            #expect(mask.masked(text) == Self.hash.name(of: token.text))
            #expect(mask.masked(try Self.text(#"{"\#(text)":["\#(text)"]}"#)).string.contains("device") == false)
        }
    }

    /// The search compares at most a few times as many bytes as the text has.
    @Test func hashesATextThatTakesTooLong() throws {
        let token = "b" + String(repeating: "a", count: 100_000)
        let text = String(repeating: "a", count: 1_000_000)
        #expect(
            try masked(#"{"k":"\#(text)"}"#, token: token) == #"{"k":"\#(Self.hash.name(of: Array(text.utf8)))"}"#)
    }

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
