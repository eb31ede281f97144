import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// The live view and the observations of the built binary.
@Suite(.timeLimit(.minutes(3))) struct StreamTests {
    private static let payload = Data(#"{"aps":{"alert":{"title":"Hello"}},"promo":{"code":"secret-value"}}"#.utf8)
    private static let access = """
        "sources": { "app": { "auth": { "bearer": ["env:APP"] } } },
        "admin": { "auth": { "bearer": ["env:ADMIN"] }, "tokens": {
            "rita": { "bearer": "env:RITA", "role": "reader", "content": false } } },
        """
    private static let tokens = ["APP": "app-token", "ADMIN": "admin-token", "RITA": "rita-token"]

    private static func list(_ gateway: Gateway, _ path: String, _ member: String) async throws -> [[String: Any]] {
        let answer = try await gateway.request("GET", path)
        #expect(answer.status == 200)
        return answer.json[member] as? [[String: Any]] ?? []
    }

    @Test func showsWhatHappens() async throws {
        try await Gateway.run { gateway, _, _ in
            let (reader, first) = try await StreamReader.open(gateway, "?types=event,delivery,destination")
            #expect(first.id != nil && first.event == nil)
            let answer = try await gateway.post(Self.payload)
            let event = try #require(await reader.next("event"))
            #expect(event.json["id"] as? String == answer.json["id"] as? String)
            #expect(event.json["title"] as? String == "Hello" && event.json["vendor"] as? String == "unknown")
            #expect(event.json["routes"] as? [String] == ["everything"] && event.json["evidence"] as? [String] == [])
            let delivery = try #require(await reader.next("delivery"))
            #expect(delivery.json["event"] as? String == answer.json["id"] as? String)
            #expect(delivery.json["outcome"] as? String == "delivered" && delivery.json["attempt"] as? Int == 1)
            #expect((200..<300).contains(delivery.json["status"] as? Int ?? 0))
            #expect(try await gateway.request("POST", "/v1/destinations/crm/pause?reason=test").status == 200)
            let change = try #require(await reader.next("destination"))
            #expect(change.json["state"] as? String == "paused" && change.json["reason"] as? String == "test")
            await reader.cut()
        }
    }

    @Test func aPatternSelectsEvents() async throws {
        try await Gateway.run { gateway, _, _ in
            let pattern = "%7B%22data%22%3A%7B%22kind%22%3A%5B%22silent%22%5D%7D%7D"
            let (reader, _) = try await StreamReader.open(gateway, "?types=event&pattern=\(pattern)")
            #expect(try await gateway.post(Self.payload).status == 202)
            #expect(try await gateway.post(Data(#"{"aps":{"content-available":1}}"#.utf8)).status == 202)
            #expect(await reader.next("event")?.json["kind"] as? String == "silent")
            await reader.cut()
            let refused = try await gateway.request("GET", "/v1/stream?pattern=%7B%22data%22%3A7%7D")
            #expect(refused.status == 400 && refused.json["code"] as? String == "pattern-invalid")
            #expect(refused.json["pointer"] as? String == "/data")
            #expect(refused.json["line"] as? String == "1" && refused.json["column"] as? String == "9")
        }
    }

    @Test(arguments: [
        "types=events", "types=", "rate=0", "rate=21", "rate=x", "pattern=%7B", "typos=event",
    ])
    func rejectsInvalidParameters(query: String) async throws {
        try await Gateway.run { gateway, _, _ in
            #expect(try await gateway.request("GET", "/v1/stream?\(query)").status == 400)
            let answer = try await Reply(gateway.url + "/v1/stream", "--header", "last-event-id: 17")
            #expect(answer.status == 400)
            #expect(try await Reply(gateway.url + "/v1/stream", "--head").status == 200)
        }
    }

    @Test func aResumedStreamRepeatsNoEvent() async throws {
        try await Gateway.run { gateway, _, _ in
            let (reader, _) = try await StreamReader.open(gateway, "?types=event")
            var sent: [String] = []
            func send() async throws {
                sent.append(try #require(try await gateway.post(Self.payload).json["id"] as? String))
            }
            try await send()
            let last = try #require(await reader.next("event"))
            await reader.cut()
            for _ in 0..<3 { try await send() }
            let (resumed, _) = try await StreamReader.open(gateway, "?types=event", after: last.id)
            var seen = [last.json["id"] as? String]
            for _ in 0..<3 { seen.append(await resumed.next("event")?.json["id"] as? String) }
            #expect(seen == sent)
            await resumed.cut()
        }
    }

    /// A response that ends completely did not wait for the end of the stop.
    @Test func streamsEndWithTheGateway() async throws {
        try await Gateway.run { gateway, _, _ in
            var readers: [StreamReader] = []
            for _ in 0..<3 { readers.append(try await StreamReader.open(gateway).reader) }
            gateway.process.signal(SIGTERM)
            for reader in readers { #expect(await reader.end() == 0) }
        }
    }

    @Test func refusesTheNinthStream() async throws {
        try await Gateway.run { gateway, _, _ in
            var readers: [StreamReader] = []
            for _ in 0..<8 { readers.append(try await StreamReader.open(gateway).reader) }
            let ninth = try await Reply(gateway.url + "/v1/stream")
            #expect(ninth.status == 503 && ninth.headers["retry-after"] == "5")
            await readers.removeLast().cut()
            // The gateway notices that the reader is gone, without sending anything.
            var status = 503
            while status == 503 {
                // curl ends after a second, with the status of an open stream.
                status = try await Reply(gateway.url + "/v1/stream", "--max-time", "1").status
            }
            #expect(status == 200)
            for reader in readers { await reader.cut() }
        }
    }

    @Test func aTokenWithoutContentSeesNoTexts() async throws {
        try await Gateway.run(config: Self.access, environment: Self.tokens) { gateway, _, _ in
            #expect(try await gateway.request("GET", "/v1/stream", token: "app-token").status == 401)
            let pattern = "/v1/stream?pattern=%7B%7D"
            #expect(try await gateway.request("GET", pattern, token: "rita-token").status == 403)
            let (reader, _) = try await StreamReader.open(gateway, "?types=event", token: "rita-token")
            let headers = [(name: "authorization", value: "Bearer app-token")]
            #expect(try await gateway.post(Self.payload, headers: headers).status == 202)
            let event = try #require(await reader.next("event"))
            #expect(event.json["title"] as? String == "[hidden]" && !event.data.contains("Hello"))
            await reader.cut()
        }
    }

    @Test func aReloadEndsTheStreamsOfRevokedTokens() async throws {
        try await Gateway.run(config: Self.access, environment: Self.tokens) { gateway, receiver, directory in
            let (rita, _) = try await StreamReader.open(gateway, "?types=event", token: "rita-token")
            let (admin, _) = try await StreamReader.open(gateway, "?types=event", token: "admin-token")
            let config = Gateway.config(
                to: receiver.url,
                more: """
                    "sources": { "app": { "auth": { "bearer": ["env:APP"] } } },
                    "admin": { "auth": { "bearer": ["env:ADMIN"] } },
                    """)
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"), options: .atomic)
            gateway.process.signal(SIGHUP)
            #expect(await rita.end() == 0)
            let headers = [(name: "authorization", value: "Bearer app-token")]
            #expect(try await gateway.post(Self.payload, headers: headers).status == 202)
            #expect(await admin.next("event") != nil)
            await admin.cut()
        }
    }

    // MARK: Observations

    @Test func listsRefusedPayloadsWithoutTheirBodies() async throws {
        try await Gateway.run { gateway, _, _ in
            #expect(try await gateway.post(Data(#"{"aps":"broken-value"#.utf8)).status == 400)
            let batch = Data("{\"aps\":{}}\nbroken-value\n".utf8)
            #expect(try await gateway.post(batch).status == 207)
            let rejections = try await Self.list(gateway, "/v1/rejections", "rejections")
            #expect(rejections.map { $0["code"] as? String } == ["payload-not-json", "payload-truncated"])
            #expect(rejections.map { $0["line"] as? Int } == [2, 1])
            #expect(rejections.allSatisfy { $0["source"] as? String == "default" && $0["door"] as? String == "api" })
            #expect(rejections.last?["bytes"] as? Int == 20)
            #expect(!"\(rejections)".contains("broken-value"))
            for (query, count) in [("since=2020-01-01T00:00:00Z", 2), ("until=2020-01-01T00:00:00Z", 0)] {
                #expect(try await Self.list(gateway, "/v1/rejections?" + query, "rejections").count == count)
            }
        }
    }

    @Test func listsRefusedPushes() async throws {
        try await CaptureSetting.run { setting async throws in
            #expect(try await setting.push(to: "zz").hasSuffix("400"))
            let text = try await setting.api("/v1/rejections").json
            let rejection = try #require((text["rejections"] as? [[String: Any]])?.first)
            #expect(rejection["code"] as? String == "BadDeviceToken" && rejection["door"] as? String == "apns")
        }
    }

    @Test func showsAKeyThatNoDetectorReads() async throws {
        try await Gateway.run { gateway, _, directory in
            #expect(try await gateway.post(Self.payload).status == 202)
            var keys: [[String: Any]] = []
            var text = ""
            while keys.isEmpty {
                text = try await gateway.get("/v1/vendors", keeping: 1 << 20).text
                let vendors = try await Self.list(gateway, "/v1/vendors", "vendors")
                keys = vendors.first?["newKeys"] as? [[String: Any]] ?? []
                #expect(vendors.first?["events"] as? Int == 1 && vendors.first?["share"] as? Double == 1)
            }
            #expect(keys.map { $0["pointer"] as? String } == ["/promo/code"])
            #expect(keys.first?["type"] as? String == "string" && keys.first?["count"] as? Int == 1)
            #expect(!text.contains("secret-value"))
        }
    }

    @Test func knowsKeysAfterARestart() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"{ "gateway": { "name": "test" } }"#
            let first = try await Gateway.start(in: directory, config: config)
            #expect(try await first.post(Self.payload).status == 202)
            #expect(await first.stop() == 0)
            let second = try await Gateway.start(in: directory)
            let vendors = try await Self.list(second, "/v1/vendors", "vendors")
            let keys = vendors.first?["newKeys"] as? [[String: Any]] ?? []
            #expect(keys.map { $0["pointer"] as? String } == ["/promo/code"])
            #expect(vendors.first?["events"] as? Int == 0)
            #expect(await second.stop() == 0)
        }
    }

    @Test func countsByTheSecond() async throws {
        try await Gateway.run { gateway, _, _ in
            for _ in 0..<3 { #expect(try await gateway.post(Self.payload).status == 202) }
            func sum(_ group: String, _ name: String) async throws -> Int {
                let answer = try await gateway.request("GET", "/v1/stats?window=1m&step=1s")
                let series = answer.json["series"] as? [String: [String: [Int]]]
                #expect(answer.json["step"] as? Int == 1)
                return series?[group]?[name]?.reduce(0, +) ?? 0
            }
            while try await sum("received", "unknown") < 3 {}
            while try await sum("delivered", "crm") < 3 {}
            #expect(try await sum("delivered", "crm") == 3)
            for query in ["window=16m", "window=500ms", "step=0s", "window=1s&step=2s", "step=1h"] {
                #expect(try await gateway.request("GET", "/v1/stats?\(query)").status == 400, "\(query)")
            }
        }
    }
}
