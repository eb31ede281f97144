import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Inputs, selection and reports of `replay --dry-run`, on the built binary.
@Suite(.timeLimit(.minutes(15))) struct ReplayTests {
    /// Recordings of other tools: a time, a token, and a payload as object or text.
    private static let recording = #"""
        {"timestamp":"2026-11-01T10:00:00Z","to":"abc","payload":{"aps":{"alert":"first"},"ab":{"c":"NjVmMF9jbXA="}}}
        {"timestamp":1793570400,"to":null,"payload":"{\"aps\":{\"alert\":\"second\"},\"issuer\":\"Synerise\"}"}
        {"timestamp":1793613600000,"payload":{"aps":{"alert":"third"}}}
        {"timestamp":"2026-11-03T10:00:00Z","payload":17}
        {"timestamp":"tomorrow","payload":{"aps":{}}}

        """#
    private static let envelope = ["--payload-at", "/payload", "--time-at", "/timestamp"]

    private func dryRun(_ arguments: [String], input: String = recording) async throws -> BuiltBinary.Result {
        try await withTemporaryDirectory { directory in
            try Data(Gateway.config(to: "http://127.0.0.1:1/").utf8)
                .write(to: URL(fileURLWithPath: directory + "/routes.json"))
            return try await binary.run(
                ["replay", "--dry-run"] + arguments, input: Data(input.utf8), in: directory,
                environment: ["WEBHOOK_SECRET": Gateway.secret])
        }
    }

    private func decisions(_ arguments: [String]) async throws -> [String] {
        try await dryRun(Self.envelope + arguments).output.split(separator: "\n").map { line in
            String(line.prefix { $0 != " " })
        }
    }

    @Test func readsRecordingsOfOtherTools() async throws {
        let result = try await dryRun(Self.envelope)
        #expect(result.status == 1)
        #expect(
            result.output == """
                braze/alert -> crm (everything)
                synerise/alert -> crm (everything)
                unknown/alert -> crm (everything)

                """)
        #expect(result.errors.contains("line 4: The value at /payload is not a payload"))
        #expect(result.errors.contains("line 5: There is no time at /timestamp"))
        #expect(result.errors.contains("3 events, 2 rejected"))
    }

    /// Recordings of other tools are read as payloads of no push service without `--payload-at`.
    @Test func warnsOfWrappedPayloads() async throws {
        let wrapped = #"{"at":1,"payload":{"aps":{"alert":"a"}}}"# + "\n"
        let deeper = #"{"at":1,"record":{"n":1,"text":"{\"message\":{\"token\":\"t\",\"data\":{}}}"}}"# + "\n"
        let plain = #"{"aps":{"alert":"a"},"custom":{"aps":{}}}"# + "\n" + #"{"issuer":"Synerise"}"# + "\n"
        let text = #"{"payload":"{\"aps\":{\"alert\":\"One\"}}"}"# + "\n"
        let body = #"{"from":"a","body":"{\"message\":{\"token\":\"t\"}}"}"# + "\n"
        let vendor = #"{"issuer":"Synerise","content":"{\"notification\":{\"title\":\"a\"}}"}"# + "\n"
        let web = #"{"web_push":8030,"notification":{"title":"a","navigate":"https://a.example"}}"# + "\n"
        let amazon = #"{"data":{"k":"v"},"consolidationKey":"c","expiresAfter":60}"# + "\n"
        let cases: [(String, String?)] = [
            (web, nil), (amazon, nil),
            (wrapped, "/payload"), (deeper + plain + plain, nil), (deeper, "/record/text"), (plain, nil),
            (text, "/payload"), (body, "/body"), (vendor, nil), (wrapped + body + body, "/body or /payload"),
        ]
        try await expectAdvice(cases)
        let told = try await dryRun(["--payload-at", "/payload"], input: wrapped)
        #expect(!told.errors.contains("Warning: "))
    }

    /// Plugins of vendors pass the payload on next to objects of their own, some of which have the form of a payload.
    @Test func namesThePayloadThatAVendorRecognises() async throws {
        let brazeAndroid =
            #"{"title":"a","braze_properties":{"k":"v"},"android":{"_ab":"true","t":"a","a":"b"},"timestamp":1}"# + "\n"
        let brazeApple = #"{"braze_properties":{"k":"v"},"ios":{"aps":{"alert":"a"}},"is_silent":false}"# + "\n"
        let airship =
            #"{"pushPayload":{"alert":"a","extras":{"com.urbanairship.push.ALERT":"a"}},"isForeground":true}"# + "\n"
        let oneSignal =
            #"{"additionalData":{"k":"v"},"rawPayload":"{\"custom\":{\"i\":\"6a2a3b1c-7d2e-4a54-8c8f-6f1f3c115c53\"}}"}"#
            + "\n"
        let moEngage =
            #"{"accountMeta":{"appId":"a"},"data":{"platform":"android","payload":{"push_from":"moengage"}}}"# + "\n"
        let batch = #"{"isPositiveAction":true,"pushPayload":"{\"com.batch\":{\"i\":\"a\"},\"msg\":\"a\"}"}"# + "\n"
        let request = #"{"token":"t","android":{"priority":"high"},"apns":{"payload":{"aps":{"alert":"a"}}}}"# + "\n"
        let relayed = #"{"to":"t","data":{"payload":"{\"com.batch\":{\"i\":\"a\"},\"msg\":\"a\"}"}}"# + "\n"
        let expo =
            #"{"request":{"trigger":{"type":"push","payload":{"aps":{"alert":"a"},"body":{"k":1}}},"#
            + #""content":{"title":"a","body":"b"}},"date":1}"# + "\n"
        let tapped =
            #"{"action":{"type":0},"notification":{"payload":{"title":"a","body":"b","rawPayload":"#
            + #""{\"custom\":{\"i\":\"6a2a3b1c-7d2e-4a54-8c8f-6f1f3c115c53\"}}"}}}"# + "\n"
        let deepTexts = #"{"n":1,"page":{"n":2,"head":{"n":3,"meta":{"k":"v"}}}}"# + "\n"
        let opened =
            #"{"data":{"google.message_id":"1","k":"v","gcm.n.analytics_data":{"google.c.a.e":"1"}},"tap":true}"# + "\n"
        try await expectAdvice([
            (expo, "/request/trigger/payload"), (tapped, "/notification/payload/rawPayload"), (deepTexts, nil),
            (opened, "/data"),
            (brazeAndroid, "/android"), (brazeApple, "/ios"), (airship, "/pushPayload/extras"),
            (oneSignal, "/rawPayload"), (moEngage, "/data/payload"), (batch, "/pushPayload"), (request, nil),
            (relayed, nil),
        ])
    }

    /// `cases`: inputs, each with the place that the advice names, or nil for none. Checks `normalize` and a dry run of
    /// `replay`.
    private func expectAdvice(_ cases: [(String, String?)]) async throws {
        for (input, place) in cases {
            let normalized = try await binary.run(
                ["normalize"], input: Data(input.utf8), in: NSTemporaryDirectory())
            let decided = try await dryRun([], input: input)
            for errors in [normalized.errors, decided.errors] {
                #expect(errors.contains("Warning: ") == (place != nil), "\(input)")
                guard let place else { continue }
                #expect(errors.contains("Warning: the payloads seem to be at \(place) of the recorded texts. "))
                #expect(errors.contains("Add --payload-at \(place).") == !place.contains(" "))
            }
        }
    }

    @Test func normalizeReadsRecordingsOfOtherTools() async throws {
        let result = try await binary.run(
            ["normalize", "--token-at", "/to"] + Self.envelope, input: Data(Self.recording.utf8),
            in: NSTemporaryDirectory())
        let events = try result.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(result.status == 1)
        let targets = events.map { ($0["data"] as? [String: Any])?["target"] as? [String: String] }
        #expect(targets.count == 3)
        #expect(targets.first??["token"]?.hasPrefix("sha256:") == true)
        #expect(targets.dropFirst().allSatisfy { $0 == nil })
    }

    @Test func selectsByTimeVendorPatternAndCount() async throws {
        #expect(try await decisions(["--since", "2026-11-01T10:00:01Z"]) == ["synerise/alert", "unknown/alert"])
        #expect(try await decisions(["--until", "2026-11-02T10:00:00Z"]) == ["braze/alert", "synerise/alert"])
        #expect(try await decisions(["--since", "36500d", "--limit", "1"]) == ["braze/alert"])
        #expect(try await decisions(["--vendor", "braze", "--vendor", "unknown"]) == ["braze/alert", "unknown/alert"])
        #expect(
            try await decisions(["--filter", #"{"data":{"content":{"body":["second"]}}}"#]) == ["synerise/alert"])
        #expect(try await decisions(["--vendor", "synerise", "--limit", "5"]) == ["synerise/alert"])
    }

    @Test func countsWarningsAndPrintsTablesForPrograms() async throws {
        let result = try await dryRun(["--json", "--limit", "1"], input: #"{"aps":{"alert":7}}{"aps":{}}"#)
        let table = try #require(
            try JSONSerialization.jsonObject(with: Data(result.errors.utf8)) as? [String: Any])
        #expect(table["events"] as? Int == 1)
        #expect((table["warnings"] as? [[String: Any]])?.isEmpty == false)
    }

    /// Files are not downloaded yet when a gateway matches routes.
    @Test func aFilterMatchesMediaAsRoutesDo() async throws {
        let image = #""notification":{"title":"a","image":"https://a.example/i.png"}"#
        let payload = #"{"message":{"token":"t",\#(image)}}"#
        func decided(_ status: String) async throws -> String {
            try await dryRun(
                ["--filter", #"{"data":{"media":{"status":["\#(status)"]}}}"#], input: payload
            ).output
        }
        #expect(try await decided("skipped") == "unknown/alert -> crm (everything)\n")
        #expect(try await decided("pending").isEmpty)
    }

    /// A refused run creates no data directory.
    @Test func refusesMissingInputsBeforeItOpensAQueue() async throws {
        try await withTemporaryDirectory { directory in
            try Data(Gateway.config(to: "http://127.0.0.1:1/").utf8)
                .write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let result = try await binary.run(
                ["replay", "none.ndjson"], in: directory, environment: ["WEBHOOK_SECRET": Gateway.secret])
            #expect(result.status == 2)
            #expect(result.errors.contains("Cannot open none.ndjson: No such file or directory."))
            #expect(!FileManager.default.fileExists(atPath: directory + "/data"))
        }
    }

    @Test func rejectsConflictingOptionsWithASentence() async throws {
        let to = ["--to", "http://127.0.0.1:1"]
        let wrong: [([String], String)] = [
            (["--speed", "2"], "--speed needs recorded times"),
            (["--since", "1h"], "--since needs recorded times"),
            (["--until", "1h"], "--until needs recorded times"), (["--dry-run"] + to, "--to applies to sending"),
            (["--dry-run", "--rate", "1/s"], "--rate applies to sending"),
            (["--dry-run", "--resume", "r", "a"], "--resume applies to sending"),
            (to + ["--token-at", "/t"], "--token-at cannot be combined with --to: payloads are sent unchanged"),
            (to + ["--data-dir", "d"], "--data-dir cannot"),
            (["--resume", "r", "--rejects", "r", "a"], "name the same file"),
            (["--resume", "a", "a"], "one of the inputs"),
            (["--rejects", "a", "a"], "one of the inputs"), (["--token", "env:A"], "--token requires --to"),
            (["--connections", "2"], "--connections requires --to"), (to + ["--connections", "0"], "1 to 256"),
            (to + ["--token", "pasted"], "a token on the command line is visible"),
            (["--to", "ftp://a"], "Invalid gateway address"),
            (["--rate", "fast"], "Invalid rate"), (["--speed", "fast", "--time-at", "/t"], "Invalid speed"),
            (["--rate", "0/s"], "a number from 0.001 to 1000000"),
            (["--speed", "0", "--time-at", "/t"], "a factor from 0.001 to 1000000"),
            (["--limit", "0"], "Invalid --limit 0"), (["--payload-at", "payload"], "Invalid JSON Pointer"),
            (["--since", "soon", "--time-at", "/t"], "Invalid time"),
            (["--filter", "{"], "--filter"), (["--filter", #"{"a":1}"#], "--filter 1:6: /a: a field of a pattern"),
        ]
        for (arguments, sentence) in wrong {
            let result = try await binary.run(["replay"] + arguments, in: NSTemporaryDirectory())
            #expect(result.status == 64, "\(arguments)")
            #expect(result.errors.contains(sentence), "\(arguments): \(result.errors)")
            #expect(!result.errors.contains("pasted"))
        }
    }

    /// Both payloads are read at once, long before the second one is due.
    @Test(arguments: [["--speed", "10", "--time-at", "/at"], ["--rate", "4/s"]])
    func aPacedEventIsAcceptedWhenItIsDue(pace: [String]) async throws {
        try await withTemporaryDirectory { directory in
            let config = #"""
                { "destinations": { "inbox": { "builtin": "inbox" } },
                  "routes": [ { "name": "everything", "match": {}, "to": ["inbox"] } ] }
                """#
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let input = [0, 3].map { second in
                #"{"at":"2026-11-20T10:00:0\#(second)Z","payload":{"aps":{"alert":"x"}}}"# + "\n"
            }
            let result = try await binary.run(
                ["replay", "--json", "--payload-at", "/payload"] + pace, input: Data(input.joined().utf8), in: directory
            )
            #expect(result.status == 0, "\(result.errors)")
            let times = try result.output.split(separator: "\n").map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])["time"]
                    as? String
            }
            #expect(times.count == 2 && Set(times).count == 2, "\(result.output)")
        }
    }

    /// The events of a chunk are made anew when it is due, also those of a line whose first payload is rejected.
    @Test func aPacedEventBehindARejectionIsAcceptedWhenItIsDue() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"""
                { "destinations": { "inbox": { "builtin": "inbox" } },
                  "routes": [ { "name": "everything", "match": {}, "to": ["inbox"] } ] }
                """#
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let good = #"{"aps":{"alert":"x"}}"#
            let lines = String(repeating: "\(good)\n{\"a\":1e999} \(good)\n", count: 3)
            let result = try await binary.run(
                ["replay", "--json", "--rate", "20/s"], input: Data(lines.utf8), in: directory)
            #expect(result.status == 1 && result.errors.contains(#""events":6,"rejected":3"#), "\(result.errors)")
            let times = try result.output.split(separator: "\n").map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])["time"]
                    as? String ?? ""
            }
            #expect(times.count == 6 && times == times.sorted(), "\(result.output)")
        }
    }

    @Test func rejectsALineOfTwentyMegabytes() async throws {
        let line = #"{"aps":{"alert":"x"}}"#
        let long = #"{"aps":{"alert":""# + String(repeating: "y", count: 20 << 20) + #""}}"#
        let result = try await dryRun([], input: "\(line)\n\(long)\n\(line)\n")
        #expect(result.status == 1)
        #expect(result.errors.contains("2 events, 1 rejected"))
    }

    @Test func rejectsAreWrittenWithTheirPlaces() async throws {
        try await withTemporaryDirectory { directory in
            try Data(Gateway.config(to: "http://127.0.0.1:1/").utf8)
                .write(to: URL(fileURLWithPath: directory + "/routes.json"))
            try Data("{}\nnope\n".utf8).write(to: URL(fileURLWithPath: directory + "/a"))
            // The output of an earlier run is removed.
            try Data("old and longer than what comes, for certain: \(String(repeating: "x", count: 500))".utf8)
                .write(to: URL(fileURLWithPath: directory + "/rejects"))
            let result = try await binary.run(
                ["replay", "--dry-run", "a", "--rejects", "rejects"], in: directory,
                environment: ["WEBHOOK_SECRET": Gateway.secret])
            #expect(result.status == 1)
            let text = try String(contentsOfFile: directory + "/rejects", encoding: .utf8)
            let reject = try #require(
                try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            #expect(reject["line"] as? Int == 2 && reject["offset"] as? Int == 3)
            #expect(reject["code"] as? String == "payload-not-json" && reject["input"] as? String == "a")
            #expect(Set(reject.keys) == ["line", "offset", "code", "message", "input"])
        }
    }
}
