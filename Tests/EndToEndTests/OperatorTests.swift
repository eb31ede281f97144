import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Features for operators and careful senders, on the built binary.
@Suite(.timeLimit(.minutes(15))) struct OperatorTests {
    private let payload = Data(#"{"aps":{"alert":"Hi"},"ab":{"c":"NjVmMF9jbXA="}}"#.utf8)

    // MARK: Repeats

    @Test func storesARepeatedRequestOnceAndRepeatsItsResponse() async throws {
        try await Gateway.run { gateway, receiver, directory in
            let key = [(name: "idempotency-key", value: "\"7f3c\"")]
            let first = try await gateway.post(payload, headers: key)
            let again = try await gateway.post(payload, headers: [("idempotency-key", "7f3c")])
            #expect(first.status == 202 && again.status == 202)
            #expect(first.json["id"] as? String == again.json["id"] as? String)
            let other = try await gateway.post(Data(#"{"aps":{}}"#.utf8), headers: key)
            #expect(other.status == 422)
            #expect(other.json["code"] as? String == "idempotency-key-reused")
            // A rejected request has no event, so its repeat is read and rejected again.
            for body in ["5x", "", "5"] {
                let key = [(name: "idempotency-key", value: "rejected-\(body.count)")]
                let first = try await gateway.post(Data(body.utf8), headers: key)
                let second = try await gateway.post(Data(body.utf8), headers: key)
                #expect(first.status == 400 && second.status == 400, "\(body)")
            }
            let malformed = try await gateway.post(payload, headers: [("idempotency-key", "a b")])
            #expect(malformed.json["code"] as? String == "idempotency-key-malformed")
            #expect(await receiver.next(1).count == 1)
            let list = try await binary.run(["deliveries", "list", "--json"], in: directory)
            #expect(list.output.split(separator: "\n").count == 1)
        }
    }

    @Test func storesOneOfEqualEventsWithinTheWindow() async throws {
        let source =
            #""sources": { "app": { "auth": { "bearer": ["env:APP"] }, "dedupe": { "key": "/data/campaign/id", "window": "10m" } } },"#
        try await Gateway.run(config: source, environment: ["APP": "app-token"]) { gateway, receiver, directory in
            let token = [(name: "authorization", value: "Bearer app-token")]
            let first = try await gateway.post(payload, headers: token)
            let again = try await gateway.post(payload, headers: token)
            #expect(again.status == 202)
            #expect(again.json["duplicate"] as? Bool == true)
            #expect(again.json["id"] as? String == first.json["id"] as? String)
            #expect(await receiver.next(1).map(\.id) == [first.json["id"] as? String])
            let audit = try await binary.run(["audit"], in: directory, environment: ["APP": "app-token"])
            #expect(audit.status == 0)
        }
    }

    // MARK: Operators

    @Test func aSourceTokenIsNotAnAdminToken() async throws {
        let config =
            #""sources": { "app": { "auth": { "bearer": ["env:APP"] } } }, "admin": { "auth": { "bearer": ["env:ADMIN"] } },"#
        let environment = ["APP": "app-token", "ADMIN": "admin-token"]
        try await Gateway.run(config: config, environment: environment) { gateway, _, _ in
            for path in ["/v1/deliveries", "/v1/destinations", "/metrics", "/v1/deliveries/1"] {
                let status = try await gateway.get(path).status
                #expect(status == 401, "\(path)")
            }
            let asSource = [(name: "authorization", value: "Bearer app-token")]
            let refused = try await gateway.post(Data(), to: "/v1/destinations/crm/pause", headers: asSource)
            #expect(refused.status == 401)
            let asAdmin = [(name: "authorization", value: "Bearer admin-token")]
            let paused = try await gateway.post(Data(), to: "/v1/destinations/crm/pause", headers: asAdmin)
            #expect(paused.status == 200)
            let handedIn = try await gateway.post(payload, headers: asAdmin)
            #expect(handedIn.status == 401)
        }
    }

    /// Behind a proxy on this machine, every client seems to be local.
    @Test func withoutATokenOperatorsNeedOpenAccess() async throws {
        let source = #""sources": { "app": { "auth": { "bearer": ["env:APP"] } } },"#
        try await Gateway.run(config: source, environment: ["APP": "app-token"]) { gateway, _, _ in
            let deliveries = try await gateway.get("/v1/deliveries")
            #expect(deliveries.status == 403)
            #expect(deliveries.text.contains("admin-closed"))
        }
        try await Gateway.run { gateway, _, _ in
            let deliveries = try await gateway.get("/v1/deliveries")
            #expect(deliveries.status == 200)
            for name in ["x-forwarded-for", "forwarded", "via"] {
                let answer = try await gateway.post(
                    Data(), to: "/v1/destinations/crm/pause", headers: [(name, "198.51.100.7")])
                #expect(answer.status == 403, "\(name)")
            }
        }
    }

    /// More complete batches than the destination's concurrency, and a backlog in the queue.
    @Test func batchesOfABacklogAllArrive() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let config = """
                    { "egress": { "allow": ["127.0.0.0/8"] },
                      "destinations": { "crm": { "url": "\(receiver.url)", "secret": "env:WEBHOOK_SECRET",
                        "concurrency": 1, "format": "cloudevents-batch",
                        "batch": { "count": 5, "bytes": "1KB", "age": "10ms" } } },
                      "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
                    """
                let gateway = try await Gateway.start(in: directory, config: config)
                let paused = try await gateway.post(Data(), to: "/v1/destinations/crm/pause")
                #expect(paused.status == 200)
                let lines = String(
                    repeating: #"{"aps":{"alert":"\#(String(repeating: "x", count: 400))"}}"# + "\n", count: 40)
                #expect(try await gateway.post(Data(lines.utf8)).status == 202)
                let resumed = try await gateway.post(Data(), to: "/v1/destinations/crm/resume")
                #expect(resumed.status == 200)
                while try await !gateway.get("/v1/destinations").text.contains(#""waiting":0"#) {}
                #expect(await gateway.stop() == 0)
                let audit = try await binary.run(["audit"], in: directory).output
                #expect(audit.contains("crm                  40         40 "))
            }
        }
    }

    @Test func refusesATokenOfASourceAndAnOperator() async throws {
        try await withTemporaryDirectory { directory in
            let config =
                #"{ "sources": { "app": { "auth": { "bearer": ["env:T"] } } }, "admin": { "auth": { "bearer": ["env:T"] } } }"#
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let result = try await binary.run(["serve"], in: directory, environment: ["T": "same"])
            #expect(result.status == 2)
            #expect(result.errors.contains("operators need their own"))
        }
    }

    /// Operators see an open breaker in every view, even from another process.
    @Test func showsWhyDeliveriesWait() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(answer: { _ in 503 }) { receiver in
                let config = """
                    { "egress": { "allow": ["127.0.0.0/8"] },
                      "destinations": { "crm": { "url": "\(receiver.url)", "secret": "env:WEBHOOK_SECRET",
                        "ordering": "fifo", "retry": { "base": "1h" }, "breaker": { "failures": 1, "probe": "1h" } } },
                      "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
                    """
                let gateway = try await Gateway.start(in: directory, config: config)
                for _ in 0..<2 { #expect(try await gateway.post(payload).status == 202) }
                // The lane opens the breaker, and records it in the queue then.
                while try await !gateway.get("/v1/destinations").text.contains(#""reason":"circuit breaker"#) {
                    await Task.yield()
                }
                let list = try await gateway.get("/v1/destinations").text
                let reason = "circuit breaker open after 1 failures in a row, the last: answered 503"
                #expect(list.contains(#""until":"20"#) && list.contains(#""reason":"\#(reason)""#), "\(list)")
                let metrics = try await gateway.metrics()
                #expect(metrics.contains(#"signalbox_destination_up{destination="crm"} 0"#))
                #expect(metrics.contains(#"signalbox_destination_state{destination="crm",state="breaker_open"} 1"#))
                #expect(metrics.contains(#"signalbox_destination_state{destination="crm",state="active"} 0"#))
                let first = try await gateway.get("/v1/deliveries/1").text
                #expect(first.contains(#""waitingFor":{"reason":"retry","until":"20"#), "\(first)")
                let second = try await gateway.get("/v1/deliveries/2").text
                #expect(
                    second.contains(#""waitingFor":{"reason":"fifo-predecessor","detail":"delivery 1 goes first"}"#))
                let page = try await gateway.get("/v1/deliveries", keeping: 10_000).text
                #expect(page.contains(#""waitingFor":{"reason":"retry""#))

                let shown = try await binary.run(["destinations", "list"], in: directory).output
                #expect(
                    shown.contains("crm               breaker_open") && shown.contains("\(reason) (next attempt at 20"))
                let rows = try await binary.run(["deliveries", "list"], in: directory).output
                #expect(rows.contains("breaker_open: \(reason)") && rows.contains("delivery 1 goes first"))
                let show = try await binary.run(["deliveries", "show", "1"], in: directory).output
                #expect(show.contains(#""waitingFor":{"reason":"retry""#))
                #expect(await gateway.stop() == 0)
                let after = try await binary.run(["destinations", "list"], in: directory).output
                #expect(after.contains("crm               active"), "the breaker ended with the gateway")
            }
        }
    }

    @Test func queuesWhilePausedAndDeliversAfterResume() async throws {
        try await Gateway.run { gateway, receiver, directory in
            #expect(try await gateway.post(Data(), to: "/v1/destinations/crm/pause").status == 200)
            let id = try await gateway.post(payload).json["id"] as? String
            let list = try await gateway.get("/v1/destinations").text
            #expect(list.contains(#""name":"crm","state":"paused""#))
            #expect(list.contains(#""waiting":1"#))
            #expect(try await gateway.metrics().contains(#"signalbox_destination_up{destination="crm"} 0"#))
            let resumed = try await binary.run(["destinations", "resume", "crm"], in: directory)
            #expect(resumed.status == 0)
            #expect(await receiver.next(1).map(\.id) == [id])
            #expect(try await gateway.post(Data(), to: "/v1/destinations/nobody/pause").status == 404)
        }
    }

    @Test func resumesAPausedDestinationThatLeftTheConfig() async throws {
        try await withTemporaryDirectory { directory in
            let former = try await Gateway.start(in: directory, config: Gateway.config(to: "http://127.0.0.1:9/"))
            #expect(try await former.post(Data(), to: "/v1/destinations/crm/pause").status == 200)
            #expect(await former.stop() == 0)
            let gateway = try await Gateway.start(in: directory, config: "{}")
            #expect(try await gateway.post(Data(), to: "/v1/destinations/crm/pause").status == 404)
            #expect(try await gateway.post(Data(), to: "/v1/destinations/crm/resume").status == 200)
            #expect(try await gateway.post(Data(), to: "/v1/destinations/crm/resume").status == 404)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func signsAPingAndDoesNotQueueIt() async throws {
        try await Gateway.run { gateway, receiver, directory in
            let answer = try await gateway.post(Data(), to: "/v1/destinations/crm/ping")
            #expect(answer.json["taken"] as? Bool == true)
            #expect(answer.json["status"] as? Int == 204)
            let message = try #require(await receiver.next(1).first)
            #expect(String(decoding: message.body, as: UTF8.self).contains(#""type":"io.signalbox.ping""#))
            let ping = try await binary.run(
                ["destinations", "ping", "crm"], in: directory, environment: ["WEBHOOK_SECRET": Gateway.secret])
            #expect(ping.status == 0, "\(ping.errors)")
            #expect(try await binary.run(["deliveries", "list", "--json"], in: directory).output.isEmpty)
        }
    }

    @Test func withJSONOnlyTheResultIsOnStandardOutput() async throws {
        try await withTemporaryDirectory { directory in
            let config = """
                { "destinations": { "inbox": { "builtin": "inbox" } },
                  "routes": [{ "name": "all", "match": {}, "to": ["inbox"] }] }
                """
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let ping = try await binary.run(["destinations", "ping", "inbox", "--json"], in: directory)
            #expect(ping.output.hasPrefix(#"{"taken":true,"#) && ping.output.split(separator: "\n").count == 1)
            #expect(!ping.errors.isEmpty, "the inbox still shows the event")
            let replay = try await binary.run(
                ["replay", "--json", "--quiet"], input: try mixedPayloads(), in: directory)
            let lines = replay.output.split(separator: "\n")
            #expect(lines.count == 8, "\(replay.output)")
            #expect(lines.allSatisfy { $0.hasPrefix(#"{"specversion":"1.0","#) && $0.hasSuffix("}") })
        }
    }

    @Test func deliveriesAreListedShownAndRetriedOverHTTP() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(answer: { _ in 400 }) { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                for _ in 0..<3 { _ = try await gateway.post(payload) }
                while try await !gateway.get("/v1/deliveries/3").text.contains(#""state":"dead""#) {}
                let page = try await gateway.get("/v1/deliveries?limit=2&destination=crm").text
                #expect(page.contains(#""id":3"#) && page.contains(#""id":2"#) && !page.contains(#""id":1,"#))
                #expect(page.hasSuffix(#""complete":true}"#))
                let cursor = try #require(page.firstMatch(of: #/"next":"([A-Za-z0-9_-]+)"/#)).1
                #expect(try await gateway.get("/v1/deliveries?cursor=\(cursor)").text.contains(#""id":1"#))
                #expect(try await gateway.get("/v1/deliveries?cursor=2").status == 400)
                let shown = try await gateway.get("/v1/deliveries/1").text
                #expect(shown.contains(#""log":[{"attempt":1,"#) && shown.contains(#""status":400"#))
                #expect(try await gateway.post(Data(), to: "/v1/deliveries/1/retry").json["due"] as? Int == 1)
                #expect(try await gateway.post(Data(), to: "/v1/deliveries/99/retry").status == 404)
                #expect(try await gateway.get("/v1/deliveries?state=lost").status == 400)
                #expect(await gateway.stop() == 0)
                let purged = try await binary.run(["deliveries", "purge", "--state", "dead", "--yes"], in: directory)
                #expect(purged.output == "3 deliveries removed\n")
                #expect(try await binary.run(["audit"], in: directory).status == 0)
            }
        }
    }

    // MARK: Schedules

    @Test func keepsNotBeforeAcrossARestartUnlessTheRouteIgnoresIt() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let config = """
                    { "egress": { "allow": ["127.0.0.0/8"] },
                      "destinations": { "crm": { "url": "\(receiver.url)", "secret": "env:WEBHOOK_SECRET" },
                        "now": { "url": "\(receiver.url)now", "secret": "env:WEBHOOK_SECRET" } },
                      "routes": [ { "name": "all", "match": {}, "to": ["crm"] },
                        { "name": "early", "match": {}, "to": ["now"], "ignore": ["notBefore", "notAfter"] } ] }
                    """
                let embargo =
                    #"{"data":{"handler":"com.sourse.notification","title":"T","embargoDate":"2096-01-01T00:00:00Z"}}"#
                let over =
                    #"{"data":{"handler":"com.sourse.notification","title":"T","expiryDate":"2016-01-01T00:00:00Z"}}"#
                var gateway = try await Gateway.start(in: directory, config: config)
                #expect(try await gateway.post(Data(embargo.utf8)).status == 202)
                #expect(try await gateway.post(Data(over.utf8)).status == 202)
                #expect(await receiver.next(2).count == 2)
                #expect(await gateway.stop() == 0)
                gateway = try await Gateway.start(in: directory)
                while try await !gateway.get("/v1/deliveries?destination=crm").text.contains("expired") {}
                let list = try await gateway.get("/v1/deliveries?destination=crm").text
                #expect(list.contains(#""state":"waiting","attempts":0"#))
                #expect(list.contains(#""due":"2096-01-01T00:00:00.000Z""#))
                #expect(await gateway.stop() == 0)
            }
        }
    }
}
