import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Destinations that need permission, on the built binary.
@Suite(.timeLimit(.minutes(15))) struct PermissionTests {
    private let payload = Data(#"{"aps":{"alert":"Hi"}}"#.utf8)

    private func config(_ url: String) -> String {
        """
        { "gateway": { "name": "test", "publicUrl": "https://gateway.example.com" }, "egress": { "allow": ["127.0.0.0/8"] },
          "destinations": { "crm": { "url": "\(url)", "secret": "env:WEBHOOK_SECRET", "rate": "50/s", "handshake": true } },
          "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
        """
    }

    /// `signalbox listen` and the tests' receiver permit every sender.
    @Test func deliversAndPingsWithPermission() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let gateway = try await Gateway.start(in: directory, config: config(receiver.url))
                _ = try await gateway.post(payload)
                let message = try #require(await receiver.next().first)
                #expect(message.header("webhook-request-origin") == "gateway.example.com")
                let ping = try await gateway.post(Data(), to: "/v1/destinations/crm/ping")
                #expect(ping.json["taken"] as? Bool == true)
                #expect(await gateway.stop() == 0)
            }
        }
    }

    @Test func showsWithheldPermissionAndSendsNoEvent() async throws {
        let refusal = ["--reply", #"HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n"#]
        try await withTemporaryDirectory { directory in
            try await Peer.run(["canned"] + refusal) { receiver in
                let url = "http://127.0.0.1:\(receiver.port)/hook"
                let gateway = try await Gateway.start(in: directory, config: config(url))
                _ = try await gateway.post(payload)
                let question = try #require(try await receiver.next())
                #expect(question.line == "OPTIONS /hook HTTP/1.1")
                #expect(question.headers["webhook-request-rate"] == "3000")
                let reason = "no permission to send: OPTIONS was answered 405"
                var list = ""
                // The reply is on its way into the queue.
                while !list.contains("withheld") {
                    list = try await binary.run(["destinations", "list"], in: directory).output
                }
                #expect(list.contains(reason))
                #expect(try await gateway.get("/v1/destinations").text.contains(#""state":"withheld""#))
                #expect(
                    try await gateway.metrics().contains(#"signalbox_destination_up{destination="crm"} 0"#))
                let deliveries = try await binary.run(["deliveries", "list"], in: directory)
                #expect(deliveries.output.contains(reason))
                let ping = try await gateway.post(Data(), to: "/v1/destinations/crm/ping")
                #expect(ping.json["taken"] as? Bool == false)
                #expect(ping.json["detail"] as? String == reason)
                #expect(try await receiver.next()?.line == "OPTIONS /hook HTTP/1.1")
                #expect(await gateway.stop() == 0)
                let after = try await binary.run(["deliveries", "list", "--json"], in: directory)
                #expect(after.output.contains(#""state":"waiting","attempts":0"#))
            }
        }
    }
}
