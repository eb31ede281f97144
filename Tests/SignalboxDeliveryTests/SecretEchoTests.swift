import SignalboxEgress
import SignalboxNotification
import SignalboxServerTesting
import SignalboxStore
import Testing

@testable import SignalboxConfig
@testable import SignalboxGateway

/// A secret URL stays out of the records of attempts.
@Suite(.timeLimit(.minutes(15))) struct SecretEchoTests {
    private static let url = "https://hooks.example/services/T0001?key=Zk8%2F9pQx%3D"

    @Test(arguments: [
        "no route for /services/T0001?key=Zk8%2F9pQx%3D", "no route for /services/T0001", "unknown key Zk8/9pQx=",
        #"{"path":"\/services\/T0001"}"#, "<p>/services/T0001?key&#61;Zk8%2F9pQx%3D</p>", "cut off: /service",
    ])
    func hidesRepliesThatRepeatIt(_ reply: String) {
        let masked = String(decoding: SecretEcho(Self.url).masked(Array(reply.utf8)), as: UTF8.self)
        #expect(masked == "[hidden: it repeats the URL]")
    }

    @Test(arguments: ["", "ok", "no_service", "hooks.example rejected the message", "invalid_payload"])
    func keepsOtherReplies(_ reply: String) {
        #expect(SecretEcho(Self.url).masked(Array(reply.utf8)) == Array(reply.utf8))
    }

    @Test(arguments: ["", "https://hooks.example", "https://hooks.example/", "https://hooks.example/%", "%2"])
    func hidesNoReplyIfThePathIsShort(_ url: String) {
        #expect(SecretEcho(url).masked(Array("https://hooks.example/% is not there".utf8)).count == 36)
    }

    @Test func hidesRepliesThatRepeatAHeader() {
        let headers = SecretEcho(headers: ["Bearer s3cret-0123", "short"])
        func masked(_ reply: String) -> String { headers.masked(reply) }
        #expect(masked(#"{"authorization":"Bearer s3cret-0123"}"#) == "[hidden: it repeats a header]")
        #expect(masked("Bearer token is short") == "Bearer token is short")
    }

    /// The kept reply of a receiver that repeats the URL. `reference`: of the URL.
    /// `header`: the config's value of a header that is `/hook/s3cret`.
    private func reply(
        of reference: SecretReference?, header: Destination.Header.Value = .text("/hook/s3cret"),
        format: Destination.Format = .cloudEvents
    ) async throws -> (excerpt: String, exchange: String) {
        let fields = #"x-request-id: POST /hook/s3cret\r\nserver: test\r\nlocation: /hook/s3cret?to=https://a.example/"#
        let reply = #"HTTP/1.1 404 Reply\r\n\#(fields)\r\ncontent-length: 21\r\n\r\nnothing at /hook/s3cr"#
        return try await Peer.run(["canned", "--reply", reply]) { peer in
            let http = OutboundHTTP(policy: AddressPolicy(allow: [try #require(AddressRange("127.0.0.0/8"))]))
            defer { http.stop() }
            var webhook = Destination.Webhook(url: "http://127.0.0.1:\(peer.port)/hook/s3cret", secrets: [])
            webhook.urlReference = reference
            webhook.format = format
            webhook.headers = [Destination.Header(name: "x-hook", value: header)]
            let headers = [(name: "x-hook", value: "/hook/s3cret")]
            let sender = WebhookSender(webhook, keys: WebhookKeys([]), headers: headers, http: http, version: "0")
            let result = await sender.send([OperationalEvent(gateway: "test").pingLease(to: LaneBench().crm)])
            let exchange = try #require(result.attempt.exchange)
            let excerpt = String(decoding: result.attempt.excerpt, as: UTF8.self)
            return (excerpt: excerpt, exchange: String(decoding: exchange, as: UTF8.self))
        }
    }

    @Test func onlyTheURLOfAReferenceOrAChatServiceIsSecret() async throws {
        let plain = try await reply(of: nil)
        #expect(plain.excerpt == "nothing at /hook/s3cr")
        #expect(plain.exchange.contains(#""x-request-id":"POST /hook/s3cret""#))
        let chat = try await reply(of: nil, format: .slack)
        #expect(chat.excerpt == "[hidden: it repeats the URL]")
        #expect(!chat.exchange.contains("s3cret"))
        let secret = try await reply(of: .environment("URL"))
        #expect(secret.excerpt == "[hidden: it repeats the URL]")
        #expect(secret.exchange.contains(#""x-request-id":"[hidden: it repeats the URL]""#))
        #expect(secret.exchange.contains(#""server":"test""#))
        #expect(!secret.exchange.contains("s3cret"))
    }

    @Test func headersThatAreReferencesAreSecret() async throws {
        let plain = try await reply(of: nil)
        #expect(plain.excerpt == "nothing at /hook/s3cr")
        let secret = try await reply(of: nil, header: .secret(.environment("KEY")))
        #expect(secret.excerpt == "[hidden: it repeats a header]")
        #expect(secret.exchange.contains(#""x-request-id":"[hidden: it repeats a header]""#))
    }

    @Test func hidesRelativeLocations() async throws {
        #expect(try await reply(of: nil).exchange.contains(#""location":"[hidden]""#))
    }
}
