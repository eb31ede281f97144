import SignalboxConfig
import SignalboxEgress
import SignalboxNotification
import SignalboxServerTesting
import SignalboxStore
import Testing

@testable import SignalboxGateway

/// A secret URL stays out of the records of attempts.
@Suite(.timeLimit(.minutes(15))) struct SecretURLTests {
    private static let url = "https://hooks.example/services/T0001?key=Zk8%2F9pQx%3D"

    @Test(arguments: [
        "no route for /services/T0001?key=Zk8%2F9pQx%3D", "no route for /services/T0001", "unknown key Zk8/9pQx=",
        #"{"path":"\/services\/T0001"}"#, "<p>/services/T0001?key&#61;Zk8%2F9pQx%3D</p>", "cut off: /service",
    ])
    func hidesRepliesThatRepeatIt(_ reply: String) {
        let masked = String(decoding: SecretURL(Self.url).masked(Array(reply.utf8)), as: UTF8.self)
        #expect(masked == "[hidden: it repeats the URL]")
    }

    @Test(arguments: ["", "ok", "no_service", "hooks.example rejected the message", "invalid_payload"])
    func keepsOtherReplies(_ reply: String) {
        #expect(SecretURL(Self.url).masked(Array(reply.utf8)) == Array(reply.utf8))
    }

    @Test(arguments: ["", "https://hooks.example", "https://hooks.example/", "https://hooks.example/%", "%2"])
    func hidesNoReplyIfThePathIsShort(_ url: String) {
        #expect(SecretURL(url).masked(Array("https://hooks.example/% is not there".utf8)).count == 36)
    }

    /// `reference`: of the URL.
    private func excerpt(of reference: SecretReference?) async throws -> String {
        let reply = #"HTTP/1.1 404 Reply\r\ncontent-length: 21\r\n\r\nnothing at /hook/s3cr"#
        return try await Peer.run(["canned", "--reply", reply]) { peer in
            let http = OutboundHTTP(policy: AddressPolicy(allow: [try #require(AddressRange("127.0.0.0/8"))]))
            defer { http.stop() }
            var webhook = Destination.Webhook(url: "http://127.0.0.1:\(peer.port)/hook/s3cret", secrets: [])
            webhook.urlReference = reference
            let sender = WebhookSender(webhook, keys: WebhookKeys([]), http: http, version: "0")
            let result = await sender.send([OperationalEvent(gateway: "test").pingLease(to: LaneBench().crm)])
            return String(decoding: result.attempt.excerpt, as: UTF8.self)
        }
    }

    @Test func onlyTheURLOfAReferenceIsSecret() async throws {
        #expect(try await excerpt(of: nil) == "nothing at /hook/s3cr")
        #expect(try await excerpt(of: .environment("URL")) == "[hidden: it repeats the URL]")
    }
}
