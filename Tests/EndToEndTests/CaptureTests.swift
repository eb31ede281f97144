import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Captures of pushes over the API of the built binary.
@Suite(.timeLimit(.minutes(15))) struct CaptureTests {
    @Test func showsPushesThatReachedTheEndpoint() async throws {
        try await CaptureSetting.run { setting async throws in
            let id = "eadbc9b3-1a2b-4c3d-8e4f-0123456789ab"
            #expect(try await setting.push(headers: ["apns-id: \(id)", "signalbox-run: t1"]) == "200")
            #expect(try await setting.push(headers: ["apns-id: \(id)", "signalbox-run: t1"]) == "200")
            #expect(try await setting.push(to: "zz", headers: ["signalbox-run: t1"]).hasSuffix("400"))
            let captures = try await setting.captures("/v1/captures")
            #expect(captures.map { $0.text("outcome") } == ["rejected", "repeated", "accepted"])
            #expect(captures.map { $0["status"] as? Int } == [400, 200, 200])
            #expect(captures.allSatisfy { $0.text("run") == "t1" && $0.text("platform") == "apns" })
            #expect(captures[0].text("reason") == "BadDeviceToken" && captures[0]["token"] == nil)
            #expect(captures[1].text("eventId") == captures[2].text("eventId") && captures[1]["event"] == nil)
            #expect(captures[1].text("token") == captures[2].text("token"))
            #expect(captures[2].text("source") == "default" && captures[2].text("apnsId") == id)
            #expect(captures[2].text("topic") == "com.example.app")
            let event = try #require(captures[2]["event"] as? [String: Any])
            #expect(event.text("id") == captures[2].text("eventId"))
            #expect(!"\(captures)".contains(CaptureSetting.token))
        }
    }

    @Test func showsWhyAForwardedPushIsRefused() async throws {
        try await CaptureSetting.run { setting async throws in
            #expect(try await setting.push(headers: ["x-forwarded-for: 203.0.113.9"]).hasSuffix("403"))
            let capture = try #require(try await setting.captures("/v1/captures").first)
            #expect(capture.text("outcome") == "rejected" && capture.text("reason") == "Forbidden")
            #expect(capture.text("detail")?.contains("A proxy forwarded this request") == true)
        }
    }

    @Test func showsMessagesThatAreOnlyChecked() async throws {
        try await CaptureSetting.run { setting async throws in
            func post(_ path: String, _ body: String) async throws -> String {
                try await setting.curl(
                    ["-d", body, "-H", "content-type: application/json", "-H", "signalbox-run: t1"]
                        + [setting.providers + path])
            }
            let send = "/v1/projects/demo/messages:send"
            #expect(
                try await post(send, #"{"validate_only":true,"message":{"token":"abc"}}"#).contains("fake_message_id"))
            #expect(try await post(send, #"{"validate_only":true,"message":{}}"#).contains("INVALID_ARGUMENT"))
            let multicast = #"{"dry_run":true,"registration_ids":["abc","not a token"],"data":{"n":"1"}}"#
            #expect(try await post("/fcm/send", multicast).contains(#""success":1"#))
            let captures = try await setting.captures("/v1/captures?run=t1")
            #expect(captures.map { $0.text("outcome") } == ["dry-run", "rejected", "rejected", "dry-run"])
            let checked = captures.filter { $0.text("outcome") == "dry-run" }
            #expect(checked.allSatisfy { $0["status"] as? Int == 200 && $0["event"] == nil && $0["eventId"] == nil })
            #expect(checked.allSatisfy { $0.text("source") == "default" })
            #expect(Set(checked.map { $0.text("token") }).count == 1 && checked[1].text("project") == "demo")
            #expect(try await setting.captures("/v1/captures?outcome=dry-run").count == 2)
            #expect(try await setting.api("/v1/captures/wait?timeout=0s").status == "408")
        }
    }

    @Test func awaitsATokenOfFCMInCapitals() async throws {
        try await CaptureSetting.run { setting async throws in
            for token in ["DEADBEEF", "deadbeef"] {
                _ = try await setting.curl(
                    ["-d", #"{"message":{"token":"\#(token)"}}"#, "-H", "content-type: application/json"]
                        + [setting.providers + "/v1/projects/demo/messages:send"])
            }
            #expect(try await setting.captures("/v1/captures/wait?timeout=0s&token=deadbeef").count == 1)
            #expect(try await setting.captures("/v1/captures/wait?timeout=0s&count=2&token=DEADBEEF").count == 2)
        }
    }

    @Test func showsBodiesThatAreTooLarge() async throws {
        try await CaptureSetting.run { setting async throws in
            let file = setting.directory + "/large.json"
            let text = String(repeating: "x", count: 70_000)
            try Data(#"{"message":{"token":"abc","data":{"k":"\#(text)"}}}"#.utf8).write(to: URL(fileURLWithPath: file))
            for coding in [[], ["-H", "transfer-encoding: chunked"]] {
                let answer = try await setting.curl(
                    ["-w", "%{http_code}", "-o", "answer", "--data-binary", "@" + file] + coding
                        + ["-H", "content-type: application/json", "--http1.1"]
                        + [setting.providers + "/v1/projects/demo/messages:send"])
                #expect(answer == "400")
            }
            let captures = try await setting.captures("/v1/captures")
            #expect(captures.map { $0.text("outcome") } == ["rejected", "rejected"])
            #expect(captures.allSatisfy { $0["status"] as? Int == 400 && $0.text("reason") == "INVALID_ARGUMENT" })
            #expect(captures.allSatisfy { $0.text("project") == "demo" && $0.text("source") == "default" })
        }
    }

    @Test func aWaitEndsWithThePushThatItWaitsFor() async throws {
        try await CaptureSetting.run { setting async throws in
            async let waiting = setting.text(
                "/v1/captures/wait?timeout=60s&count=2&run=t1&token=\(CaptureSetting.token.uppercased())")
            try await setting.push("1", headers: ["signalbox-run: t2"])
            try await setting.push("2", to: CaptureSetting.otherToken, headers: ["signalbox-run: t1"])
            try await setting.push("3", headers: ["signalbox-run: t1"])
            try await setting.push("4", prefix: "/r/t1")
            let (status, json) = try CaptureSetting.response(try await waiting)
            #expect(status == "200")
            let bodies = (json["captures"] as? [[String: Any]] ?? []).map { capture in
                let data = (capture["event"] as? [String: Any])?["data"] as? [String: Any]
                return (data?["content"] as? [String: Any])?["body"] as? String
            }
            #expect(bodies == ["3", "4"])
            // The pushes that came before the wait count too.
            #expect(try await setting.captures("/v1/captures/wait?timeout=0s&count=3&run=t1").count == 3)
        }
    }

    @Test func aWaitWithoutThePushNamesTheOthers() async throws {
        try await CaptureSetting.run { setting async throws in
            try await setting.push(to: CaptureSetting.otherToken)
            try await setting.push("other")
            let body = ["-d", #"{"match":{"data":{"content":{"body":["Hello"]}}},"token":"\#(CaptureSetting.token)"}"#]
            let (status, problem) = try await setting.api("/v1/captures/wait?timeout=10ms", body)
            #expect(status == "408" && problem.text("code") == "capture-timeout")
            #expect(problem["complete"] as? Bool == false)
            let misses = try #require(problem["nearMisses"] as? [[String: Any]])
            #expect(misses.map { $0.text("condition") } == ["/data/content/body", "token"])
            #expect(misses[0].text("reason") == #"/data/content/body is "other", expected ["Hello"]"#)
            #expect(misses[1].text("expected")?.hasPrefix("sha256:") == true)
            #expect((misses[0]["capture"] as? [String: Any])?["event"] == nil)
        }
    }

    @Test func aWaitSaysThatThePushWasRefused() async throws {
        let sources = """
            "sources": { "mobile": { "apns": { "secrets": ["env:SECRET"], "topics": ["com.example.app"] } } },
            "admin": { "auth": { "bearer": ["env:ADMIN"] } },
            """
        let environment = ["SECRET": "path-secret", "ADMIN": "operator"]
        try await CaptureSetting.run(config: sources, environment: environment) { setting async throws in
            let bearer = ["-H", "authorization: Bearer operator"]
            #expect(try await setting.push().hasSuffix("403"))
            #expect(try await setting.push(headers: ["apns-topic: other.app"]).hasSuffix("400"))
            let (status, problem) = try await setting.api("/v1/captures/wait?timeout=0s&source=mobile", bearer)
            #expect(status == "408")
            let miss = try #require((problem["nearMisses"] as? [[String: Any]])?.last)
            #expect(miss.text("reason") == "outcome is rejected, expected accepted")
            #expect((miss["capture"] as? [String: Any])?.text("reason") == "MissingProviderToken")
            // The secret and the label together; the other order is refused.
            #expect(try await setting.push(prefix: "/s/path-secret/r/t1") == "200")
            #expect(try await setting.push(prefix: "/r/t1/s/path-secret").hasSuffix("400"))
            let captures = try await setting.captures("/v1/captures/wait?timeout=0s&source=mobile&run=t1", bearer)
            #expect(captures.map { $0.text("source") } == ["mobile"])
            #expect(!"\(try await setting.captures("/v1/captures", bearer))".contains("path-secret"))
            #expect(try await setting.api("/v1/captures").status == "401")
            #expect(try await setting.api("/v1/captures/wait").status == "401")
        }
    }

    @Test func pagesInBothDirections() async throws {
        try await CaptureSetting.run { setting async throws in
            for number in 0..<5 { try await setting.push("\(number)") }
            let newest = try await setting.api("/v1/captures?limit=2").json
            let cursor = try #require(newest.text("next"))
            let older = try await setting.captures("/v1/captures?limit=3&cursor=\(cursor)")
            let all = (newest["captures"] as? [[String: Any]] ?? []) + older
            #expect(Set(all.compactMap { $0.text("eventId") }).count == 5)
            #expect(older.count == 3)
            let first = try await setting.api("/v1/captures?after=0&limit=2").json
            let next = try #require(first.text("next"))
            let rest = try await setting.captures("/v1/captures?after=\(next)")
            let ordered = (first["captures"] as? [[String: Any]] ?? []) + rest
            #expect(ordered.map { $0.text("cursor") } == all.reversed().map { $0.text("cursor") })
            let last = try #require(first.text("last"))
            #expect(try await setting.api("/v1/captures/wait?timeout=0s&after=\(last)").status == "408")
        }
    }

    @Test func removesTheCapturesOfARun() async throws {
        try await CaptureSetting.run { setting async throws in
            for run in ["a", "b", "a"] { try await setting.push(prefix: "/r/\(run)") }
            let removed = try await setting.api("/v1/captures?run=a", ["-X", "DELETE"])
            #expect(removed.json["removed"] as? Int == 2)
            #expect(try await setting.captures("/v1/captures").map { $0.text("run") } == ["b"])
            #expect(try await setting.api("/v1/captures", ["-X", "DELETE"]).json["removed"] as? Int == 1)
            #expect(try await setting.captures("/v1/captures").isEmpty)
        }
    }

    @Test(arguments: [
        ("/v1/captures?platform=ios", "query-malformed"), ("/v1/captures?outcome=good", "query-malformed"),
        ("/v1/captures?run=a%20b", "query-malformed"), ("/v1/captures?since=now", "query-malformed"),
        ("/v1/captures?after=x", "query-malformed"), ("/v1/captures?after=0&cursor=0", "query-malformed"),
        ("/v1/captures/wait?timeout=61s", "query-malformed"), ("/v1/captures/wait?count=0", "query-malformed"),
        ("/v1/captures?tokens=a", "parameter-unknown"), ("/v1/captures/wait?token=", "query-malformed"),
        ("/v1/captures/wait?source=", "query-malformed"),
    ])
    func rejectsWrongParameters(path: String, code: String) async throws {
        try await CaptureSetting.run { setting async throws in
            let (status, problem) = try await setting.api(path)
            #expect(status == "400" && problem.text("code") == code, "\(problem)")
        }
    }

    @Test func locatesTheMistakeOfAPattern() async throws {
        try await CaptureSetting.run { setting async throws in
            for (body, pointer) in [
                (#"{"match":{"data":{"kind":"alert"}}}"#, "/match/data/kind"), (#"{"macht":{}}"#, "/macht"),
                (#"{"token":1}"#, "/token"), (#"{"token":""}"#, "/token"), ("[]", ""), ("{", ""),
            ] {
                let (status, problem) = try await setting.api("/v1/captures/search", ["-d", body])
                #expect(status == "400" && problem.text("code") == "capture-body-malformed")
                #expect(problem.text("pointer") == pointer)
            }
            let large = #"{"match":{"data":{"kind":[1e400]}}}"#
            let (_, problem) = try await setting.api("/v1/captures/search", ["-d", large])
            #expect(problem.text("detail")?.contains("does not fit 64 bits") == true, "\(problem)")
        }
    }

    @Test func saysThatCapturesAreOff() async throws {
        try await CaptureSetting.run(captures: #"{ "count": 0 }"#) { setting async throws in
            #expect(try await setting.push() == "200")
            for path in ["/v1/captures", "/v1/captures/wait"] {
                let (status, problem) = try await setting.api(path)
                #expect(status == "409" && problem.text("code") == "captures-off")
            }
        }
    }

    /// Opens connections that wait.
    private static func waits(_ count: Int) -> String {
        """
        waits = []
        for number in range(\(count)):
            wait = socket.create_connection(("127.0.0.1", port))
            wait.sendall(b"GET /v1/captures/wait?timeout=60s HTTP/1.1\\r\\nhost: localhost\\r\\n\\r\\n")
            waits.append(wait)
        """
    }

    /// The places of the waits are free again as soon as their clients are gone.
    @Test func aWaitEndsWithItsClient() async throws {
        try await CaptureSetting.run { setting async throws in
            try await RawConnection.withClient(Self.waits(256), of: setting.gateway.url) {
                while try await setting.api("/v1/captures/wait?timeout=0s").status != "503" {}
                let (_, problem) = try await setting.api("/v1/captures/wait?timeout=0s")
                #expect(problem.text("code") == "captures-busy")
                // Other requests are answered.
                #expect(try await setting.captures("/v1/captures").isEmpty)
            }
            while try await setting.api("/v1/captures/wait?timeout=0s").status != "408" {}
        }
    }

    /// The end of its input arrives before the wait begins.
    @Test func aWaitEndsWithAClientThatWasGoneBefore() async throws {
        try await CaptureSetting.run { setting async throws in
            let wait = "GET /v1/captures/wait?timeout=20s HTTP/1.1\r\nhost: localhost\r\n\r\n"
            let answer = try await RawConnection.exchange(
                Data(wait.utf8), with: setting.gateway.url, endsInput: true)
            #expect(answer.contains("captures-stopping") && !answer.contains("capture-timeout"), "\(answer)")
        }
    }

    @Test func aStopEndsTheWaits() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"{ "gateway": { "listen": { "apns": "127.0.0.1:0" } }, "destinations": {}, "routes": [] }"#
            let gateway = try await Gateway.start(in: directory, config: config)
            let setting = CaptureSetting(gateway: gateway, providers: "", directory: directory)
            try await RawConnection.withClient(Self.waits(255), of: gateway.url) {
                async let waiting = setting.text("/v1/captures/wait?timeout=60s")
                // Once all places are taken, this wait has begun. It may end first on a slow machine.
                let deadline = ContinuousClock.now + .seconds(50)
                var isFull = false
                while !isFull, ContinuousClock.now < deadline {
                    isFull = try await setting.api("/v1/captures/wait?timeout=0s").status == "503"
                }
                try #require(isFull, "the waits did not begin in time")
                #expect(await gateway.stop() == 0)
                let (status, problem) = try CaptureSetting.response(try await waiting)
                #expect(status == "503" && problem.text("code") == "captures-stopping")
            }
        }
    }
}
