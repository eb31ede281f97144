import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxSQLite
import SignalboxServerTesting
import SignalboxStore
import SignalboxTesting
import Testing

/// Validation requests on the wire.
@Suite(.timeLimit(.minutes(15))) struct WebhookPermissionTests {
    private let bench = LaneBench()

    private static func reply(_ status: Int, _ headers: String = "") -> [String] {
        ["--reply", #"HTTP/1.1 \#(status) Reply\r\n"# + headers + #"content-length: 0\r\n\r\n"#]
    }

    private static let yes = reply(
        200, #"Allow: POST\r\nWebHook-Allowed-Origin: gateway.example.com\r\nWebHook-Allowed-Rate: 120\r\n"#)

    private func withSender<R>(
        _ replies: [[String]], _ body: (WebhookSender, Destination, Peer) async throws -> R
    ) async throws -> R {
        try await Peer.run(["canned"] + replies.flatMap(\.self)) { peer in
            let http = OutboundHTTP(policy: AddressPolicy(allow: [try #require(AddressRange("127.0.0.0/8"))]))
            defer { http.stop() }
            var webhook = Destination.Webhook(url: "http://127.0.0.1:\(peer.port)/hook?a=b", secrets: [])
            webhook.handshake = Destination.Handshake(origin: "gateway.example.com", perMinute: 600)
            let sender = WebhookSender(
                webhook, keys: WebhookKeys([try WebhookKey("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]),
                headers: [("x-tenant", "acme")], http: http, version: "0")
            var destination = bench.destination()
            destination.endpoint = .webhook(webhook)
            return try await body(sender, destination, peer)
        }
    }

    private var ping: Lease { OperationalEvent(gateway: "test").pingLease(to: bench.crm) }

    @Test func requestsPermissionAsSpecified() async throws {
        try await withSender([Self.yes]) { (sender, _, peer) async throws in
            #expect(await sender.askPermission() == .given(perMinute: 120))
            let request = try #require(try await peer.next())
            #expect(request.line == "OPTIONS /hook?a=b HTTP/1.1")
            #expect(request.headers["webhook-request-origin"] == "gateway.example.com")
            #expect(request.headers["webhook-request-rate"] == "600")
            #expect(request.headers["x-tenant"] == "acme")
            #expect(request.headers["webhook-request-callback"] == nil)
            #expect(request.headers["content-type"] == nil && request.body.isEmpty)
        }
    }

    @Test func deliversAfterPermissionWithItsOrigin() async throws {
        try await withTemporaryDirectory { directory in
            try await withSender([Self.yes, Self.reply(204)]) { (sender, destination, peer) async throws in
                let queue = try bench.open(directory)
                try await queue.append(bench.events(1...1))
                let dispatcher = bench.dispatcher(destination, sender, queue)
                dispatcher.drain()
                await dispatcher.runUntilDrained()
                #expect(try #require(try await peer.next()).line.hasPrefix("OPTIONS "))
                let delivery = try #require(try await peer.next())
                #expect(delivery.line == "POST /hook?a=b HTTP/1.1")
                #expect(delivery.headers["webhook-request-origin"] == "gateway.example.com")
                #expect(try await queue.counts() == [bench.crm: [.delivered: 1]])
            }
        }
    }

    @Test func doesNotSendEventsWithoutPermission() async throws {
        try await withTemporaryDirectory { directory in
            try await withSender([Self.reply(405)]) { (sender, destination, _) async throws in
                let queue = try bench.open(directory)
                try await queue.append(bench.events(1...2))
                let dispatcher = bench.dispatcher(destination, sender, queue)
                dispatcher.drain()
                await dispatcher.runUntilDrained()
                #expect(try await queue.counts() == [bench.crm: [.waiting: 2]])
                let reason = try await queue.statuses()[bench.crm]?.reason
                #expect(reason == "no permission to send: OPTIONS was answered 405")
            }
        }
    }

    @Test func aPingAsksFirst() async throws {
        try await withSender([Self.yes, Self.reply(204)]) { (sender, _, peer) async throws in
            let result = await sender.ping(ping)
            #expect(result.wasTaken && result.status == 204)
            #expect(try #require(try await peer.next()).line.hasPrefix("OPTIONS "))
            #expect(try #require(try await peer.next()).line.hasPrefix("POST "))
        }
    }

    @Test func doesNotPingWithoutPermission() async throws {
        let other = Self.reply(200, #"webhook-allowed-origin: other.example\r\n"#)
        try await withSender([other, Self.reply(204)]) { (sender, _, _) async throws in
            let result = await sender.ping(ping)
            #expect(!result.wasTaken && result.status == nil)
            #expect(
                result.words
                    == #"no permission to send: WebHook-Allowed-Origin is "other.example", not gateway.example.com"#)
        }
    }

    @Test func everyRequestHasTheUserAgentOfTheConfig() async throws {
        let text =
            #"{ "destinations": { "crm": { "url": "https://a.example/", "secret": "env:KEY", "handshake": true, "userAgent": "acme-events/2" } } }"#
        let config = try ConfigReading([ConfigText(name: "routes.json", bytes: Array(text.utf8))]).finish()
        let destination = try #require(config.destinations.first)
        guard case .webhook(var webhook) = destination.endpoint else { throw CocoaError(.coderInvalidValue) }
        try await Peer.run(["canned"] + Self.yes + Self.reply(204)) { peer in
            let http = OutboundHTTP(policy: AddressPolicy(allow: [try #require(AddressRange("127.0.0.0/8"))]))
            defer { http.stop() }
            webhook.url = "http://127.0.0.1:\(peer.port)/hook"
            let sender = WebhookSender(
                webhook, keys: WebhookKeys([try WebhookKey("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]), http: http,
                version: "0")
            _ = await sender.askPermission()
            _ = await sender.send([ping])
            for _ in 1...2 { #expect(try await peer.next()?.headers["user-agent"] == "acme-events/2") }
        }
    }

    @Test func deniedAddressWithholdsPermission() async throws {
        let http = OutboundHTTP(policy: AddressPolicy())
        defer { http.stop() }
        var webhook = Destination.Webhook(url: "http://127.0.0.1:9/", secrets: [])
        webhook.handshake = Destination.Handshake(origin: "a")
        let sender = WebhookSender(
            webhook, keys: WebhookKeys([try WebhookKey("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]), http: http,
            version: "0")
        let reason =
            "no permission to send: address denied: 127.0.0.1 is loopback; egress.allow in the config can name it"
        #expect(await sender.askPermission() == .withheld(reason: reason, retryAfter: nil))
    }
}
