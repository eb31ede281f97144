import SignalboxNotification
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// Device tokens that an app puts into its own data.
@Suite struct RegistrationTokenTests {
    private static let hash = TokenHash(key: TestPipeline.key)
    private static let id = "dExampleInstallation_1"
    private static let tail = "APA91b" + String(repeating: "Abc0123_-", count: 15)
    private static let token = id + ":" + tail

    private func body(_ payload: String) throws -> String {
        String(decoding: try TestPipeline().event(payload).get().body, as: UTF8.self)
    }

    private func found(in text: String) -> [String] {
        var tokens: [DeviceToken] = []
        Array(text.utf8).withUnsafeBufferPointer { RegistrationTokens.append(from: $0, to: &tokens) }
        return tokens.map { String(decoding: $0.text, as: UTF8.self) }
    }

    // MARK: Events

    @Test(arguments: [
        #"{"aps":{"alert":"x"},"deviceToken":"TOKEN"}"#,
        #"{"aps":{"alert":"x"},"gcm.message_id":"1","from_device":{"fcm_token":"TOKEN"}}"#,
        #"{"data":{"k":"v","me":"{\"token\":\"TOKEN\"}"}}"#,
        #"{"data":{"link":"https://a.example/?t=TOKEN&u=1"},"notification":{"title":"for TOKEN"}}"#,
        #"{"user":{"TOKEN":true},"note":"first line\nTOKEN"}"#,
        #"{"data":{"link":"https://a.example/?t\u003dTOKEN\u0026u=1","k":1}}"#,
        #"{"data":{"me":"{\"t\":\"\\u00e9TOKEN\"}","k":1}}"#,
        #"{"data":{"me":"{\"t\":\"a\\nTOKEN\"}","k":1}}"#,
        #"{"data":{"path":"C:\\TOKEN","k":1}}"#,
    ])
    func hashesATokenUnderAnyKey(_ payload: String) throws {
        let text = try body(payload.replacing("TOKEN", with: Self.token))
        #expect(!text.contains(Self.tail) && !text.contains(Self.id), "\(text)")
        #expect(text.contains(Self.hash.name(of: Array(Self.token.utf8))), "\(text)")
    }

    @Test func hashesAPercentEncodedToken() throws {
        let text = try body(#"{"data":{"link":"https://a.example/?t=\#(Self.id)%3A\#(Self.tail)&u=1"}}"#)
        #expect(text.contains("?t=\(Self.hash.name(of: Array(Self.token.utf8)))&u=1"), "\(text)")
    }

    @Test func hashesATokenInAPercentEncodedLink() throws {
        let text = try body(#"{"data":{"link":"https://a.example/?u=b%3Ft%3D\#(Self.id)%3A\#(Self.tail)"}}"#)
        #expect(text.contains("b%3Ft%3D\(Self.hash.name(of: Array(Self.token.utf8)))\""), "\(text)")
    }

    /// A link inside a link is encoded twice.
    @Test func hashesATokenThatIsEncodedTwice() throws {
        let text = try body(#"{"data":{"link":"https://a.example/?u=b%3Ft%253D\#(Self.id)%253A\#(Self.tail)%26u=1"}}"#)
        #expect(text.contains("b%3Ft%253D\(Self.hash.name(of: Array(Self.token.utf8)))%26u=1"), "\(text)")
        #expect(found(in: "%25\(Self.id)%25253a\(Self.tail)") == [Self.token])
    }

    /// A registration token is found under any key, a short token of the request under its own key only.
    @Test func leavesWordsAloneThatEqualAShortToken() throws {
        let text = try body(#"{"message":{"token":"abc","data":{"k":"abc","regId":"\#(Self.tail)"}}}"#)
        #expect(text.contains(#""k":"abc""#) && !text.contains(Self.tail), "\(text)")
    }

    @Test func hashesARegistrationOfGCM() throws {
        let text = try body(#"{"data":{"regId":"\#(Self.tail)"}}"#)
        #expect(text.contains(#""regId":"\#(Self.hash.name(of: Array(Self.tail.utf8)))""#), "\(text)")
    }

    /// On iOS, a push through FCM names the installation that it was sent to.
    @Test func hashesTheInstallationOfAReceivedPush() throws {
        let text = try body(
            #"{"aps":{"alert":"x"},"gcm.message_id":"1","google.c.fid":"\#(Self.id)","copy":"\#(Self.id)"}"#)
        let name = Self.hash.name(of: Array(Self.id.utf8))
        #expect(!text.contains(Self.id), "\(text)")
        #expect(text.contains(#""google.c.fid":"\#(name)""#) && text.contains(#""copy":"\#(name)""#), "\(text)")
    }

    /// Other values can equal a short token by chance. Only its own key names it.
    @Test(arguments: [
        #"{"message":{"token":"first","to":"abc","data":{"k":"abc"}}}"#,
        #"{"message":{"token":"abc","to":"abc","data":{"k":"abc"}}}"#,
        #"{"aps":{"alert":"x"},"gcm.message_id":"1","google.c.fid":"abc","k":"abc"}"#,
    ])
    func hashesAShortTokenUnderItsOwnKey(_ payload: String) throws {
        let text = try body(payload)
        let name = Self.hash.name(of: Array("abc".utf8))
        #expect(text.contains(#""to":"\#(name)""#) || text.contains(#""google.c.fid":"\#(name)""#), "\(text)")
        #expect(text.contains(#""k":"abc""#), "\(text)")
    }

    // MARK: Search

    @Test(arguments: ["APA91b", "APA91b-short", "xAPA91", "", "A", "see APA91b, APA91b and APA91b"])
    func leavesShortTextsAlone(_ text: String) throws {
        #expect(found(in: text).isEmpty)
        #expect(try body(#"{"data":{"k":"\#(text)","x":"y"}}"#).contains(text))
    }

    @Test func findsTokensInARow() {
        let second = "another:" + Self.tail + "2"
        #expect(found(in: #"["\#(Self.token)","\#(second)",":\#(Self.tail)"]"#) == [Self.token, second, Self.tail])
        #expect(found(in: #"{"k":"a\n\#(Self.token)"}"#) == [Self.token])
        #expect(found(in: #"{"k":"https://a.example/\#(Self.id)%3a\#(Self.tail)"}"#) == [Self.token])
    }

    @Test func isBoundedInALongText() {
        let many = Array(repeating: Self.token, count: 1000).joined(separator: ",")
        #expect(found(in: many).count == 100)
        let one = String(repeating: "APA91b", count: 100_000)
        #expect(found(in: one).count == 1)
    }
}
