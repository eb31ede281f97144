import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Roles of operators and the log of their actions, over HTTP and from the command line.
@Suite(.timeLimit(.minutes(15))) struct RoleTests {
    private static let config = """
        "sources": { "app": { "auth": { "bearer": ["env:APP"] } } },
        "admin": { "auth": { "bearer": ["env:ADMIN"] }, "tokens": {
            "grafana": { "bearer": "env:GRAFANA", "role": "metrics" },
            "rita": { "bearer": "env:RITA", "role": "reader", "content": false },
            "ann": { "bearer": "env:ANN", "role": "operator" } } },
        """
    private static let environment = [
        "APP": "app-token", "ADMIN": "admin-token", "GRAFANA": "grafana-token", "RITA": "rita-token",
        "ANN": "ann-token",
    ]

    private static func run(
        _ body: @escaping @Sendable (Gateway, _ directory: String) async throws -> Void
    ) async throws {
        try await Gateway.run(config: config, environment: environment) { gateway, _, directory in
            try await body(gateway, directory)
        }
    }

    private static func actions(_ gateway: Gateway, _ query: String = "") async throws -> [[String: Any]] {
        let answer = try await gateway.request("GET", "/v1/actions" + query, token: "admin-token")
        #expect(answer.status == 200)
        return answer.json["actions"] as? [[String: Any]] ?? []
    }

    @Test(arguments: [
        ("grafana-token", ["/metrics": 200, "/v1/whoami": 200, "/v1/deliveries": 403, "/v1/actions": 403]),
        ("rita-token", ["/metrics": 200, "/v1/deliveries": 200, "/v1/actions": 200, "/v1/categories": 200]),
        ("app-token", ["/metrics": 401, "/v1/deliveries": 401, "/v1/categories": 200]),
        ("wrong", ["/metrics": 401, "/v1/whoami": 401, "/v1/categories": 401]),
    ])
    func aRoleReadsWhatItIncludes(token: String, statuses: [String: Int]) async throws {
        try await Self.run { gateway, _ in
            for (path, status) in statuses {
                #expect(try await gateway.request("GET", path, token: token).status == status, "\(path)")
            }
            let pause = try await gateway.request("POST", "/v1/destinations/crm/pause", token: token)
            #expect(pause.status == (token.hasPrefix("grafana") || token.hasPrefix("rita") ? 403 : 401))
            let destinations = try await gateway.request("GET", "/v1/destinations", token: "admin-token")
            let crm = (destinations.json["destinations"] as? [[String: Any]])?.first
            #expect(crm?["state"] as? String == "active")
        }
    }

    /// By the path of the router and by the direct one.
    @Test func tokensOfAppsAndSendersDiffer() async throws {
        let config = """
            "sources": { "app": { "auth": { "bearer": ["env:APP"] }, "may": ["interactions", "categories"] },
                         "backend": { "auth": { "bearer": ["env:ANN"] }, "may": ["notifications"] } },
            """
        try await Gateway.run(config: config, environment: Self.environment) { gateway, _, _ in
            let payload = #"{"aps":{"alert":"Hello"}}"#
            func post(_ path: String, _ token: String, _ body: String) async throws -> Reply {
                try await Reply(gateway.url + path, "-H", "authorization: Bearer " + token, "-d", body)
            }
            for path in ["/v1/notifications", "/v1/sources/app/notifications", "/v1/inapp/triggers"] {
                let refused = try await post(path, "app-token", payload)
                #expect(refused.status == 403, "\(path)")
                let text = String(decoding: refused.body, as: UTF8.self)
                #expect(text.contains(#""code":"source-forbidden""#) && text.contains(#"\"may\""#), "\(path)")
            }
            #expect(try await post("/v1/notifications", "ann-token", payload).status == 202)
            #expect(try await post("/v1/interactions", "ann-token", "{}").status == 403)
            #expect(try await post("/v1/interactions", "app-token", "{}").status == 422)
            #expect(try await gateway.request("GET", "/v1/categories", token: "app-token").status == 200)
            #expect(try await gateway.request("GET", "/v1/categories", token: "ann-token").status == 403)
            let message = #"{"message":{"token":"abc","notification":{"title":"a"}}}"#
            let google = try await post("/v1/projects/p/messages:send", "app-token", message)
            #expect(google.status == 403)
            #expect(String(decoding: google.body, as: UTF8.self).contains("PERMISSION_DENIED"))
            let expo = try await post("/--/api/v2/push/send", "app-token", #"{"to":"ExponentPushToken[x]"}"#)
            #expect(expo.status == 403)
        }
    }

    @Test(arguments: ["Forwarded: for=192.0.2.1", "X-Forwarded-For: 192.0.2.1", "X-Real-IP: 192.0.2.1", "Via: 1.1 a"])
    func aGatewayWithoutSourcesIsClosedBehindAProxy(field: String) async throws {
        try await Gateway.run { gateway, _, _ in
            for (path, status) in [
                ("/v1/notifications", 403), ("/v1/interactions", 403),
                ("/3/device/" + String(repeating: "ab", count: 32), 403),
                ("/v1/projects/p/messages:send", 403), ("/--/api/v2/push/send", 403), ("/v1/routes/test", 403),
            ] {
                let reply = try await Reply(
                    gateway.url + path, "-H", field, "-H", "apns-topic: com.example.app", "-d", "{}")
                #expect(reply.status == status, "\(path)")
                let text = String(decoding: reply.body, as: UTF8.self)
                // Apple's answers have no text of the gateway.
                #expect(path.hasPrefix("/3/") || text.contains("sources"), "\(path): \(text)")
            }
            #expect(try await gateway.request("GET", "/v1/whoami").status == 200)
        }
    }

    @Test func saysWhoAsks() async throws {
        try await Self.run { gateway, _ in
            let rita = try await gateway.request("GET", "/v1/whoami", token: "rita-token").json
            #expect(rita["name"] as? String == "rita" && rita["role"] as? String == "reader")
            #expect(rita["content"] as? Bool == false && rita["open"] as? Bool == false)
            #expect((rita["version"] as? String)?.isEmpty == false)
        }
        try await Gateway.run { gateway, _, _ in
            let local = try await gateway.request("GET", "/v1/whoami").json
            #expect(local["name"] as? String == "local" && local["role"] as? String == "admin")
            #expect(local["open"] as? Bool == true)
        }
    }

    @Test func recordsChangesAndRefusalsWithTheirActor() async throws {
        try await Self.run { gateway, directory in
            let path = "/v1/destinations/crm/pause?reason=moving%20day"
            #expect(try await gateway.request("POST", path, token: "rita-token").status == 403)
            #expect(try await gateway.request("POST", path, token: "wrong").status == 401)
            #expect(try await gateway.request("POST", path, token: "ann-token").status == 200)
            #expect(try await gateway.request("POST", "/v1/deliveries/9/retry", token: "ann-token").status == 404)
            let arguments = ["destinations", "resume", "crm", "--reason", "done"]
            #expect(try await binary.run(arguments, in: directory, environment: Self.environment).status == 0)
            let rows = try await Self.actions(gateway)
            #expect(
                rows.compactMap { $0["operation"] as? String } == [
                    "destinations.resume", "deliveries.retry", "destinations.pause", "destinations.pause",
                ])
            #expect(rows.compactMap { $0["actor"] as? String } == ["cli:\(getuid())", "ann", "ann", "rita"])
            #expect(rows.compactMap { $0["via"] as? String } == ["cli", "api", "api", "api"])
            #expect(
                rows.compactMap { $0["result"] as? String } == [
                    "done", "delivery-not-found", "done", "role-insufficient",
                ])
            #expect(rows.compactMap { $0["reason"] as? String } == ["done", "moving day", "moving day"])
            #expect(rows.compactMap { $0["target"] as? String } == ["crm", "9", "crm", "crm"])
            #expect(rows.last?["remote"] as? String == "127.0.0.1")
            #expect(try await Self.actions(gateway, "?actor=ann&operation=destinations.pause").count == 1)
            #expect(!"\(rows)".contains("token"))
        }
    }

    @Test func changesOfMemoryAreRecordedToo() async throws {
        try await Self.run { gateway, _ in
            let rule = #"{"answer":{"status":500}}"#
            #expect(try await gateway.request("PUT", "/v1/failures/a", rule, token: "ann-token").status == 201)
            #expect(try await gateway.request("DELETE", "/v1/failures/a", token: "ann-token").status == 200)
            #expect(try await gateway.request("PUT", "/v1/inapp/messages/m", "{}", token: "ann-token").status == 400)
            let rows = try await Self.actions(gateway)
            #expect(
                rows.compactMap { $0["operation"] as? String } == ["inapp.register", "failures.remove", "failures.put"])
            #expect(rows.compactMap { $0["result"] as? String } == ["inapp-malformed", "done", "done"])
        }
    }

    @Test func responsesHaveTheFieldsOfOperators() async throws {
        try await Self.run { gateway, _ in
            let token = ["-H", "authorization: Bearer admin-token"]
            let first = try await Reply(gateway.url + "/v1/deliveries", token)
            #expect(first.headers["cache-control"] == "no-store")
            let own = try #require(first.headers["x-request-id"])
            let second = try await Reply(gateway.url + "/v1/deliveries", token + ["-H", "x-request-id: abc-1"])
            #expect(second.headers["x-request-id"] == "abc-1" && own != "abc-1")
            let refused = try await Reply(gateway.url + "/v1/deliveries?limit=0", token + ["-H", "x-request-id: a b"])
            #expect(refused.status == 400 && refused.headers["cache-control"] == "no-store")
            #expect(refused.headers["x-request-id"].map { $0 != "a b" } == true)
            let categories = try await Reply(gateway.url + "/v1/categories", token)
            #expect(categories.headers["cache-control"] == "private, no-cache")
        }
    }

    @Test func countsWrongTokens() async throws {
        try await Self.run { gateway, _ in
            for token in ["wrong", "other"] {
                #expect(try await gateway.request("GET", "/v1/deliveries", token: token).status == 401)
            }
            #expect(try await gateway.request("POST", "/v1/notifications", "{}", token: "wrong").status == 401)
            let page = try await Reply(gateway.url + "/metrics", "-H", "authorization: Bearer grafana-token")
            let text = String(decoding: page.body, as: UTF8.self)
            #expect(text.contains(#"signalbox_auth_failures_total{endpoint="operator"} 2"#))
            #expect(text.contains(#"signalbox_auth_failures_total{endpoint="source"} 1"#))
        }
    }

    @Test func aTokenWithoutContentSeesNoTexts() async throws {
        try await Self.run { gateway, _ in
            let form =
                #"{"vendor":"own","kind":"modal","triggers":[{"type":"event","name":"buy"}],"reEligibility":"always","content":{"title":"Secret words"}}"#
            #expect(try await gateway.request("PUT", "/v1/inapp/messages/m", form, token: "ann-token").status == 201)
            let seen = try await gateway.request("GET", "/v1/inapp/messages/m", token: "ann-token").json
            let hidden = try await gateway.request("GET", "/v1/inapp/messages/m", token: "rita-token").json
            #expect("\(seen)".contains("Secret words") && !"\(hidden)".contains("Secret words"))
            #expect("\(hidden)".contains("[hidden]"))
            let explain = try await gateway.request("POST", "/v1/inapp/explain", "{}", token: "rita-token")
            #expect(explain.status == 403 && explain.json["code"] as? String == "content-hidden")
        }
    }

    /// The gateway makes the identifiers of these buttons of their values.
    @Test func aTokenWithoutContentSeesNoValuesInIdentifiers() async throws {
        let config = #""console": { "keepPayloads": "all" },"# + Self.config
        try await Gateway.run(config: config, environment: Self.environment) { gateway, _, _ in
            let payload = """
                {"aps":{"alert":"Hi","mutable-content":1},"notification-action":{"type":"openApp"},"category-actions":[
                  {"name":"Map","type":"url","value":"https://cars.example.com/boston/map"},
                  {"name":"Call","type":"dial","value":"+16175550100"}]}
                """
            let sent = try await gateway.request("POST", "/v1/notifications", payload, token: "app-token")
            let id = try #require(sent.json["id"] as? String)
            for path in ["/v1/categories", "/v1/events/\(id)", "/v1/events/\(id)/explain"] {
                let seenAnswer = try await gateway.request("GET", path, token: "ann-token").json
                let seen = "\(seenAnswer)"
                #expect(seen.contains("dial:+16175550100") && seen.contains("boston/map"), "\(path): \(seen)")
                let hiddenAnswer = try await gateway.request("GET", path, token: "rita-token").json
                let hidden = "\(hiddenAnswer)"
                #expect(hidden.contains("dial:[hidden]"), "\(path): \(hidden)")
                #expect(hidden.contains("url:https://cars.example.com/[hidden]"), "\(path): \(hidden)")
                #expect(!hidden.contains("16175550100") && !hidden.contains("boston"), "\(path): \(hidden)")
            }
        }
    }

    @Test func everyListRefusesWhatItDoesNotKnow() async throws {
        try await Gateway.run { gateway, _, _ in
            let lists = ["deliveries", "events", "actions", "captures", "categories", "inapp/messages"]
            for list in lists {
                for query in ["limit=0", "limit=501", "cursor=%21", "limt=5", "limit=5&limit=6"] {
                    let answer = try await gateway.request("GET", "/v1/\(list)?\(query)")
                    #expect(answer.status == 400, "\(list) \(query)")
                }
                #expect(try await gateway.request("GET", "/v1/\(list)?limit=500").status == 200, "\(list)")
            }
            let typo = try await gateway.request("GET", "/v1/delivery")
            #expect(typo.status == 404 && (typo.json["detail"] as? String)?.contains("payload") == false)
        }
    }
}
