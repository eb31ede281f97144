import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Stored events over HTTP and on the command line.
@Suite(.timeLimit(.minutes(3))) struct EventTests {
    private static let tokens = """
        "admin": { "auth": { "bearer": ["env:ADMIN"] }, "tokens": {
            "rita": { "bearer": "env:RITA", "role": "reader", "content": false },
            "rob": { "bearer": "env:ROB", "role": "reader" },
            "ann": { "bearer": "env:ANN", "role": "operator" } } },
        "sources": { "app": { "auth": { "bearer": ["env:APP"] } } },
        """
    private static let environment = [
        "ADMIN": "admin-token", "RITA": "rita-token", "ROB": "rob-token", "ANN": "ann-token", "APP": "app-token",
    ]
    private static let payload =
        #"{"aps":{"alert":{"title":"Secret title","body":"Hi"}},"ab":{"c":"NjVmMF9jbXA="},"app":"flag"}"#

    /// A gateway with roles. `kept`: of `console.keepPayloads`.
    private static func run(
        keeping kept: String = "none",
        _ body: @escaping @Sendable (Gateway, ReceivingServer, _ directory: String) async throws -> Void
    ) async throws {
        let console = #""console": { "keepPayloads": "\#(kept)" },"#
        try await Gateway.run(config: tokens + console, environment: environment, body)
    }

    private static func post(_ payload: String, to gateway: Gateway) async throws -> String {
        let answer = try await gateway.post(
            Data(payload.utf8), headers: [("authorization", "Bearer app-token")])
        #expect(answer.status == 202)
        return try #require(answer.json["id"] as? String)
    }

    private static func get(
        _ path: String, _ gateway: Gateway, token: String = "rob-token", status: Int = 200
    ) async throws -> [String: Any] {
        let answer = try await gateway.request("GET", path, token: token)
        #expect(answer.status == status, "\(path): \(answer.json)")
        return answer.json
    }

    private static func events(_ query: String, _ gateway: Gateway, token: String = "rob-token") async throws
        -> [[String: Any]]
    {
        try await get("/v1/events" + query, gateway, token: token)["events"] as? [[String: Any]] ?? []
    }

    // MARK: Lists

    @Test func listsEventsByTheirConditions() async throws {
        try await Self.run { gateway, receiver, directory in
            let braze = try await Self.post(Self.payload, to: gateway)
            let plain = try await Self.post(#"{"aps":{"content-available":1},"x":"y"}"#, to: gateway)
            #expect(await receiver.next(2).count == 2)
            let all = try await Self.events("", gateway)
            #expect(all.compactMap { $0["id"] as? String } == [plain, braze])
            let first = try #require(all.last)
            #expect(first["vendor"] as? String == "braze" && first["kind"] as? String == "alert")
            #expect(first["source"] as? String == "app" && first["title"] as? String == "Secret title")
            #expect((first["bytes"] as? Int ?? 0) > 100)
            for query in [
                "?vendor=braze", "?kind=alert&source=app",
                "?pattern=%7B%22data%22%3A%7B%22vendor%22%3A%5B%22braze%22%5D%7D%7D",
                "?type=io.signalbox.notification.received&vendor=braze", "?since=2020-01-01T00:00:00Z&kind=alert",
            ] {
                #expect(try await Self.events(query, gateway).compactMap { $0["id"] as? String } == [braze], "\(query)")
            }
            for query in ["?vendor=bra", "?routed=none", "?warning=none", "?until=2020-01-01T00:00:00Z", "?source=x"] {
                #expect(try await Self.events(query, gateway).isEmpty, "\(query)")
            }
            let search = try await gateway.request(
                "POST", "/v1/events/search?limit=5", #"{"pattern":{"data":{"kind":["silent"]}}}"#, token: "rob-token")
            #expect((search.json["events"] as? [[String: Any]])?.count == 1 && search.json["complete"] as? Bool == true)
            let page = try await Self.get("/v1/events?limit=1", gateway)
            let next = try #require(page["next"] as? String)
            #expect(try await Self.events("?cursor=\(next)", gateway).compactMap { $0["id"] as? String } == [braze])
            let table = try await binary.run(
                ["events", "list", "--vendor", "braze"], in: directory, environment: Self.environment)
            #expect(table.output.contains(braze) && !table.output.contains(plain))
            #expect(table.output.contains("Secret title"))
        }
    }

    @Test func refusesInvalidConditions() async throws {
        try await Self.run { gateway, _, _ in
            let queries = ["routed=some", "pattern=%7B", "pattern=%5B%5D", "since=today", "venodr=x", "cursor=ZDE"]
            for query in queries.map({ "?" + $0 }) {
                _ = try await Self.get("/v1/events" + query, gateway, status: 400)
            }
            let syntax = try await Self.get("/v1/events?pattern=%7B%0A%22data%22%3A%7D", gateway, status: 400)
            #expect(syntax["code"] as? String == "pattern-invalid" && syntax["line"] as? String == "2")
            let wrong = try await gateway.request(
                "POST", "/v1/events/search", #"{"pattern":{"data":{"kind":"alert"}}}"#, token: "rob-token")
            #expect(wrong.status == 400 && wrong.json["pointer"] as? String == "/pattern/data/kind")
            let large = try await gateway.request(
                "POST", "/v1/events/search", #"{"pattern":{"data":{"kind":[1e400]}}}"#, token: "rob-token")
            #expect((large.json["detail"] as? String)?.contains("does not fit 64 bits") == true, "\(large)")
            #expect(large.json["line"] as? String == "1" && large.json["column"] as? String == "29")
            #expect(large.json["title"] as? String == syntax["title"] as? String)
            for body in ["[]", "{", #"{"patern":{}}"#] {
                let answer = try await gateway.request("POST", "/v1/events/search", body, token: "rob-token")
                #expect(answer.status == 400 && answer.json["code"] as? String == "pattern-invalid", "\(body)")
            }
        }
    }

    /// An event that no route takes is listed, with the reason of each route.
    @Test func showsWhyNoRouteTookAnEvent() async throws {
        try await withTemporaryDirectory { directory in
            let config = """
                { "destinations": { "inbox": { "builtin": "inbox" } },
                  "routes": [ { "name": "braze", "match": { "data": { "vendor": ["braze"] } }, "to": ["inbox"] } ] }
                """
            let gateway = try await Gateway.start(in: directory, config: config)
            let answer = try await gateway.post(Data(#"{"aps":{"alert":"Hi"}}"#.utf8))
            let id = try #require(answer.json["id"] as? String)
            let braze = Data(#"{"aps":{"alert":"Hi"},"ab":{"c":"NjVmMF9jbXA="}}"#.utf8)
            #expect(try await gateway.post(braze).status == 202)
            let events = try await gateway.request("GET", "/v1/events?routed=none").json["events"]
            #expect((events as? [[String: Any]])?.compactMap { $0["id"] as? String } == [id])
            let detail = try await gateway.request("GET", "/v1/events/\(id)").json
            let route = try #require((detail["routes"] as? [[String: Any]])?.first)
            #expect(route["matched"] as? Bool == false && route["pointer"] as? String == "/data/vendor")
            #expect(route["found"] as? String == "unknown" && (detail["deliveries"] as? [Any])?.isEmpty == true)
            let shown = try await binary.run(["events", "show", id], in: directory)
            #expect(shown.output.contains("/data/vendor is \"unknown\"") && shown.output.contains("Deliveries: none"))
            #expect(try await binary.run(["events", "show", "no-such"], in: directory).status == 1)
            let list = try await binary.run(["events", "list", "--unrouted", "--json"], in: directory)
            #expect(list.output.contains(id) && list.output.split(separator: "\n").count == 1)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func anUnknownEventIsNotFound() async throws {
        try await Self.run { gateway, _, _ in
            for path in ["", "/explain"] {
                let problem = try await Self.get("/v1/events/0193\(path)", gateway, status: 404)
                #expect(problem["code"] as? String == "event-not-found")
            }
            let payload = try await Self.get("/v1/events/0193/payload", gateway, token: "ann-token", status: 404)
            #expect(payload["code"] as? String == "event-not-found")
            let send = try await gateway.request("POST", "/v1/events/0193/send?destination=crm", token: "ann-token")
            #expect(send.status == 404 && send.json["code"] as? String == "event-not-found")
        }
    }

    // MARK: Payloads

    @Test func aKeptPayloadIsServedAndExplained() async throws {
        try await Self.run(keeping: "all") { gateway, receiver, _ in
            let id = try await Self.post(Self.payload, to: gateway)
            #expect(await receiver.next(1).count == 1)
            let reply = try await Reply(
                gateway.url + "/v1/events/\(id)/payload", "-H", "authorization: Bearer ann-token")
            #expect(reply.status == 200 && reply.body == Array(Self.payload.utf8))
            #expect(reply.headers["content-type"] == "application/octet-stream")
            #expect(reply.headers["content-disposition"] == "attachment; filename=\"\(id).json\"")
            #expect(reply.headers["x-content-type-options"] == "nosniff")
            #expect(reply.headers["cache-control"] == "no-store")
            #expect(try await Self.get("/v1/events/\(id)", gateway)["payload"] as? String == "kept")
            _ = try await Self.get("/v1/events/\(id)/payload", gateway, status: 403)
            let explained = try await Self.get("/v1/events/\(id)/explain", gateway)
            let links = explained["provenance"] as? [[String: Any]] ?? []
            let title = links.filter { $0["event"] as? String == "/data/content/title" }
            #expect(title.compactMap { $0["raw"] as? String } == ["/aps/alert/title"])
            #expect(title.compactMap { $0["how"] as? String } == ["copied"])
            #expect(explained["unread"] as? [String] == ["/app"] && explained["complete"] as? Bool == true)
            #expect((explained["event"] as? [String: Any])?["id"] as? String == id)
            let chosen = (explained["detectors"] as? [[String: Any]])?.first
            #expect(chosen?["name"] as? String == "braze" && chosen?["verdict"] as? String == "chosen")
        }
    }

    @Test func aPayloadThatIsGoneNamesTheSetting() async throws {
        try await Self.run { gateway, _, directory in
            let id = try await Self.post(Self.payload, to: gateway)
            #expect(try await Self.get("/v1/events/\(id)", gateway)["payload"] as? String == "gone")
            for (path, token) in [("payload", "ann-token"), ("explain", "rob-token")] {
                let problem = try await Self.get("/v1/events/\(id)/\(path)", gateway, token: token, status: 410)
                #expect(problem["code"] as? String == "payload-gone")
                #expect((problem["detail"] as? String)?.contains("console.keepPayloads") == true)
            }
            let own = try await gateway.request("POST", "/v1/explain?source=app", Self.payload, token: "rob-token")
            #expect(own.status == 200 && own.json["vendor"] as? String == "braze")
            #expect(try await gateway.request("POST", "/v1/explain", "{", token: "rob-token").status == 400)
            let file = directory + "/payload.json"
            try Data(Self.payload.utf8).write(to: URL(fileURLWithPath: file))
            let command = try await binary.run(
                ["explain", "--json", file], in: directory, environment: Self.environment)
            #expect(command.status == 0 && command.output.contains(#""raw":"/aps/alert/title""#))
        }
    }

    // MARK: Content

    /// Neither the API nor the reasons of routes reveal a text.
    @Test func aTokenWithoutContentSeesTheStructureOnly() async throws {
        try await Self.run(keeping: "all") { gateway, receiver, _ in
            let id = try await Self.post(Self.payload, to: gateway)
            #expect(await receiver.next(1).count == 1)
            for path in ["/v1/events", "/v1/events/\(id)", "/v1/events/\(id)/explain", "/v1/deliveries"] {
                let text = "\(try await Self.get(path, gateway, token: "rita-token"))"
                #expect(!text.contains("Secret title") && text.contains("braze"), "\(path)")
                if path != "/v1/deliveries" { #expect(text.contains("[hidden]"), "\(path)") }
            }
            let pattern = "/v1/events?pattern=%7B%7D"
            let refused = try await Self.get(pattern, gateway, token: "rita-token", status: 403)
            #expect(refused["code"] as? String == "content-hidden")
            let explained = try await gateway.request("POST", "/v1/explain", Self.payload, token: "rita-token")
            #expect(explained.status == 200 && !"\(explained.json)".contains("Secret title"))
        }
    }

    /// Texts that would take over a page or a terminal arrive as data, and lists stay small.
    @Test func hostileTextsStayText() async throws {
        try await Self.run { gateway, _, directory in
            let texts = [
                #"<img src=x onerror=alert(1)></script>"#, #"\u0000\u001b[2J\u202Eabc"#, #"\ud800x"#,
                "z" + String(repeating: #"\u0335"#, count: 3000), String(repeating: "long ", count: 20_000),
            ]
            for text in texts {
                let answer = try await gateway.post(
                    Data(#"{"aps":{"alert":{"title":"\#(text)"}}}"#.utf8),
                    headers: [("authorization", "Bearer app-token")])
                #expect(answer.status == 202 || text.contains("ud800"))
            }
            let reply = try await Reply(gateway.url + "/v1/events", "-H", "authorization: Bearer rob-token")
            #expect(reply.status == 200 && reply.headers["content-type"]?.contains("application/json") == true)
            #expect(reply.body.count < 10_000)
            let json = try JSONSerialization.jsonObject(with: Data(reply.body)) as? [String: Any]
            let titles = (json?["events"] as? [[String: Any]] ?? []).compactMap { $0["title"] as? String }
            #expect(titles.contains(#"<img src=x onerror=alert(1)></script>"#))
            #expect(titles.allSatisfy { $0.unicodeScalars.count <= 301 })
            let table = try await binary.run(["events", "list"], in: directory, environment: Self.environment)
            #expect(!table.output.contains("\u{1B}") && !table.output.contains("\0"))
            #expect(!table.output.unicodeScalars.contains("\u{202E}"))
        }
    }

    // MARK: Sending again

    @Test func anEventIsSentOnceMore() async throws {
        try await Self.run { gateway, receiver, directory in
            let id = try await Self.post(Self.payload, to: gateway)
            let first = try #require(await receiver.next(1).first)
            let path = "/v1/events/\(id)/send"
            let missing = try await gateway.request("POST", path, token: "ann-token")
            #expect(missing.status == 400)
            let unknown = try await gateway.request("POST", path + "?destination=x", token: "ann-token")
            #expect(unknown.status == 404 && unknown.json["code"] as? String == "destination-not-found")
            #expect(try await gateway.request("POST", path + "?destination=crm", token: "rob-token").status == 403)
            let sent = try await gateway.request("POST", path + "?destination=crm&reason=lost", token: "ann-token")
            let delivery = try #require(sent.json["delivery"] as? [String: Any])
            #expect(sent.status == 200 && delivery["manual"] as? Bool == true)
            let second = try #require(await receiver.next(1).first)
            #expect(second.id == first.id && second.body == first.body)
            let detail = try await Self.get("/v1/events/\(id)", gateway)
            let manual = (detail["deliveries"] as? [[String: Any]] ?? []).map { $0["manual"] as? Bool ?? false }
            #expect(manual == [false, true])
            let actions = try await Self.get("/v1/actions?operation=events.send", gateway)
            let rows = actions["actions"] as? [[String: Any]] ?? []
            #expect(rows.compactMap { $0["result"] as? String }.first == "done")
            #expect(rows.first?["target"] as? String == id && rows.first?["reason"] as? String == "lost")
            let audit = try await binary.run(["audit"], in: directory, environment: Self.environment)
            #expect(audit.status == 0, "\(audit.output)")
        }
    }

    @Test func showsTapsOnANotification() async throws {
        try await Self.run { gateway, receiver, directory in
            let id = try await Self.post(Self.payload, to: gateway)
            #expect(await receiver.next(1).count == 1)
            let report =
                #"{"eventId":"\#(id)","actionIdentifier":"default","deviceTime":"2026-11-20T21:29:00Z"}"#
            let tap = try await gateway.request("POST", "/v1/interactions", report, token: "app-token")
            #expect(tap.status == 202)
            let interactions = try await Self.get("/v1/events/\(id)", gateway)["interactions"] as? [[String: Any]] ?? []
            #expect(interactions.compactMap { $0["action"] as? String } == ["default"])
            #expect(interactions.first?["id"] as? String == tap.json["id"] as? String)
            #expect(interactions.first?["outcome"] as? String == "passed")
            let shown = try await binary.run(["events", "show", id], in: directory, environment: Self.environment)
            #expect(shown.output.contains("Interactions") && shown.output.contains("attempt 1"))
        }
    }

    @Test func aReceiversReasonIsHiddenWithTheContent() async throws {
        try await Self.run { gateway, _, _ in
            let hold = try await gateway.request("POST", "/v1/destinations/crm/pause?reason=Secret", token: "ann-token")
            #expect(hold.status == 200)
            _ = try await Self.post(Self.payload, to: gateway)
            for (token, isHidden) in [("rob-token", false), ("rita-token", true)] {
                let list = try await Self.get("/v1/deliveries", gateway, token: token)
                let delivery = try #require((list["deliveries"] as? [[String: Any]])?.first)
                #expect(delivery["blockedBy"] as? String == "paused")
                #expect("\(delivery)".contains("Secret") != isHidden)
            }
        }
    }
}
