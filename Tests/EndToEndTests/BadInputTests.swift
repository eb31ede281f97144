import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct BadInputTests {
    /// One unreadable body of every kind, with the status and the code of its response.
    private static let bodies: [(name: String, body: Data, status: Int, code: String)] = [
        ("empty", Data(), 400, "payload-empty"),
        ("blank", Data(" \r\n\t".utf8), 400, "payload-empty"),
        ("no JSON", Data("hello".utf8), 400, "payload-not-json"),
        ("truncated", Data(#"{"aps":{"alert":"x""#.utf8), 400, "payload-truncated"),
        ("string", Data(#""aps""#.utf8), 400, "payload-not-an-object"),
        ("number", Data("42".utf8), 400, "payload-not-an-object"),
        ("null", Data("null".utf8), 400, "payload-not-an-object"),
        ("form", Data("aps=1&alert=2".utf8), 400, "payload-not-json"),
        ("trailing comma", Data(#"{"aps":{},}"#.utf8), 400, "payload-not-json"),
        (
            "invalid UTF-8", Data(#"{"aps":{"alert":""#.utf8) + Data([0xC3, 0x28]) + Data(#""}}"#.utf8), 400,
            "payload-not-utf8"
        ),
        ("overlong UTF-8", Data(#"{"a":""#.utf8) + Data([0xC0, 0xAF]) + Data(#""}"#.utf8), 400, "payload-not-utf8"),
        ("lone surrogate", Data(#"{"a":"\ud800"}"#.utf8), 400, "payload-not-json"),
        ("beyond 64 bits", Data(#"{"a":123456789012345678901234567890}"#.utf8), 400, "payload-number-invalid"),
        ("beyond a double", Data(#"{"a":1e999}"#.utf8), 400, "payload-number-invalid"),
        (
            "too deep",
            Data((String(repeating: #"{"a":"#, count: 2000) + "1" + String(repeating: "}", count: 2000)).utf8), 400,
            "payload-too-deep"
        ),
        (
            "too large", Data((#"{"a":""# + String(repeating: "x", count: 5_000_000) + #""}"#).utf8), 413,
            "payload-too-large"
        ),
        ("10 MB", Data((#"{"a":""# + String(repeating: "x", count: 10_000_000) + #""}"#).utf8), 413, "body-too-large"),
    ]

    @Test func eachGetsOneProblemAndIsNotStored() async throws {
        try await withTemporaryDirectory { directory in
            let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: "http://127.0.0.1:9/"))
            for (name, body, status, code) in Self.bodies {
                let (found, problem) = try await gateway.post(body)
                #expect(found == status, "\(name)")
                #expect(problem["code"] as? String == code, "\(name)")
                #expect(problem["status"] as? Int == status, "\(name)")
                #expect((problem["detail"] as? String)?.isEmpty == false, "\(name)")
            }
            #expect(await gateway.stop() == 0)
            let left = try await binary.run(["deliveries", "list", "--json"], in: directory)
            #expect(left.output.isEmpty)
        }
    }

    /// Even a route that matches everything does not receive it.
    @Test func rejectsAPayloadThatIsTooCostlyToRoute() async throws {
        try await withTemporaryDirectory { directory in
            let routes = (0..<1_000).map { number in
                #"{"name":"r\#(number)","to":["i"],"match":{"data":{"content":{"body":[{"wildcard":"*a*\#(number)*b*"}]}}}}"#
            }
            let all = #"{"name":"all","to":["i"],"match":{}}"#
            let config =
                #"{"destinations":{"i":{"builtin":"inbox"}},"routes":[\#((routes + [all]).joined(separator: ","))]}"#
            let gateway = try await Gateway.start(in: directory, config: config)
            let numbers = (0..<1_000).map { "\($0)" }.joined()
            let text = String(repeating: "a" + numbers, count: 350)
            let (status, problem) = try await gateway.post(Data(#"{"aps":{"alert":{"body":"\#(text)"}}}"#.utf8))
            #expect(status == 422)
            #expect(problem["code"] as? String == "payload-too-costly")
            #expect(await gateway.stop() == 0)
            let left = try await binary.run(["deliveries", "list", "--json"], in: directory)
            #expect(left.output.isEmpty)
        }
    }

    @Test func acceptsUnusualValidInput() async throws {
        try await withTemporaryDirectory { directory in
            let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: "http://127.0.0.1:9/"))
            let payload = #"{"aps":{"alert":"x"}}"#
            #expect(try await gateway.post(Data(("\u{FEFF}" + payload).utf8)).status == 202)
            #expect(try await gateway.post(Data((payload + "\r\n" + payload + "\r\n").utf8)).status == 202)
            let twice = try await gateway.post(Data(#"{"aps":{"alert":"x"},"k":1,"k":2}"#.utf8))
            #expect(twice.status == 202)
            #expect(twice.json["warnings"] as? [String] == ["json.duplicate-key"])
            #expect(try await gateway.post(Data("[]".utf8)).status == 202)
            #expect(await gateway.stop() == 0)
        }
    }

    /// An event is deeper than its payload, and may be longer: numbers are spelled out.
    @Test func acceptsPayloadsAtTheLimits() async throws {
        try await withTemporaryDirectory { directory in
            let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: "http://127.0.0.1:9/"))
            let deep = String(repeating: #"{"a":"#, count: 128) + "1" + String(repeating: "}", count: 128)
            for body in [deep, "[\(deep), \(deep)]", deep + "\n" + deep] {
                #expect(try await gateway.post(Data(body.utf8)).status == 202)
            }
            let deeper = try await gateway.post(Data(#"{"a":\#(deep)}"#.utf8))
            #expect(deeper.status == 400)
            #expect(deeper.json["code"] as? String == "payload-too-deep")
            let numbers = #"{"a":["# + String(repeating: "1e15,", count: 780_000) + "1]}"
            #expect(try await gateway.post(Data(numbers.utf8)).status == 202)
            let replay = try await binary.run(
                ["replay", "--dry-run"], input: Data((deep + "\n" + numbers).utf8), in: directory)
            #expect(replay.status == 0)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func aBadPayloadDoesNotAffectItsNeighbours() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                let lines = [#"{"aps":{"alert":"1"}}"#, #"{"aps":{"alert":"tr"#, #"{"aps":{"alert":"2"}}"#, "nonsense"]
                let (status, report) = try await gateway.post(Data(lines.joined(separator: "\n").utf8))
                #expect(status == 207)
                #expect(report["accepted"] as? Int == 2)
                #expect(report["rejected"] as? Int == 2)
                #expect(await receiver.next(2).count == 2)

                let array = #"[{"aps":{"alert":"3"}}, 7, {"aps":{"alert":"4"}}"#
                let (arrayStatus, arrayReport) = try await gateway.post(Data(array.utf8))
                #expect(arrayStatus == 207)
                #expect(arrayReport["accepted"] as? Int == 2)
                #expect(await receiver.next(2).count == 2)
                #expect(await gateway.stop() == 0)
            }
        }
    }

    @Test func unknownPathsAndMethodsAreProblems() async throws {
        try await withTemporaryDirectory { directory in
            let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: "http://127.0.0.1:9/"))
            let (status, text) = try await gateway.get("/v1/nothing")
            #expect(status == 404)
            #expect(text.contains(#""code":"not-found""#))
            let (notAllowed, problem) = try await gateway.get("/v1/notifications")
            #expect(notAllowed == 405)
            #expect(problem.contains(#""code":"method-not-allowed""#))
            #expect(try await gateway.get("/healthz").status == 200)
            #expect(try await gateway.get("/readyz").status == 200)
            for schema in ["notification-1", "routes"] {
                #expect(try await gateway.get("/schemas/\(schema).json").text.contains("2020-12"), "\(schema)")
            }
            #expect(await gateway.stop() == 0)
        }
    }

    /// Loopback excludes other machines, but not pages of other sites in a local browser.
    @Test func openAccessRejectsPagesOfOtherSites() async throws {
        try await withTemporaryDirectory { directory in
            let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: "http://127.0.0.1:9/"))
            let payload = Data(#"{"aps":{"alert":"x"}}"#.utf8)
            for (name, value) in [("host", "evil.example"), ("origin", "https://evil.example"), ("origin", "null")] {
                let (status, problem) = try await gateway.post(payload, headers: [(name, value)])
                #expect(status == 403, "\(name): \(value)")
                #expect(problem["code"] as? String == "not-from-this-machine")
            }
            for value in ["http://localhost:3000", "http://127.0.0.1", "http://[::1]:8080"] {
                #expect(try await gateway.post(payload, headers: [("origin", value)]).status == 202, "\(value)")
            }
            #expect(await gateway.stop() == 0)
        }
    }

    /// Regression: every text searched for the end of its line again, which took quadratic time.
    @Test func readsManyTextsOnOneLineInLinearTime() async throws {
        try await withTemporaryDirectory { directory in
            let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: "http://127.0.0.1:9/"))
            let body = String(repeating: "{}", count: 2_000_000) + String(repeating: " ", count: 3_000_000) + "x"
            let (status, problem) = try await gateway.post(Data(body.utf8))
            #expect(status == 413)
            #expect(problem["code"] as? String == "batch-too-large")
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func requiresTheTokenOfASource() async throws {
        try await withTemporaryDirectory { directory in
            let sources = #""sources": { "ios": { "auth": { "bearer": ["env:IOS_TOKEN"] } } },"#
            let gateway = try await Gateway.start(
                in: directory, config: Gateway.config(to: "http://127.0.0.1:9/", more: sources),
                environment: ["IOS_TOKEN": "open-sesame"])
            let payload = Data(#"{"aps":{"alert":"x"}}"#.utf8)
            let refused = try await gateway.post(payload)
            #expect(refused.status == 401)
            #expect(refused.json["code"] as? String == "unauthorized")
            for header in ["Bearer open-sesam", "Basic open-sesame", "open-sesame"] {
                #expect(
                    try await gateway.post(payload, headers: [("authorization", header)]).status == 401, "\(header)")
            }
            let good = [(name: "authorization", value: "bearer open-sesame")]
            #expect(try await gateway.post(payload, headers: good).status == 202)
            #expect(try await gateway.post(payload, to: "/v1/sources/ios/notifications", headers: good).status == 202)
            #expect(try await gateway.post(payload, to: "/v1/sources/web/notifications", headers: good).status == 401)
            #expect(await gateway.stop() == 0)
        }
    }
}
