import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Routes and patterns, on the built binary.
@Suite(.timeLimit(.minutes(15))) struct RouteTests {
    private func write(_ text: String, to path: String) throws {
        let url = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private let inbox = #""destinations": { "inbox": { "builtin": "inbox" } }"#

    // MARK: Check

    @Test func warningsFailAStrictCheckOnly() async throws {
        try await withTemporaryDirectory { directory in
            try write(#"{ \#(inbox), "routes": [] }"#, to: directory + "/routes.json")
            let warned = try await binary.run(["routes", "check"], in: directory)
            #expect(warned.status == 0)
            #expect(warned.output == "routes.json: 0 routes, 1 destination, 0 sources: can be used\n")
            #expect(warned.errors.hasPrefix("routes.json:1:21: warning: /destinations/inbox: no route delivers to"))
            #expect(warned.errors.hasSuffix("routes.json: 1 warning\n"))
            let strict = try await binary.run(["routes", "check", "--strict"], in: directory)
            #expect(strict.status == 2)
            #expect(strict.errors == warned.errors && strict.output.isEmpty)
        }
    }

    @Test func filesNextToTheConfigBelongToIt() async throws {
        try await withTemporaryDirectory { directory in
            try write(
                #"{ \#(inbox), "routes": [ { "name": "all", "match": {}, "to": ["inbox"] } ] }"#,
                to: directory + "/etc/routes.json")
            try write(
                #"{ "routes": [ { "name": "more", "match": {}, "to": ["inbox", "crm"] } ] }"#,
                to: directory + "/etc/routes.d/20-more.json")
            try write("not read", to: directory + "/etc/routes.d/notes.txt")
            try write("not read", to: directory + "/etc/routes.d/.20-more.json.swp.json")
            let wrong = try await binary.run(["routes", "check", "etc/routes.json"], in: directory)
            #expect(wrong.status == 2)
            #expect(
                wrong.errors.hasPrefix(
                    "etc/routes.d/20-more.json:1:62: error: /routes/0/to/1: there is no destination \"crm\""))
            try write(
                #"{ "destinations": { "crm": { "builtin": "inbox" } } }"#, to: directory + "/etc/routes.d/10-crm.json")
            let right = try await binary.run(["routes", "check", "etc/routes.json"], in: directory)
            #expect(right.status == 0)
            #expect(right.output == "etc/routes.json: 2 routes, 2 destinations, 0 sources: nothing wrong\n")
        }
    }

    @Test func theSchemaIsPrinted() async throws {
        let result = try await binary.run(["routes", "schema"])
        #expect(result.status == 0)
        let schema = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        #expect(schema?["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
    }

    // MARK: Cases

    private let routes = #"""
        { "destinations": { "inbox": { "builtin": "inbox" }, "crm": { "builtin": "inbox" } },
          "routes": [
            { "name": "braze", "match": { "data": { "vendor": ["braze"] } }, "to": ["crm"], "sample": "1%", "stop": true },
            { "name": "office", "match": {}, "to": ["inbox"], "window": { "hours": "08:00-17:00" } } ] }
        """#

    @Test func testsRoutesWithCases() async throws {
        try await withTemporaryDirectory { directory in
            try write(routes, to: directory + "/routes.json")
            try write(#"{"aps":{"alert":"Hi"},"ab":{"c":"NjVmMF9jbXA="}}"#, to: directory + "/cases/braze.json")
            try write(
                #"""
                [
                  { "name": "braze goes to the CRM", "file": "braze.json", "expect": ["braze"], "expectDestinations": ["crm"] },
                  { "name": "others by day", "payload": { "aps": { "alert": "Hi" } }, "time": "2026-11-20T09:00:00Z", "expect": ["office"] },
                  { "name": "others by night", "payload": { "aps": { "alert": "Hi" } }, "time": "2026-11-20T03:00:00Z", "expect": ["office", "braze"], "expectDestinations": ["inbox"] },
                  { "name": "an event", "event": { "specversion": "1.0", "id": "1", "source": "/x", "type": "t", "time": "2026-11-20T09:00:00Z", "data": { "vendor": "braze" } }, "expect": [] }
                ]
                """#, to: directory + "/cases/all.json")
            let result = try await binary.run(["routes", "test", "cases/all.json"], in: directory)
            #expect(result.status == 1)
            #expect(
                result.output == """
                    ok    braze goes to the CRM
                    ok    others by day
                    FAIL  others by night
                          - route office: no; the event's time is outside its window
                          - route braze: no; /data/vendor is "unknown"
                          - destination inbox
                    FAIL  an event
                          + route braze
                    4 cases: 2 passed, 2 failed

                    """)
            let json = try await binary.run(["routes", "test", "--json", "cases/all.json"], in: directory)
            #expect(json.status == 1)
            let answer = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
            #expect(answer?["passed"] as? Int == 2 && answer?["failed"] as? Int == 2)
            let cases = answer?["cases"] as? [[String: Any]]
            #expect(cases?.map { $0["passed"] as? Bool } == [true, true, false, false])
            #expect(cases?[0]["routes"] as? [String] == ["braze"])
            #expect(cases?[3]["differences"] as? [String] == ["+ route braze"])
        }
    }

    /// The examples of the repository, next to the sources of this test.
    @Test func theExamplesAreGood() async throws {
        let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Examples").standardized.path
        let names = try FileManager.default.contentsOfDirectory(atPath: examples + "/configs").sorted()
        #expect(!names.isEmpty)
        for name in names {
            let result = try await binary.run(["routes", "check", "--strict", "configs/" + name], in: examples)
            #expect(result.status == 0, "\(name): \(result.errors)")
        }
        let result = try await binary.run(
            ["routes", "test", "route-cases.json", "--config", "configs/less-and-other.json"], in: examples)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.hasSuffix("3 cases: 3 passed, 0 failed\n"))
    }

    @Test func explainNamesTheFieldThatDoesNotMatch() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"""
                { \#(inbox), "routes": [
                  { "name": "off", "match": {}, "to": ["inbox"], "enabled": false },
                  { "name": "over", "match": {}, "to": ["inbox"], "window": { "until": "2020-01-01T00:00:00Z" } },
                  { "name": "none", "match": {}, "to": ["inbox"], "sample": 0 },
                  { "name": "braze", "match": { "data": { "vendor": ["braze"] } }, "to": ["inbox"] },
                  { "name": "all", "match": {}, "to": ["inbox"], "stop": true },
                  { "name": "last", "match": {}, "to": ["inbox"] } ] }
                """#
            try write(config, to: directory + "/routes.json")
            let result = try await binary.run(["explain"], input: Data(#"{"aps":{"alert":"Hi"}}"#.utf8), in: directory)
            #expect(result.status == 0)
            #expect(
                result.output.hasSuffix(
                    """

                    Routes
                      off: no; it is disabled
                      over: no; the event's time is outside its window
                      none: no; the event is not in its sample
                      braze: no; /data/vendor is "unknown"
                      all: yes, to inbox
                      last: not evaluated, because all has "stop"

                    """))
        }
    }

    @Test func reportsErrorsInCasesWithTheirPositions() async throws {
        try await withTemporaryDirectory { directory in
            try write(routes, to: directory + "/routes.json")
            try write(
                "[\n  { \"name\": \"x\", \"payload\": {}, \"expect\": [\"brace\"] },\n  { \"name\": \"y\", \"expect\": [] }\n]",
                to: directory + "/cases.json")
            let result = try await binary.run(["routes", "test", "cases.json"], in: directory)
            #expect(result.status == 2)
            #expect(
                result.errors == """
                    cases.json:2:44: error: /0/expect/0: there is no route "brace"
                       2 |   { "name": "x", "payload": {}, "expect": ["brace"] },
                         |                                            ^~~~~~~
                      hint: did you mean "braze"?
                    cases.json:3:3: error: /1: a case must have either a "payload", an "event", or a "file" that holds one of them
                       3 |   { "name": "y", "expect": [] }
                         |   ^
                    cases.json: 2 errors

                    """)
        }
    }

    @Test func saysWhyTheFileOfACaseCannotBeRead() async throws {
        try await withTemporaryDirectory { directory in
            try write(routes, to: directory + "/routes.json")
            try write(
                "[\n  { \"name\": \"x\", \"file\": \"nope.json\", \"expect\": [] },\n"
                    + "  { \"name\": \"y\", \"file\": \"/dev/zero\", \"expect\": [] }\n]",
                to: directory + "/cases.json")
            let result = try await binary.run(["routes", "test", "cases.json"], in: directory)
            #expect(result.status == 2 && result.output.isEmpty)
            #expect(
                result.errors == """
                    cases.json:2:26: error: /0/file: this file cannot be read: No such file or directory
                       2 |   { "name": "x", "file": "nope.json", "expect": [] },
                         |                          ^~~~~~~~~~~
                      hint: it should contain the payload or the event
                    cases.json:3:26: error: /1/file: this file cannot be read: it is a device, not a file
                       3 |   { "name": "y", "file": "/dev/zero", "expect": [] }
                         |                          ^~~~~~~~~~~
                      hint: it should contain the payload or the event
                    cases.json: 2 errors

                    """)
            let missing = try await binary.run(["routes", "test", "none.json"], in: directory)
            #expect(missing.errors.hasPrefix("signalbox: Cannot read none.json: No such file or directory."))
        }
    }

    @Test func readsCasesFromStandardInput() async throws {
        try await withTemporaryDirectory { directory in
            try write(routes, to: directory + "/routes.json")
            let cases = #"[{ "name": "x", "payload": { "ab": { "c": "NjVmMF9jbXA=" }, "aps": { "alert": "Hi" } }, "#
            let good = try await binary.run(
                ["routes", "test", "-"], input: Data((cases + #""expect": ["braze"] }]"#).utf8), in: directory)
            #expect(good.status == 0 && good.output == "ok    x\n1 case: 1 passed, 0 failed\n", "\(good.errors)")
            let bad = try await binary.run(
                ["routes", "test", "-"], input: Data((cases + #""expect": ["brace"] }]"#).utf8), in: directory)
            #expect(bad.status == 2)
            #expect(bad.errors.hasPrefix("standard input:1:"), "\(bad.errors)")
            let empty = try await binary.run(["routes", "test", "-"], in: directory)
            #expect(empty.status == 2 && empty.errors.contains("it should contain a JSON array of cases"))
        }
    }

    // MARK: A running gateway

    @Test func showsRouteCountersAndTestsAPayload() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"""
                { \#(inbox), "routes": [
                  { "name": "off", "match": {}, "to": ["inbox"], "enabled": false },
                  { "name": "say \"hi\"", "match": { "data": { "vendor": ["unknown"] } }, "to": ["inbox"] },
                  { "name": "braze", "match": { "data": { "vendor": ["braze"] } }, "to": ["inbox"], "stop": true },
                  { "name": "rest", "match": {}, "to": ["inbox"] } ] }
                """#
            let gateway = try await Gateway.start(in: directory, config: config)
            let payload = Data(#"{"aps":{"alert":"Hi"}}"#.utf8)
            #expect(try await gateway.post(payload).json["routes"] as? [String] == ["say \"hi\"", "rest"])
            let test = try await gateway.post(
                Data(#"{"aps":{"alert":"Hi"},"ab":{"c":"NjVmMF9jbXA="}}"#.utf8), to: "/v1/routes/test")
            #expect(test.status == 200)
            let entries = test.json["routes"] as? [[String: Any]]
            #expect(entries?.map { $0["matched"] as? Bool } == [false, false, true, false])
            #expect(entries?[0]["reason"] as? String == "disabled")
            #expect(entries?[1]["pointer"] as? String == "/data/vendor" && entries?[1]["found"] as? String == "braze")
            #expect(entries?[3]["by"] as? String == "braze")
            #expect(test.json["destinations"] as? [String] == ["inbox"])
            let dead = try await gateway.post(
                Data(#"{"specversion":"1.0","id":"1","source":"/x","type":"io.signalbox.delivery.dead"}"#.utf8),
                to: "/v1/routes/test")
            let reasons = (dead.json["routes"] as? [[String: Any]])?.map { $0["pointer"] as? String }
            #expect(reasons == [nil, "/data/vendor", "/data/vendor", "/type"])
            #expect(dead.json["destinations"] as? [String] == [])
            let refused = try await gateway.post(Data("nonsense".utf8), to: "/v1/routes/test")
            #expect(refused.status == 400 && refused.json["code"] as? String == "payload-not-json")
            let list = try await gateway.get("/v1/routes", keeping: 64 * 1024).text
            let answer = try JSONSerialization.jsonObject(with: Data(list.utf8)) as? [String: Any]
            let routes = answer?["routes"] as? [[String: Any]]
            #expect(routes?.map { $0["name"] as? String } == ["off", "say \"hi\"", "braze", "rest"])
            #expect(routes?.map { $0["matched"] as? Int } == [0, 1, 0, 1])
            #expect(routes?.map { $0["enabled"] as? Bool } == [false, true, true, true])
            let metrics = try await gateway.metrics()
            #expect(metrics.contains("signalbox_route_matched_total{route=\"say \\\"hi\\\"\"} 1\n"))
            #expect(metrics.contains("signalbox_route_matched_total{route=\"braze\"} 0\n"))
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func destinationsReceiveTheTransformedEventOfTheirRoute() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let config = #"""
                    { "egress": { "allow": ["127.0.0.0/8"] },
                      "destinations": { "crm": { "url": "\#(receiver.url)", "secret": "env:WEBHOOK_SECRET" } },
                      "routes": [ { "name": "r", "match": {}, "to": ["crm"],
                        "redact": { "/data/custom/email": "hash" },
                        "transform": { "map": { "mail": "/data/custom/email", "title": "/data/content/body" } } } ] }
                    """#
                let gateway = try await Gateway.start(in: directory, config: config)
                let receipt = try await gateway.post(Data(#"{"aps":{"alert":"Hi"},"email":"a@b.c"}"#.utf8))
                let message = try #require(await receiver.next(1).first)
                let event = try JSONSerialization.jsonObject(with: Data(message.body)) as? [String: Any]
                #expect(event?["id"] as? String == receipt.json["id"] as? String)
                #expect(event?["dataschema"] == nil)
                let data = event?["data"] as? [String: String]
                #expect(data?.keys.sorted() == ["mail", "title"])
                #expect(data?["title"] == "Hi")
                #expect(data?["mail"]?.count == 71 && data?["mail"]?.hasPrefix("sha256:") == true)
                #expect(await gateway.stop() == 0)
            }
        }
    }
}
