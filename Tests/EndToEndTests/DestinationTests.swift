import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Destinations in the operations API: their state, measurements and pauses.
@Suite(.timeLimit(.minutes(2))) struct DestinationTests {
    private let payload = Data(#"{"aps":{"alert":"Hi"}}"#.utf8)

    private static func show(_ gateway: Gateway, token: String? = nil) async throws -> [String: Any] {
        let answer = try await gateway.request("GET", "/v1/destinations/crm", token: token)
        #expect(answer.status == 200)
        return answer.json
    }

    @Test func showsWhatTheLaneMeasured() async throws {
        try await Gateway.run { gateway, receiver, _ in
            let before = try await Self.show(gateway)
            #expect(before["state"] as? String == "active" && before["cause"] == nil && before["latencyMs"] == nil)
            #expect(before["inFlight"] as? Int == 0 && before["held"] as? Int == 0)
            #expect(try await gateway.post(payload).status == 202)
            _ = await receiver.next(1)
            while try await Self.show(gateway)["lastSuccess"] == nil {}
            let shown = try await Self.show(gateway)
            let latency = try #require(shown["latencyMs"] as? [String: Int])
            #expect(Set(latency.keys) == ["p50", "p95", "p99"])
            #expect((shown["lastSuccess"] as? [String: Any])?["status"] as? Int == 204 && shown["lastFailure"] == nil)
            #expect((shown["breaker"] as? [String: Any])?["state"] as? String == "closed")
            #expect((shown["rate"] as? [String: Any])?["limit"] == nil)
            #expect((shown["url"] as? String)?.hasPrefix("http://127.0.0.1:") == true)
            #expect(try await gateway.request("GET", "/v1/destinations/other").status == 404)
        }
    }

    @Test func anOpenBreakerIsItsOwnState() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(answer: { _ in 503 }) { receiver in
                let config = """
                    { "egress": { "allow": ["127.0.0.0/8"] },
                      "destinations": { "crm": {
                        "url": "\(receiver.url)/path?key=secret", "secret": "env:WEBHOOK_SECRET", "retry": { "base": "1h" }, "breaker": { "failures": 1, "probe": "1h" } } },
                      "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
                    """
                let gateway = try await Gateway.start(in: directory, config: config)
                #expect(try await gateway.post(payload).status == 202)
                while try await Self.show(gateway)["until"] == nil {}
                let shown = try await Self.show(gateway)
                #expect(shown["state"] as? String == "breaker_open" && shown["cause"] as? String == "breaker")
                let breaker = try #require(shown["breaker"] as? [String: Any])
                #expect(breaker["state"] as? String == "open" && breaker["failures"] as? Int == 1)
                #expect((breaker["probeAt"] as? String)?.hasPrefix("20") == true)
                #expect((shown["lastFailure"] as? [String: Any])?["status"] as? Int == 503)
                #expect(shown["url"] as? String == "\(receiver.url)/path", "the query may be a secret")
                let metrics = try await gateway.get("/metrics", keeping: 200_000).text
                #expect(metrics.contains(#"signalbox_destination_state{destination="crm",state="breaker_open"} 1"#))
                let list = try await binary.run(["destinations", "list", "--json"], in: directory)
                #expect(list.output.contains(#""state":"breaker_open","cause":"breaker""#), "\(list.output)")
                #expect(!list.output.contains("secret"))
                #expect(await gateway.stop() == 0)
            }
        }
    }

    @Test func pathsAreContent() async throws {
        let config = """
            "admin": { "tokens": { "rita": { "bearer": "env:RITA", "role": "reader", "content": false } } },
            "sources": { "app": { "auth": { "bearer": ["env:APP"] } } },
            """
        try await Gateway.run(config: config, environment: ["RITA": "rita-token", "APP": "a"]) { gateway, _, _ in
            let url = try #require(try await Self.show(gateway, token: "rita-token")["url"] as? String)
            #expect(url.hasPrefix("http://127.0.0.1:") && url.hasSuffix("/[hidden]"))
        }
    }

    @Test func aPauseHasAReasonAndAnEnd() async throws {
        try await Gateway.run { gateway, receiver, directory in
            let path = "/v1/destinations/crm/pause?reason=moving&until="
            for text in ["soon", "0s", "400d", "2001-01-01T00:00:00Z"] {
                #expect(try await gateway.request("POST", path + text).status == 400, "\(text)")
            }
            let paused = try await gateway.request("POST", path + "1h")
            #expect(paused.status == 200 && paused.json["state"] as? String == "paused")
            let shown = try await Self.show(gateway)
            #expect(shown["cause"] as? String == "paused" && shown["reason"] as? String == "moving")
            #expect(shown["until"] as? String == paused.json["until"] as? String)
            #expect(try await gateway.post(payload).status == 202)
            let wait = try await gateway.get("/v1/deliveries/1").text
            #expect(wait.contains(#""waitingFor":{"reason":"paused""#), "\(wait)")
            let arguments = ["destinations", "pause", "crm", "--until", "1s", "--reason", "shorter"]
            #expect(try await binary.run(arguments, in: directory).status == 0)
            // The gateway resumes it by itself.
            #expect(await receiver.next(1).count == 1)
            let rows = try await gateway.request("GET", "/v1/actions").json["actions"] as? [[String: Any]]
            let actors = ["gateway", "cli:\(getuid())"] + Array(repeating: "local", count: 5)
            #expect(rows?.compactMap { $0["actor"] as? String } == actors)
            #expect(rows?.first?["operation"] as? String == "destinations.resume")
            #expect(rows?.first?["via"] as? String == "gateway")
        }
    }
}
