import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Bulk changes over HTTP: a preview, then a run that changes exactly what it counted.
@Suite(.timeLimit(.minutes(3))) struct BulkTests {
    private static let tokens = """
        "sources": { "app": { "auth": { "bearer": ["env:APP"] } } },
        "admin": { "auth": { "bearer": ["env:ADMIN"] }, "tokens": {
            "grafana": { "bearer": "env:GRAFANA", "role": "metrics" },
            "ann": { "bearer": "env:ANN", "role": "operator" } } },
        """
    private static let environment = [
        "APP": "app-token", "ADMIN": "admin-token", "GRAFANA": "grafana-token", "ANN": "ann-token",
    ]

    /// A gateway whose destination refuses every event for good.
    private static func run(_ body: @escaping @Sendable (Gateway) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(answer: { _ in 400 }) { receiver in
                let gateway = try await Gateway.start(
                    in: directory, config: Gateway.config(to: receiver.url, more: tokens), environment: environment)
                try await body(gateway)
                #expect(await gateway.stop() == 0)
                let audit = try await binary.run(["audit"], in: directory, environment: environment)
                #expect(audit.output.hasSuffix("Ledger consistent.\n"))
            }
        }
    }

    private static func addDead(_ count: Int, _ gateway: Gateway, after before: Int = 0) async throws {
        let lines = String(repeating: #"{"aps":{"alert":"x"}}"# + "\n", count: count)
        let accepted = try await gateway.post(
            Data(lines.utf8), headers: [("authorization", "Bearer app-token")])
        #expect(accepted.status == 202)
        while try await dead(gateway) != before + count {}
    }

    private static func dead(_ gateway: Gateway) async throws -> Int {
        let crm = try await gateway.request("GET", "/v1/destinations/crm", token: "ann-token")
        return try #require(crm.json["dead"] as? Int, "\(crm)")
    }

    private static func bulk(
        _ change: String, _ body: String, _ gateway: Gateway, token: String = "ann-token"
    ) async throws -> Gateway.Answer {
        try await gateway.request("POST", "/v1/deliveries/\(change)", body, token: token)
    }

    @Test func retriesExactlyWhatThePreviewCounted() async throws {
        try await Self.run { gateway in
            try await Self.addDead(620, gateway)
            let filter = #""filter":{"destination":"crm","vendor":"unknown","status":"4xx"}"#
            let preview = try await Self.bulk("retry", "{\(filter),\"dryRun\":true}", gateway)
            #expect(preview.status == 200 && preview.json["count"] as? Int == 620, "\(preview)")
            #expect(preview.json["byDestination"] as? [String: Int] == ["crm": 620])
            #expect(preview.json["through"] as? Int == 620)
            #expect((preview.json["oldest"] as? String)?.hasPrefix("20") == true)
            #expect(try await Self.dead(gateway) == 620, "a preview changes nothing")
            let page = try await Reply(gateway.url + "/metrics", ["--header", "authorization: Bearer grafana-token"])
            let none = #"signalbox_actions_total{operation="deliveries.retry",result="done"} 0"#
            #expect(String(decoding: page.body, as: UTF8.self).contains(none))
            // The list has as many.
            var (listed, cursor) = (0, "")
            repeat {
                let path = "/v1/deliveries?state=dead&destination=crm&status=400&limit=500\(cursor)"
                let page = try await gateway.request("GET", path, token: "ann-token").json
                listed += (page["deliveries"] as? [Any])?.count ?? 0
                cursor = (page["next"] as? String).map { "&cursor=\($0)" } ?? ""
            } while !cursor.isEmpty
            #expect(listed == 620)
            try await Self.addDead(50, gateway, after: 620)
            let token = try #require(preview.json["confirm"] as? String)
            // A spread keeps most of them waiting, so that they can be counted.
            let run = #"{\#(filter),"confirm":"\#(token)","reason":"fixed","spread":86400}"#
            let done = try await Self.bulk("retry", run, gateway)
            #expect(done.status == 200 && done.json["due"] as? Int == 620, "\(done)")
            let rows = try await gateway.request("GET", "/v1/actions", token: "ann-token").json["actions"]
            let row = try #require((rows as? [[String: Any]])?.first)
            #expect(row["count"] as? Int == 620 && row["reason"] as? String == "fixed")
            #expect(row["actor"] as? String == "ann" && row["operation"] as? String == "deliveries.retry")
            let parameters = try #require(row["parameters"] as? [String: String])
            #expect(parameters["status"] == "4xx" && parameters["spread"] == "86400" && parameters["state"] == "dead")
        }
    }

    @Test func rejectsAMisspeltFilterWithoutAChange() async throws {
        try await Self.run { gateway in
            try await Self.addDead(3, gateway)
            let misspelt = try await Self.bulk("retry", #"{"filter":{"destinaton":"x"},"dryRun":true}"#, gateway)
            #expect(misspelt.status == 400)
            #expect((misspelt.json["detail"] as? String)?.contains("did you mean destination?") == true)
            for path in ["/v1/deliveries?destination=x", "/v1/deliveries/retry?destination=x"] {
                let method = path.contains("retry") ? "POST" : "GET"
                let unknown = try await gateway.request(method, path, token: "ann-token")
                #expect(unknown.status == 404 && unknown.json["code"] as? String == "destination-not-found", "\(path)")
            }
            let unknown = try await Self.bulk("retry", #"{"filter":{"destination":"x"},"dryRun":true}"#, gateway)
            #expect(unknown.status == 404)
            let twice = try await gateway.request(
                "POST", "/v1/deliveries/retry?state=dead", #"{"filter":{},"dryRun":true}"#, token: "ann-token")
            #expect(twice.status == 400)
            #expect(try await Self.dead(gateway) == 3)
        }
    }

    @Test func aPurgeNeedsAnAdminAReasonAndItsOwnPreview() async throws {
        try await Self.run { gateway in
            try await Self.addDead(5, gateway)
            let dryRun = #"{"filter":{"state":"dead"},"dryRun":true}"#
            let refused = try await Self.bulk("purge", dryRun, gateway)
            #expect(refused.status == 403 && refused.json["code"] as? String == "role-insufficient")
            let preview = try await Self.bulk("purge", dryRun, gateway, token: "admin-token")
            let token = try #require(preview.json["confirm"] as? String, "\(preview)")
            func purge(_ filter: String, _ reason: String = "") async throws -> Gateway.Answer {
                let body = #"{"filter":\#(filter),"confirm":"\#(token)"\#(reason)}"#
                return try await Self.bulk("purge", body, gateway, token: "admin-token")
            }
            let (dead, reason) = (#"{"state":"dead"}"#, #","reason":"old""#)
            let unreasoned = try await purge(dead)
            #expect(unreasoned.status == 400 && unreasoned.json["code"] as? String == "reason-required")
            let other = try await purge(#"{"state":"waiting"}"#, reason)
            #expect(other.status == 409 && other.json["code"] as? String == "confirm-mismatch")
            let retry = #"{"filter":\#(dead),"confirm":"\#(token)"}"#
            #expect(try await Self.bulk("retry", retry, gateway).status == 409)
            #expect(try await Self.dead(gateway) == 5)
            let done = try await purge(dead, reason)
            #expect(done.status == 200 && done.json["removed"] as? Int == 5)
            #expect(try await Self.dead(gateway) == 0)
            let rows =
                try await gateway.request(
                    "GET", "/v1/actions?operation=deliveries.purge", token: "ann-token"
                ).json["actions"] as? [[String: Any]]
            #expect(
                rows?.compactMap { $0["result"] as? String } == [
                    "done", "confirm-mismatch", "reason-required", "role-insufficient",
                ])
            #expect(rows?.first?["count"] as? Int == 5 && rows?.first?["reason"] as? String == "old")
            #expect(!"\(rows ?? [])".contains(token))
        }
    }

    /// The form with a query acts at once.
    @Test func aQueryWithoutABodyActsAtOnce() async throws {
        try await Self.run { gateway in
            try await Self.addDead(4, gateway)
            let pause = try await gateway.request("POST", "/v1/destinations/crm/pause", token: "ann-token")
            #expect(pause.status == 200)
            let path = "/v1/deliveries/retry?state=dead&status=400"
            let retried = try await gateway.request("POST", path, token: "ann-token")
            #expect(retried.status == 200 && retried.json["due"] as? Int == 4)
            #expect(try await Self.dead(gateway) == 0)
        }
    }
}
