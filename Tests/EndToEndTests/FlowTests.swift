import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Graph, pattern trials, config, ledger and media over HTTP, on the built binary.
@Suite(.timeLimit(.minutes(2))) struct FlowTests {
    private static let config = """
        "sources": { "app": { "auth": { "bearer": ["env:APP"] } } },
        "admin": { "auth": { "bearer": ["env:ADMIN"] }, "tokens": {
            "rita": { "bearer": "env:RITA", "role": "reader", "content": false },
            "bob": { "bearer": "env:BOB", "role": "admin", "content": false },
            "ann": { "bearer": "env:ANN", "role": "operator" } } },
        """
    private static let environment = [
        "APP": "app-token", "ADMIN": "admin-token", "RITA": "rita-token", "ANN": "ann-token",
        "BOB": "bob-token",
    ]

    private static func run(
        _ body: @escaping @Sendable (Gateway, _ directory: String) async throws -> Void
    ) async throws {
        try await Gateway.run(config: config, environment: environment) { gateway, receiver, directory in
            let payloads = #"{"aps":{"alert":"Secret words"}}"# + "\n" + #"{"aps":{"content-available":1}}"# + "\n"
            let accepted = try await gateway.post(
                Data(payloads.utf8), headers: [("authorization", "Bearer app-token")])
            #expect(accepted.status == 202)
            _ = await receiver.next(2)
            try await body(gateway, directory)
        }
    }

    @Test func theGraphCountsEachWay() async throws {
        try await Self.run { gateway, _ in
            let graph = try await gateway.request("GET", "/v1/routes/graph", token: "rita-token")
            #expect(graph.status == 200 && graph.json["folded"] as? Bool == false)
            let edges = try #require(graph.json["edges"] as? [[String: Any]])
            let words = edges.map { "\($0["from"] ?? "")>\($0["to"] ?? ""):\($0["count"] ?? "")" }
            #expect(
                words == [
                    "source:app>vendor:unknown:2", "vendor:unknown>route:everything:2",
                    "route:everything>destination:crm:2",
                ])
        }
    }

    @Test func aTrialNamesTheFieldAndTheValue() async throws {
        try await Self.run { gateway, _ in
            let body = #"{"pattern":{"data":{"kind":["alert"]}}}"#
            let trial = try await gateway.request("POST", "/v1/routes/match", body, token: "ann-token")
            #expect(trial.status == 200, "\(trial)")
            #expect(trial.json["seen"] as? Int == 2 && trial.json["matched"] as? Int == 1)
            let samples = try #require(trial.json["samples"] as? [[String: Any]])
            let differs = try #require(samples.first { $0["matched"] as? Bool == false })
            #expect(differs["pointer"] as? String == "/data/kind" && differs["found"] as? String == #""silent""#)
            let hidden = try await gateway.request("POST", "/v1/routes/match", body, token: "rita-token")
            #expect(hidden.json["matched"] as? Int == 1 && !"\(hidden.json)".contains("found"))
            // The texts cannot be guessed either.
            let guess = #"{"pattern":{"data":{"content":{"body":[{"prefix":"Secret"}]}}}}"#
            let guessed = try await gateway.request("POST", "/v1/routes/match", guess, token: "rita-token")
            #expect(guessed.json["matched"] as? Int == 0)
            let known = try await gateway.request("POST", "/v1/routes/match", guess, token: "ann-token")
            #expect(known.json["matched"] as? Int == 1)
        }
    }

    @Test(arguments: [
        ("{\"pattern\":{\n \"data\": {\"kind\": \"alert\"}}}", "2", "19", "/pattern/data/kind"),
        ("{\"pattern\":{\"data\":\n{\"kind\":[}}}", "2", nil, ""),
        (#"{"pattern":{"data":{"kind":[{"prefixx":"a"}]}}}"#, "1", nil, "/pattern/data/kind/0"),
    ])
    func aBrokenPatternHasAPosition(body: String, line: String, column: String?, pointer: String) async throws {
        try await Gateway.run { gateway, _, _ in
            let refused = try await gateway.request("POST", "/v1/routes/match", body)
            #expect(refused.status == 400 && refused.json["code"] as? String == "pattern-invalid", "\(refused)")
            #expect(refused.json["line"] as? String == line)
            #expect((refused.json["column"] as? String).flatMap { Int($0) } != nil)
            if let column { #expect(refused.json["column"] as? String == column) }
            #expect((refused.json["pointer"] as? String)?.hasPrefix(pointer) == true)
        }
    }

    /// A pattern that matches can be pasted into a route.
    @Test func checksAConfigWithoutUsingIt() async throws {
        try await Self.run { gateway, directory in
            func check(_ text: String, token: String = "admin-token") async throws -> Gateway.Answer {
                try await gateway.request("POST", "/v1/config/check", text, token: token)
            }
            #expect(try await check("{}", token: "ann-token").status == 403)
            let route = """
                { "destinations": { "inbox": { "builtin": "inbox" } }, "routes": [
                  { "name": "alerts", "match": { "data": { "kind": ["alert"] } }, "to": ["inbox"] } ] }
                """
            let fine = try await check(route)
            #expect(fine.status == 200 && fine.json["valid"] as? Bool == true && fine.json["routes"] as? Int == 1)
            let misspelt = try await check("{\n  \"routs\": []\n}")
            #expect(misspelt.status == 200 && misspelt.json["valid"] as? Bool == false)
            let problem = try #require((misspelt.json["problems"] as? [[String: Any]])?.first)
            #expect(problem["line"] as? Int == 2 && problem["column"] as? Int == 3)
            #expect(problem["severity"] as? String == "error")
            #expect((problem["message"] as? String)?.contains("routs") == true && problem["hint"] is String)
            let syntax = try await check("{")
            #expect((syntax.json["problems"] as? [[String: Any]])?.first?["line"] as? Int == 1)
            let control = route.replacing("alerts", with: "a\\u000a\\u001bb")
            let named = try await check(control)
            #expect(named.json["valid"] as? Bool == false && "\(named.json)".contains("control character"))
            #expect(!FileManager.default.fileExists(atPath: directory + "/routs"))
        }
    }

    @Test func theHistoryShowsChangesAndNoSecrets() async throws {
        try await Self.run { gateway, directory in
            let path = directory + "/routes.json"
            let first = try String(contentsOfFile: path, encoding: .utf8)
            func history() async throws -> [[String: Any]] {
                let answer = try await gateway.request("GET", "/v1/config/history", token: "admin-token")
                return answer.json["history"] as? [[String: Any]] ?? []
            }
            #expect(try await gateway.request("GET", "/v1/config/history", token: "ann-token").status == 403)
            #expect(try await history().map { $0["result"] as? String } == ["active"])
            try first.replacing(#""timeout": "15s""#, with: #""timeout": "20s""#)
                .write(toFile: path, atomically: true, encoding: .utf8)
            while try await history().count < 2 {}
            let changes = try #require(try await history().first?["changes"] as? [[String: Any]])
            #expect(changes.count == 1 && changes[0]["pointer"] as? String == "/destinations/crm/timeout")
            #expect(changes[0]["from"] as? String == "15s" && changes[0]["to"] as? String == "20s")
            try first.replacing(#""env:WEBHOOK_SECRET""#, with: #""hunter2""#)
                .write(toFile: path, atomically: true, encoding: .utf8)
            while try await history().count < 3 {}
            let entries = try await history()
            #expect(entries.map { $0["result"] as? String } == ["refused", "active", "replaced"])
            #expect((entries[0]["problems"] as? [String])?.isEmpty == false)
            #expect("\(entries[0]["changes"] ?? "")".contains("/destinations/crm/secret"))
            #expect(!"\(entries)".contains("hunter2"))
        }
    }

    /// A token with `content: false` sees which values changed, and neither paths nor conditions on content.
    @Test func theHistoryHidesPathsAndPatterns() async throws {
        try await Self.run { gateway, directory in
            let path = directory + "/routes.json"
            let first = try String(contentsOfFile: path, encoding: .utf8)
            try first.replacing(#""match": {}"#, with: #""match": { "data": { "content": { "title": ["Sale"] } } }"#)
                .replacing(#""timeout": "15s""#, with: #""headers": { "x-key": "file:/etc/hidden-path" }"#)
                .write(toFile: path, atomically: true, encoding: .utf8)
            func history(_ token: String) async throws -> String {
                let answer = try await gateway.request("GET", "/v1/config/history", token: token)
                return "\(answer.json)"
            }
            while try await !history("admin-token").contains("hidden-path") {}
            #expect(try await history("admin-token").contains("Sale"))
            let hidden = try await history("bob-token")
            #expect(hidden.contains("/destinations/crm/headers") && hidden.contains("/routes/0/match"))
            #expect(!hidden.contains("Sale") && !hidden.contains("hidden-path") && !hidden.contains("routes.json"))
        }
    }

    @Test func failureRulesHideTheirPatterns() async throws {
        try await Self.run { gateway, _ in
            let rule = #"{"delay":"1ms","match":{"data":{"content":{"title":["Sale"],"badge":[48123]}}}}"#
            let set = try await gateway.request("PUT", "/v1/failures/slow", rule, token: "ann-token")
            #expect(set.status == 201 && "\(set.json)".contains("Sale"))
            let list = try await gateway.request("GET", "/v1/failures", token: "rita-token")
            let hidden = "\(list.json)"
            #expect(hidden.contains("title") && !hidden.contains("Sale") && !hidden.contains("48123"))
        }
    }

    /// A pipe without a writer would block its reader.
    @Test func aPipeAsTemplateIsAMistake() async throws {
        try await Self.run { gateway, directory in
            let pipe = directory + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            for file in [pipe, "/dev/zero", directory] {
                let text = """
                    { "destinations": { "crm": { "url": "https://crm.example", "secret": "env:S", "format": "template",
                        "template": { "file": "\(file)" } } } }
                    """
                let answer = try await gateway.request("POST", "/v1/config/check", text, token: "admin-token")
                #expect(answer.status == 200 && answer.json["valid"] as? Bool == false, "\(answer.json)")
                #expect("\(answer.json)".contains("cannot be read"), "\(answer.json)")
            }
        }
    }

    @Test func theLedgerHasTheSumsOfTheAudit() async throws {
        try await Self.run { gateway, directory in
            func delivered() async throws -> Int {
                let path = "/v1/deliveries?state=delivered"
                let list = try await gateway.request("GET", path, token: "rita-token").json["deliveries"]
                return (list as? [Any])?.count ?? 0
            }
            while try await delivered() < 2 {}
            let ledger = try await gateway.request("GET", "/v1/ledger", token: "rita-token")
            #expect(ledger.status == 200 && ledger.json["consistent"] as? Bool == true)
            let crm = try #require((ledger.json["destinations"] as? [[String: Any]])?.first)
            #expect(crm["accepted"] as? Int == 2 && crm["delivered"] as? Int == 2 && crm["missing"] as? Int == 0)
            let audit = try await binary.run(["audit", "--json"], in: directory, environment: Self.environment)
            #expect(audit.status == 0)
            let json = try JSONSerialization.jsonObject(with: Data(audit.output.utf8)) as? [String: Any]
            #expect((json?["destinations"] as? [[String: Any]])?.first?["delivered"] as? Int == 2)
            let event = try #require(
                (try await gateway.request("GET", "/v1/deliveries/1", token: "rita-token")).json["event"] as? String)
            let list = try await binary.run(
                ["deliveries", "list", "--json", "--event", event], in: directory, environment: Self.environment)
            #expect(list.output.split(separator: "\n").count == 1)
        }
    }

    @Test func mediaAreListedInPages() async throws {
        try await Self.run { gateway, directory in
            for state in ["", "?state=wanted", "?state=failed&limit=5"] {
                let media = try await gateway.request("GET", "/v1/media\(state)", token: "rita-token")
                #expect(media.status == 200 && (media.json["media"] as? [Any])?.isEmpty == true, "\(state)")
            }
            for query in ["state=gone", "limit=0", "cursor=%21", "stat=wanted"] {
                #expect(try await gateway.request("GET", "/v1/media?\(query)", token: "rita-token").status == 400)
            }
            let prune = try await binary.run(["media", "prune"], in: directory, environment: Self.environment)
            #expect(prune.status == 0)
            let rows = try await gateway.request("GET", "/v1/actions", token: "rita-token").json["actions"]
            let row = try #require((rows as? [[String: Any]])?.first)
            #expect(row["operation"] as? String == "media.prune" && row["actor"] as? String == "cli:\(getuid())")
        }
    }
}
