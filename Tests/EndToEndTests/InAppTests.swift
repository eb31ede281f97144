import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// In-app messages, on the built binary.
@Suite(.timeLimit(.minutes(15))) struct InAppTests {
    private static let policy = #""inapp": { "interval": "0s" },"#

    @Test func aMessageIsOfferedReportedAndDelivered() async throws {
        try await Gateway.run(config: Self.policy) { gateway, receiver, directory in
            let created = try await gateway.register("spring")
            #expect(created.status == 201 && created.json["revision"] as? Int == 1)
            #expect(created.json["active"] as? Bool == true)
            // Explanations are long, and the other client keeps the start of a reply only.
            let answer = try await gateway.request(
                "POST", "/v1/inapp/triggers",
                #"{"device":"d-1","user":"u-9","event":{"type":"event","name":"buy"},"explain":true}"#)
            #expect(answer.status == 200 && answer.json.message == "spring")
            let candidates = try #require(answer.json["candidates"] as? [[String: Any]])
            #expect(candidates.first?["result"] as? String == "shown")
            for outcome in ["shown", "clicked"] {
                let report = try await gateway.report(outcome, of: answer.json.offer)
                #expect(report.status == 200)
            }
            let arrivals = try await receiver.next(4).map { try InAppArrival($0) }
            #expect(Set(arrivals.map(\.kind)) == ["offered", "impression", "clicked", "dismissed"])
            #expect(arrivals.allSatisfy { $0.data["offer"] as? String == answer.json.offer })
            #expect(arrivals.allSatisfy { $0.data["message"] as? String == "spring" })
            #expect(try await binary.run(["audit"], in: directory).status == 0)
        }
    }

    @Test func changesListsAndWithdrawsMessages() async throws {
        try await Gateway.run(config: Self.policy) { gateway, _, _ in
            for id in ["a", "b%2F%C3%A9", "c"] { #expect(try await gateway.register(id).status == 201) }
            let equal = try await gateway.register("a")
            #expect(equal.status == 200 && equal.json["revision"] as? Int == 1, "nothing was created")
            let changed = try await gateway.register("a", #","rank":10"#)
            #expect(changed.status == 200 && changed.json["revision"] as? Int == 2)
            let shown = try await gateway.request("GET", "/v1/inapp/messages/b%2F%C3%A9")
            #expect(shown.json["id"] as? String == "b/é")
            #expect((shown.json["form"] as? [String: Any])?["kind"] as? String == "modal")
            #expect(try await gateway.request("DELETE", "/v1/inapp/messages/c").status == 200)
            let first = try await gateway.request("GET", "/v1/inapp/messages?limit=1")
            #expect((first.json["messages"] as? [[String: Any]])?.map { $0["id"] as? String } == ["a"])
            let next = try #require(first.json["next"] as? String)
            let rest = try await gateway.request("GET", "/v1/inapp/messages?cursor=\(next)")
            #expect((rest.json["messages"] as? [[String: Any]])?.map { $0["id"] as? String } == ["b/é"])
            for list in ["/v1/inapp/messages?withdrawn=true&", "/v1/categories?", "/v1/deliveries?"] {
                let other = try await gateway.request("GET", "\(list)cursor=\(next)")
                #expect(other.status == 400 && other.json.code == "query-malformed", "\(list)")
            }
            let all = try await gateway.request("GET", "/v1/inapp/messages?withdrawn=true")
            #expect((all.json["messages"] as? [Any])?.count == 3 && all.json["next"] == nil)
            let unknown = try await gateway.request("GET", "/v1/inapp/messages/none")
            #expect(unknown.status == 404 && unknown.json.code == "message-not-found")
            let wrong = try await gateway.request("POST", "/v1/inapp/messages/a")
            #expect(wrong.status == 405)
        }
    }

    @Test func repeatsGetTheSameAnswer() async throws {
        try await Gateway.run(config: Self.policy) { gateway, receiver, _ in
            try await gateway.register("spring")
            let offer = try await gateway.buy(id: "t-1").json.offer
            #expect(offer != nil)
            #expect(try await gateway.buy(id: "t-1").json.offer == offer)
            for _ in 0..<2 {
                let report = try await gateway.report("shown", of: offer)
                #expect(report.status == 200 && report.json["state"] as? String == "shown")
            }
            let contradiction = try await gateway.report("later", of: offer)
            #expect(contradiction.status == 409 && contradiction.json.code == "outcome-contradicts")
            #expect(contradiction.json["state"] as? String == "shown")
            #expect(contradiction.json["reason"] as? String == "already-shown")
            #expect(Set(try await receiver.next(2).map { try InAppArrival($0).kind }) == ["offered", "impression"])
        }
    }

    @Test func aDeviceCannotReportTheOfferOfAnother() async throws {
        try await Gateway.run(config: Self.policy) { gateway, _, _ in
            try await gateway.register("spring")
            let offer = try await gateway.buy().json.offer
            let other = try await gateway.report("dismissed", of: offer, more: #","device":"d-2""#)
            let unknown = try await gateway.report("dismissed", of: "of_00000000000000000000000000000000")
            #expect(other.status == 404 && other.json.code == "offer-not-found")
            #expect(other.json["detail"] as? String == unknown.json["detail"] as? String)
            #expect(try await gateway.report("shown", of: offer, more: #","device":"d-1""#).status == 200)
        }
    }

    /// Devices send their triggers at the same time.
    @Test func capsHoldForSimultaneousDevices() async throws {
        let limit =
            #""inapp": { "interval": "0s", "limits": [{ "name": "one", "count": 1, "per": "user", "window": "lifetime" }] },"#
        try await Gateway.run(config: limit) { gateway, _, _ in
            try await gateway.register("spring", #","limits":[{"count":5,"per":"everyone","window":"lifetime"}]"#)
            let offers = try await withThrowingTaskGroup(of: (String, String?).self) { group in
                for number in 0..<24 {
                    group.addTask {
                        let user = "u-\(number / 2)"
                        return (user, try await gateway.buy(on: "d-\(number)", by: user).json.offer)
                    }
                }
                return try await group.reduce(into: [(String, String)]()) {
                    if let offer = $1.1 { $0.append(($1.0, offer)) }
                }
            }
            #expect(offers.count == 5, "the cap of the campaign")
            #expect(Set(offers.map(\.0)).count == 5, "one for each user")
        }
    }

    @Test func tokensOfSourcesAndOperatorsAreApart() async throws {
        let config =
            #""sources": { "app": { "auth": { "bearer": ["env:APP"] } } }, "admin": { "auth": { "bearer": ["env:ADMIN"] } },"#
        try await Gateway.run(config: config, environment: ["APP": "app-token", "ADMIN": "admin-token"]) {
            gateway, _, _ in
            let trigger = #"{"device":"d-1","event":{"type":"poll"}}"#
            let explained = #"{"device":"d-1","event":{"type":"poll"},"explain":true}"#
            let page = #"{"device":"d-1","page":"p","slots":[{"name":"a"}]}"#
            let explainedPage = #"{"device":"d-1","page":"p","slots":[{"name":"a"}],"explain":true}"#
            for (method, path, body, token, status) in [
                ("POST", "/v1/inapp/triggers", trigger, "app-token", 200),
                ("POST", "/v1/inapp/triggers", trigger, "admin-token", 401),
                ("POST", "/v1/inapp/triggers", explained, "app-token", 403),
                ("POST", "/v1/inapp/triggers?", explained, "app-token", 403),
                ("POST", "/v1/inapp/slots", page, "app-token", 200),
                ("POST", "/v1/inapp/slots", explainedPage, "app-token", 403),
                ("POST", "/v1/inapp/explain", trigger, "app-token", 401),
                ("POST", "/v1/inapp/explain", trigger, "admin-token", 200),
                ("DELETE", "/v1/inapp/messages/a", nil, "app-token", 401),
                ("GET", "/v1/inapp/messages", nil, "admin-token", 200),
            ] as [(String, String, String?, String, Int)] {
                let answer = try await gateway.request(method, path, body, token: token)
                #expect(answer.status == status, "\(method) \(path) \(token)")
                if status == 403 { #expect(answer.json.code == "inapp-explain-forbidden") }
            }
        }
    }

    /// Devices of two apps may have equal ids. The first path is answered on the event loop, the second by the router.
    @Test func aDeviceIsClosedToOtherSources() async throws {
        let config = """
            "sources": { "first": { "auth": { "bearer": ["env:FIRST"] } },
                "second": { "auth": { "bearer": ["env:SECOND"] } } },
            """
        try await Gateway.run(config: config, environment: ["FIRST": "first-token", "SECOND": "second-token"]) {
            gateway, _, _ in
            let poll = #"{"device":"d-1","event":{"type":"poll"}}"#
            #expect(try await gateway.request("POST", "/v1/inapp/triggers", poll, token: "first-token").status == 200)
            for (path, body) in [
                ("triggers", poll), ("triggers?", poll),
                ("slots", #"{"device":"d-1","page":"p","slots":[{"name":"a"}]}"#),
            ] {
                let answer = try await gateway.request("POST", "/v1/inapp/" + path, body, token: "second-token")
                #expect(answer.status == 403 && answer.json.code == "inapp-device-forbidden", "\(path)")
            }
            #expect(try await gateway.request("POST", "/v1/inapp/triggers", poll, token: "first-token").status == 200)
        }
    }

    /// The option of one source does not open the explanations to another one.
    @Test func aSourceMayExplainIfItsOptionSaysSo() async throws {
        let config = """
            "sources": { "test": { "auth": { "bearer": ["env:TEST"] }, "explain": true },
                "app": { "auth": { "bearer": ["env:APP"] } } },
            """
        try await Gateway.run(config: config, environment: ["APP": "app-token", "TEST": "test-token"]) {
            gateway, _, _ in
            for (path, body) in [
                ("triggers", #"{"device":"d-1","event":{"type":"poll"},"explain":true}"#),
                ("triggers?", #"{"device":"d-1","event":{"type":"poll"},"explain":true}"#),
                ("slots", #"{"device":"d-1","page":"p","slots":[{"name":"a"}],"explain":true}"#),
            ] {
                let answer = try await gateway.request("POST", "/v1/inapp/" + path, body, token: "test-token")
                #expect(answer.status == 200, "\(path)")
                #expect(path == "slots" || answer.json["candidates"] != nil)
                #expect(
                    try await gateway.request("POST", "/v1/inapp/" + path, body, token: "app-token").status == 403)
            }
        }
    }

    @Test func aMessageThatTheNewConfigDoesNotPermitIsSkipped() async throws {
        let limits =
            #""inapp": { "interval": "0s", "limits": [{ "name": "season", "owner": "named", "count": 9, "window": "lifetime" }] },"#
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let first = try await Gateway.start(
                    in: directory, config: Gateway.config(to: receiver.url, more: limits))
                #expect(try await first.register("spring", #","namedLimits":["season"]"#).status == 201)
                #expect(await first.stop() == 0)
                let second = try await Gateway.start(
                    in: directory, config: Gateway.config(to: receiver.url, more: Self.policy))
                let shown = try await second.request("GET", "/v1/inapp/messages/spring")
                #expect(shown.json["active"] as? Bool == false)
                #expect((shown.json["fault"] as? [String: Any])?["pointer"] as? String == "/namedLimits/0")
                #expect(try await second.buy().json.offer == nil)
                let refused = try await second.register("other", #","namedLimits":["season"]"#)
                #expect(refused.status == 422 && refused.json.code == "inapp-limit-unknown")
                #expect(
                    try await second.metrics().contains(
                        "signalbox_inapp_messages_skipped 1\n"))
                #expect(await second.stop() == 0)
            }
        }
    }

    /// The reply to the payload means that its message is active; copies for other devices change nothing.
    @Test func aPayloadBringsAMessage() async throws {
        let payload = Data(
            #"""
            {"triggers":[{"id":"abc","type":"inapp","trigger_condition":[{"type":"custom_event",
              "data":{"event_name":"buy"}}],"data":{"type":"MODAL","header":"Hello","message":"Text",
              "image_url":"https://cdn.example.com/iam.png","click_action":"NONE"},"re_eligibility":0}]}
            """#.utf8)
        let config = #""inapp": { "interval": "0s", "payloads": true },"#
        try await Gateway.run(config: config) { gateway, receiver, directory in
            for _ in 0..<3 {
                let receipt = try await gateway.post(payload)
                #expect(receipt.status == 202 && receipt.json["vendor"] as? String == "braze")
            }
            let answer = try await gateway.buy()
            #expect(answer.json.message == "braze:abc")
            let shown = try await gateway.request("GET", "/v1/inapp/messages/braze:abc")
            #expect(shown.json["revision"] as? Int == 1 && shown.json["active"] as? Bool == true)
            let arrivals = try await receiver.next(4).map { try InAppArrival($0) }
            #expect(arrivals.count { $0.kind == "offered" } == 1, "and three events of the payloads")
            #expect(try await binary.run(["audit"], in: directory).status == 0)
        }
    }
}
