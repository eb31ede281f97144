import Foundation
import SignalboxEgress
import SignalboxNotification
import SignalboxStore
import Testing

@testable import SignalboxGateway

@Suite struct PushVerdictTests {
    private func verdict(
        _ status: Int, _ body: String, of provider: ForwardedPush.Provider = .apns, _ headers: [String: String] = [:]
    ) -> PushVerdict {
        let reply = OutboundReply(status: status, excerpt: Array(body.utf8), headers: headers)
        return PushVerdict(
            OutboundResult(.success(reply), duration: .milliseconds(30)), of: provider, host: "push.example")
    }

    // MARK: Reading

    @Test func readsAnAcceptedPush() {
        let verdict = verdict(200, "", of: .apns, ["apns-id": "A", "apns-unique-id": "U", "server": "x"])
        #expect(verdict.outcome == .accepted && verdict.status == 200 && verdict.reason == nil)
        #expect(verdict.headers == [.init(name: "apns-id", value: "A"), .init(name: "apns-unique-id", value: "U")])
        #expect(verdict.body.isEmpty && verdict.duration == .milliseconds(30) && verdict.host == "push.example")
    }

    @Test func keepsTheChallengeOfARejectedToken() {
        let challenge = #"Bearer realm="https://accounts.google.com/", error="invalid_token""#
        let verdict = verdict(401, "{}", of: .fcm, ["www-authenticate": challenge])
        #expect(verdict.headers == [.init(name: "www-authenticate", value: challenge)])
    }

    @Test func readsTheReasonAndTheTimeOfARejection() {
        let verdict = verdict(410, #"{"reason":"Unregistered","timestamp":1795210140123}"#)
        #expect(verdict.outcome == .rejected && verdict.reason == "Unregistered")
        #expect(verdict.timestamp.map { Timestamp($0).text } == "2026-11-20T21:29:00.123Z")
    }

    @Test(arguments: ["", "{", "[]", "null", #"{"reason":7,"timestamp":"x"}"#, #"{"reason":""}"#, "<html>"])
    func bodiesThatAreNotOfTheFormHaveNoReason(body: String) {
        let verdict = verdict(502, body)
        #expect(verdict.outcome == .rejected && verdict.status == 502 && verdict.reason == nil)
        #expect(verdict.timestamp == nil && verdict.body == Array(body.utf8))
    }

    /// A proxy in front of the service may quote the path of the request, which has the device token.
    @Test(arguments: ["No device /3/device/\(token)", token, "bad token", "Ü"])
    func textsThatAreNotWordsAreNotReasons(text: String) {
        #expect(verdict(400, #"{"reason":"\#(text)"}"#).reason == nil)
        #expect(verdict(400, #"{"error":{"status":"\#(text)"}}"#, of: .fcm).reason == nil)
    }

    private static let token = String(repeating: "0a", count: 32)

    @Test(
        arguments: [
            (.min, nil), (253_402_300_799_000, 253_402_300_799), (253_402_300_800_000, nil), (.max, nil),
        ] as [(Int64, TimeInterval?)])
    func timesBeyondTheCalendarAreLeftOut(time: Int64, seconds: TimeInterval?) {
        let verdict = verdict(410, #"{"reason":"Unregistered","timestamp":\#(time)}"#)
        #expect(verdict.timestamp?.timeIntervalSince1970 == seconds && verdict.reason == "Unregistered")
    }

    @Test func readsTheNameOfAMessage() {
        let verdict = verdict(200, #"{"name":"projects/demo/messages/1"}"#, of: .fcm)
        #expect(verdict.outcome == .accepted && verdict.message == "projects/demo/messages/1")
    }

    private static let errors: [(String, String?)] = [
        (
            #"{"error":{"code":404,"status":"NOT_FOUND","details":[{"@type":"x"},{"errorCode":"UNREGISTERED"}]}}"#,
            "UNREGISTERED"
        ),
        (#"{"error":{"code":401,"status":"UNAUTHENTICATED"}}"#, "UNAUTHENTICATED"),
        (#"{"error":{"details":"x","status":"INTERNAL"}}"#, "INTERNAL"), (#"{"error":"text"}"#, nil),
    ]

    @Test(arguments: errors)
    func readsTheCodeOfAnError(body: String, reason: String?) {
        #expect(verdict(404, body, of: .fcm).reason == reason)
    }

    @Test func aTransportErrorMeansUnreachable() {
        let result = OutboundResult(.failure(.timeoutReplying("…")), duration: .seconds(10))
        let verdict = PushVerdict(result, of: .apns, host: "push.example")
        #expect(verdict.outcome == .unreachable && verdict.status == nil && verdict.reason == "timeout-reply")
    }

    @Test func aHugeBodyMeansUnreachable() {
        let body = String(repeating: "x", count: PushVerdict.largestBody + 1)
        let verdict = verdict(200, body)
        #expect(verdict.outcome == .unreachable && verdict.reason == "reply-too-large" && verdict.body.isEmpty)
    }

    // MARK: Records

    @Test(arguments: [200, 400, 404, 410, 413])
    func finalAnswersAreRecorded(status: Int) throws {
        let verdict = verdict(
            status, #"{"reason":"Ü \" x"}"#, of: .apns, ["apns-id": "A", "content-type": "application/json"])
        let stored = try #require(verdict.stored)
        let read = try #require(PushVerdict(stored))
        #expect(read.status == status && read.headers == verdict.headers && read.body == verdict.body)
        #expect(read.outcome == verdict.outcome && read.host == verdict.host)
    }

    @Test(arguments: [401, 403, 408, 425, 429, 500, 503, 302])
    func answersThatMayChangeAreNotRecorded(status: Int) {
        #expect(verdict(status, "{}").stored == nil)
    }

    @Test func damagedRecordsAreIgnored() {
        for body in ["", "[]", #"{"host":"a"}"#, #"{"host":1,"headers":{},"body":""}"#] {
            #expect(PushVerdict(StoredAnswer(status: 200, body: Array(body.utf8))) == nil)
        }
    }

    @Test func theKeyOfARecordCoversTheRequest() {
        var push = ForwardedPush(.apns, from: .init("a"), event: "e", path: "/3/device/x", body: [1])
        #expect(push.verdictKey(at: "https://a") == nil, "without apns-id, a push is always new")
        push.repeatKey = "id"
        let key = push.verdictKey(at: "https://a")
        push.headers = [("authorization", "bearer renewed"), ("user-agent", "x")]
        #expect(push.verdictKey(at: "https://a") == key)
        #expect(push.verdictKey(at: "https://b") != key)
        var other = push
        other.headers.append(("apns-topic", "a.b"))
        #expect(other.verdictKey(at: "https://a") != key)
        other = push
        other.path = "/3/device/y"
        #expect(other.verdictKey(at: "https://a") != key)
        other = push
        other.body = [2]
        #expect(other.verdictKey(at: "https://a") != key)
    }

    @Test(arguments: ["host", "connection", "te", "content-length", "accept-encoding", "signalbox-run", ":path"])
    func fieldsOfTheConnectionAreNotForwarded(name: String) {
        #expect(!ForwardedPush.forwards(name))
    }

    @Test(arguments: ["authorization", "apns-id", "content-type", "content-encoding", "user-agent", "x-custom"])
    func otherFieldsAreForwarded(name: String) {
        #expect(ForwardedPush.forwards(name))
    }

    @Test func fieldsThatConnectionNamesAreNotForwarded() {
        let headers = [("apns-id", "1"), ("x-hop", "2"), ("connection", "keep-alive, X-Hop"), ("x-custom", "3")]
        #expect(ForwardedPush.forwarded(headers).map(\.name) == ["apns-id", "x-custom"])
    }
}
