import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Bad input of devices and operators, on the built binary: clear errors, and nothing stored.
@Suite(.timeLimit(.minutes(15))) struct InAppInputTests {
    private func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
    }

    @Test func triggersWithMistakesAreRejected() async throws {
        let event = #""event":{"type":"event","name":"buy""#
        try await Gateway.run { gateway, _, directory in
            for (body, status, code, pointer) in [
                ("", 400, "inapp-malformed", ""), ("nonsense", 400, "inapp-malformed", ""),
                ("[]", 400, "inapp-malformed", ""), (#"{"device":"d-1"}"#, 400, "inapp-malformed", "/event"),
                (#"{"event":{"type":"poll"}}"#, 400, "inapp-malformed", "/device"),
                (#"{"device":"","event":{"type":"poll"}}"#, 400, "inapp-malformed", "/device"),
                (#"{"device":7,"event":{"type":"poll"}}"#, 400, "inapp-malformed", "/device"),
                (#"{"device":"d-1","event":{"type":"dance"}}"#, 400, "inapp-malformed", "/event/type"),
                (#"{"device":"d-1","devise":"x","event":{"type":"poll"}}"#, 400, "inapp-malformed", "/devise"),
                (#"{"device":"d-1",\#(event),"properties":[1]}}"#, 400, "inapp-malformed", "/event/properties"),
                (
                    #"{"device":"d-1",\#(event),"properties":{"a":{"b":1}}}}"#, 400, "inapp-malformed",
                    "/event/properties/a"
                ),
                (
                    #"{"device":"d-1",\#(event),"properties":{"a":\#(nested(2))}}}"#, 400, "inapp-malformed",
                    "/event/properties/a/0"
                ),
                (#"{"device":"d-1",\#(event),"properties":\#(nested(5000))}}"#, 400, "inapp-malformed", ""),
                (#"{"device":"d-1","user":"anonymous:d-1","event":{"type":"poll"}}"#, 400, "inapp-malformed", "/user"),
                (
                    #"{"device":"d-1",\#(event),"properties":{"a":"\#(String(repeating: "x", count: 2000))"}}}"#, 400,
                    "inapp-malformed", "/event/properties/a"
                ),
                (
                    #"{"device":"\#(String(repeating: "x", count: 70_000))","event":{"type":"poll"}}"#, 413,
                    "body-too-large", nil
                ),
            ] as [(String, Int, String, String?)] {
                let answer = try await gateway.post(Data(body.utf8), to: "/v1/inapp/triggers")
                #expect(answer.status == status && answer.json.code == code, "\(body.prefix(80)) \(answer.json)")
                #expect(answer.json["pointer"] as? String == pointer, "\(body.prefix(80)) \(answer.json)")
                #expect(answer.json["detail"] as? String != nil)
            }
            #expect(try await binary.run(["deliveries", "list", "--json"], in: directory).output.isEmpty)
        }
    }

    /// Small plain requests are answered on the event loop of their connection, all others by the router.
    @Test func bothPathsAnswerAlike() async throws {
        try await Gateway.run(config: #""inapp": { "interval": "0s", "lease": "10m" },"#) { gateway, _, _ in
            func answer(_ path: String, _ body: String, isPlain: Bool) async throws -> String {
                let header = isPlain ? "x-path: direct" : "connection: close"
                let reply = try await Reply(
                    gateway.url + path,
                    ["--header", header, "--header", "content-type: application/json", "--data-binary", body])
                return "\(reply.status) \(String(decoding: reply.body, as: UTF8.self))"
            }
            try await gateway.register("spring")
            let trigger = #"{"triggerId":"t-1","device":"d-1","user":"u-9","event":{"type":"event","name":"buy"}}"#
            let offer = try #require(try await gateway.buy(id: "t-1").json.offer)
            let outcome = "/v1/inapp/offers/\(offer)/outcome"
            for (path, body, status) in [
                ("/v1/inapp/triggers", trigger, 200), ("/v1/inapp/triggers", #"{"device":"d-1"}"#, 400),
                (outcome, #"{"outcome":"shown"}"#, 200), (outcome, #"{"outcome":"later"}"#, 409),
                (outcome, #"{"outcome":"shown","device":"other"}"#, 404), (outcome, "{", 400),
                ("/v1/inapp/offers/of_00/outcome", #"{"outcome":"shown"}"#, 404),
            ] {
                let plain = try await answer(path, body, isPlain: true)
                #expect(plain.hasPrefix("\(status) "), "\(path) \(body) \(plain)")
                #expect(try await answer(path, body, isPlain: false) == plain)
            }
        }
    }

    @Test func messagesWithMistakesAreRejected() async throws {
        try await Gateway.run { gateway, _, _ in
            let head = #""vendor":"own","kind":"modal""#
            let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
            for (body, status, pointer) in [
                ("{}", 400, "/vendor"),
                (#"{\#(head),"triggers":[]}"#, 400, "/triggers"),
                (
                    #"{\#(head),"triggers":[{"type":"event","name":"e","filter":\#(deep)}]}"#, 400,
                    "/triggers/0/filter/0/0"
                ),
                (
                    #"{\#(head),"triggers":[{"type":"immediate"}],"limits":[{"count":1,"window":"fortnight"}]}"#, 400,
                    "/limits/0/window"
                ),
                (#"{\#(head),"triggers":[{"type":"immediate"}],"namedLimits":["none"]}"#, 422, "/namedLimits/0"),
                (#"{\#(head),"triggers":[{"type":"immediate"}],"experiment":"none"}"#, 422, "/experiment"),
                (#"{\#(head),"triggers":[{"type":"immediate"}],"rank":1001}"#, 400, "/rank"),
                (#"{\#(head),"triggers":[{"type":"slot","name":"x"}]}"#, 400, "/triggers"),
            ] as [(String, Int, String)] {
                let answer = try await gateway.request("PUT", "/v1/inapp/messages/m", body)
                #expect(answer.status == status, "\(body.prefix(80)) \(answer.json)")
                #expect(answer.json["pointer"] as? String == pointer, "\(body.prefix(80)) \(answer.json)")
            }
            for (id, status) in [("a%00b", 400), ("%FF", 404), (String(repeating: "x", count: 300), 400)] {
                #expect(try await gateway.register(id).status == status, "\(id)")
            }
            let list = try await gateway.request("GET", "/v1/inapp/messages?withdrawn=true")
            #expect((list.json["messages"] as? [Any])?.isEmpty == true)
            for query in ["limit=0", "limit=501", "cursor=%21", "withdrawn=yes", "page=2"] {
                #expect(try await gateway.request("GET", "/v1/inapp/messages?\(query)").status == 400, "\(query)")
            }
        }
    }

    /// The clock of a device decides nothing.
    @Test func aWrongClockOfADeviceHasNoEffect() async throws {
        try await Gateway.run(config: #""inapp": { "interval": "0s" },"#) { gateway, _, _ in
            try await gateway.register("spring", #","limits":[{"count":1,"per":"user","window":"24h"}]"#)
            let offer = try await gateway.buy(more: #","deviceTime":"1999-01-01T00:00:00Z""#).json.offer
            for outcome in ["shown", "dismissed"] {
                let report = try await gateway.report(outcome, of: offer, more: #","at":"2099-01-01T00:00:00Z""#)
                #expect(report.status == 200)
            }
            #expect(try await gateway.buy(more: #","deviceTime":"2099-01-01T00:00:00Z""#).json.offer == nil)
        }
    }

    @Test func reportsWithMistakesAreRejected() async throws {
        try await Gateway.run(config: #""inapp": { "interval": "0s" },"#) { gateway, _, _ in
            try await gateway.register("spring")
            let offer = try #require(try await gateway.buy().json.offer)
            for (body, pointer) in [
                ("{}", "/outcome"), (#"{"outcome":"eaten"}"#, "/outcome"),
                (#"{"outcome":"shown","button":"x"}"#, "/button"),
                (#"{"outcome":"shown","at":"yesterday"}"#, "/at"), (#"{"outcome":"dismissed","how":"magic"}"#, "/how"),
            ] {
                let answer = try await gateway.post(Data(body.utf8), to: "/v1/inapp/offers/\(offer)/outcome")
                #expect(answer.status == 400 && answer.json["pointer"] as? String == pointer, "\(body) \(answer.json)")
            }
            #expect(try await gateway.report("shown", of: offer).json["state"] as? String == "shown")
        }
    }
}
