import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// The gateway accepts a small payload on the event loop of its connection, and others in a task. The replies are the
/// same.
@Suite(.timeLimit(.minutes(15))) struct DirectRequestTests {
    private static let payload = #"{"aps":{"alert":"x"}}"#

    /// A request with an idempotency key is always answered by a task.
    @Test func bothPathsAnswerAlike() async throws {
        let bodies =
            try mixedPayloads().split(separator: UInt8(ascii: "\n")).map { Data($0) }
            + [
                "", " ", "nope", "{", "[]", "[\(Self.payload)]", "[\(Self.payload),\(Self.payload)]", "{}", "42",
                "\(Self.payload)\n\(Self.payload)", "\(Self.payload)\nnope", #"{"a":1,"a":2}"#, #"{"a":"\#u{1}"}"#,
            ].map { Data($0.utf8) }
        try await Gateway.run { gateway, _, _ in
            for (number, body) in bodies.enumerated() {
                let direct = try await gateway.post(body)
                let byTask = try await gateway.post(body, headers: [("idempotency-key", "\(number)")])
                #expect(direct.status == byTask.status, "\(String(decoding: body, as: UTF8.self))")
                #expect(
                    Self.withoutIDs(direct.json) == Self.withoutIDs(byTask.json),
                    "\(String(decoding: body, as: UTF8.self))")
            }
        }
    }

    @Test(arguments: ["/v1/notifications", "/v1/sources/app/notifications", "/v1/sources/other/notifications"])
    func bothPathsCheckTokens(path: String) async throws {
        let sources =
            #""sources": { "app": { "auth": { "bearer": ["env:APP"] } }, "other": { "auth": { "bearer": ["env:OTHER"] } } },"#
        try await Gateway.run(config: sources, environment: ["APP": "app-token", "OTHER": "other-token"]) {
            gateway, _, _ in
            for token in ["app-token", "other-token", "wrong", ""] {
                let headers = [("authorization", "Bearer \(token)")]
                let direct = try await gateway.post(Data(Self.payload.utf8), to: path, headers: headers)
                let byTask = try await gateway.post(
                    Data(Self.payload.utf8), to: path, headers: headers + [("idempotency-key", token + path)])
                #expect(direct.status == byTask.status, "\(token)")
                #expect(direct.json["code"] as? String == byTask.json["code"] as? String, "\(token)")
            }
        }
    }

    /// `andStops`: the client closes its sending side, which other servers treat as a closed connection.
    @Test(arguments: [false, true])
    func pipelinedRequestsAreAnsweredInTheirOrder(andStops: Bool) async throws {
        try await Gateway.run { gateway, _, _ in
            let requests = (0..<40).map { number in
                switch number % 4 {
                case 0, 1: Self.request(Self.payload)
                case 2: Self.request(#"{"aps":{"alert":"x"},"issuer":"Synerise"}"#, "idempotency-key: \(number)")
                default: Self.request("nope")
                }
            }
            let last = Self.request(Self.payload, andStops ? "accept: */*" : "connection: close")
            let reply = try await RawConnection.exchange(
                Data((requests + [last]).joined().utf8), with: gateway.url, endsInput: andStops)
            let statuses = reply.matches(of: /HTTP\/1\.1 (\d+)/).map { String($0.1) }
            #expect(statuses == (0..<40).map { $0 % 4 == 3 ? "400" : "202" } + ["202"])
            let vendors = reply.matches(of: /"vendor":"(\w+)"/).map { String($0.1) }
            #expect(vendors == (0..<10).flatMap { _ in ["unknown", "unknown", "synerise"] } + ["unknown"])
        }
    }

    /// The second request is rejected after the first response has been sent.
    @Test func answersRequestsAfterARejection() async throws {
        try await Gateway.run { gateway, _, _ in
            let requests = [Self.payload, "nope", Self.payload].map { Self.request($0) }.joined()
            let reply = try await RawConnection.exchange(Data(requests.utf8), with: gateway.url, endsInput: true)
            #expect(reply.matches(of: /HTTP\/1\.1 (\d+)/).map { String($0.1) } == ["202", "400", "202"])
        }
    }

    /// More requests than one read receives.
    @Test func aLongPipelineIsAnsweredToItsEnd() async throws {
        try await Gateway.run { gateway, _, _ in
            let payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: 4000))"}}"#
            let requests = (0..<300).map { _ in Self.request(payload) } + [Self.request(payload, "connection: close")]
            let reply = try await RawConnection.exchange(
                Data(requests.joined().utf8), with: gateway.url, endsInput: false)
            #expect(reply.matches(of: /HTTP\/1\.1 202/).count == 301)
        }
    }

    @Test func answersMalformedRequestsInOrder() async throws {
        try await Gateway.run { gateway, _, _ in
            let requests = Self.request(Self.payload) + Self.request(Self.payload) + "nonsense\r\n\r\n"
            let reply = try await RawConnection.exchange(Data(requests.utf8), with: gateway.url, endsInput: false)
            #expect(reply.matches(of: /HTTP\/1\.1 (\d+)/).map { String($0.1) } == ["202", "202", "400"])
        }
    }

    private static func request(_ body: String, _ header: String = "accept: */*") -> String {
        "POST /v1/notifications HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: \(body.utf8.count)\r\n\(header)\r\n\r\n\(body)"
    }

    /// A reply as text, without the parts that differ between replies.
    private static func withoutIDs(_ json: [String: Any]) -> String {
        func cleaned(_ value: Any) -> Any {
            if let object = value as? [String: Any] {
                return object.filter { $0.key != "id" }.mapValues { cleaned($0) }
            }
            return (value as? [Any])?.map { cleaned($0) } ?? value
        }
        let data = try? JSONSerialization.data(withJSONObject: cleaned(json), options: .sortedKeys)
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}
