import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// An attempt that did not deliver is shown with its request and its response, without secrets.
@Suite(.timeLimit(.minutes(2))) struct FailedExchangeTests {
    private static let environment = ["KEY": "hidden-key", "ADMIN": "admin-token", "RITA": "rita-token"]

    private static func config(_ url: String) -> String {
        """
        { "egress": { "allow": ["127.0.0.0/8"] },
          "sources": { "app": { "auth": { "bearer": ["env:APP"] } } },
          "admin": { "auth": { "bearer": ["env:ADMIN"] }, "tokens": {
            "rita": { "bearer": "env:RITA", "role": "reader", "content": false } } },
          "destinations": { "crm": { "url": "\(url)?token=hidden-query", "secret": "env:WEBHOOK_SECRET",
            "headers": { "x-key": "env:KEY", "x-tenant": "hidden-tenant" } } },
          "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
        """
    }

    /// The only attempt of the first delivery, and the whole answer.
    private static func attempt(_ gateway: Gateway, _ token: String) async throws -> ([String: Any], text: String) {
        while true {
            let answer = try await gateway.request("GET", "/v1/deliveries/1", token: token)
            guard answer.json["state"] as? String == "dead" else { continue }
            return (try #require((answer.json["log"] as? [[String: Any]])?.first), "\(answer.json)")
        }
    }

    @Test func showsNoSecretAndNoPath() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(answer: { _ in 400 }) { receiver in
                let gateway = try await Gateway.start(
                    in: directory, config: Self.config(receiver.url),
                    environment: Self.environment.merging(["APP": "app-token"]) { $1 })
                let accepted = try await gateway.post(
                    Data(#"{"aps":{"alert":"Hi"}}"#.utf8), headers: [("authorization", "Bearer app-token")])
                #expect(accepted.status == 202)
                let (attempt, text) = try await Self.attempt(gateway, "admin-token")
                let request = try #require(attempt["request"] as? [String: Any])
                #expect(request["method"] as? String == "POST" && (request["bytes"] as? Int ?? 0) > 100)
                #expect(request["url"] as? String == "http://\(receiver.address)/[hidden]")
                let headers = try #require(request["headers"] as? [String: String])
                #expect(headers["webhook-id"] == accepted.json["id"] as? String)
                for name in ["x-key", "x-tenant", "webhook-signature"] {
                    #expect(headers[name] == "[hidden]", "\(name)")
                }
                #expect((attempt["response"] as? [String: Any])?["status"] as? Int == 400)
                for secret in ["hidden-key", "hidden-tenant", "hidden-query", "v1,"] {
                    #expect(!text.contains(secret), "\(secret)")
                }
                let (masked, _) = try await Self.attempt(gateway, "rita-token")
                let fields = try #require((masked["response"] as? [String: Any])?["headers"] as? [String: String])
                #expect(Set(fields.values) == ["[hidden]"])
                let list = try await gateway.request("GET", "/v1/events", token: "rita-token")
                let event = try #require((list.json["events"] as? [[String: Any]])?.first)
                #expect(event["routes"] as? [String] == ["everything"])
                #expect(await gateway.stop() == 0)
            }
        }
    }
}
