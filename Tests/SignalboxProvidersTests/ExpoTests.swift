import SignalboxGateway
import SignalboxJSON
import Testing

@testable import SignalboxServer

@Suite struct ExpoTests {
    private static let path = "/--/api/v2/push/send"
    private static let receipts = "/--/api/v2/push/getReceipts"
    private static let token = "ExponentPushToken[abc]"

    @Test func aMessageHasATicketAndAReceipt() async throws {
        try await GoogleBench.run { bench in
            let sent = try await bench.post(Self.path, #"{"to":"\#(Self.token)","title":"Hi","data":{"a":1}}"#)
            #expect(sent.string("/data/status") == "ok")
            let id = try #require(sent.string("/data/id"))
            let receipts = try await bench.post(Self.receipts, #"{"ids":["\#(id)","unknown"]}"#)
            #expect(receipts.text == #"{"data":{"\#(id)":{"status":"ok"}}}"#)
            let events = try await bench.events()
            #expect(events.count == 1)
            #expect(events[0].contains("\"vendor\":\"expo\""))
            #expect(!events[0].contains("[abc]"))
        }
    }

    /// Expo's service passes a message to APNs or FCM.
    @Test(arguments: [
        #"{"to":"ExponentPushToken[abc]","title":"a"}"#, #"{"to":"ExponentPushToken[abc]","title":"a","data":{}}"#,
        #"[{"to":["ExponentPushToken[abc]"],"body":"b","_contentAvailable":true}]"#,
    ])
    func noMessageIsOfAPlatform(body: String) async throws {
        try await GoogleBench.run { bench in
            #expect(try await bench.post(Self.path, body).status == 200)
            let event = try #require(try await bench.events().first)
            #expect(event.contains(#""platform":"unknown""#))
            #expect(!event.contains("[abc]"))
        }
    }

    @Test func eachRecipientHasATicketInOrder() async throws {
        try await GoogleBench.run { bench in
            let body = #"[{"to":["\#(Self.token)","adsf"],"body":"x"},{"to":"ExpoPushToken[b]","body":"y"}]"#
            let reply = try await bench.post(Self.path, body)
            #expect(reply.string("/data/0/status") == "ok")
            #expect(reply.string("/data/1/status") == "error")
            #expect(reply.string("/data/1/message") == "\"adsf\" is not a registered push notification recipient")
            #expect(reply.string("/data/1/details/error") == "DeviceNotRegistered")
            #expect(reply.string("/data/2/status") == "ok")
            let events = try await bench.events()
            #expect(events.count == 2)
            for event in events {
                #expect(event.contains("\"target\":{\"token\":\"sha256:"))
                #expect(!event.contains("[abc]") && !event.contains("[b]"))
            }
        }
    }

    /// Source: expo/expo-server-sdk-node, `Expo.isExpoPushToken`.
    @Test func uuidsOfEarlySDKsAreTokens() async throws {
        try await GoogleBench.run { bench in
            let uuid = "F5741A13-bcda-434b-a316-5dc0e6ffa94f"
            let reply = try await bench.post(Self.path, #"{"to":"\#(uuid)","title":"Hi","data":{"copy":"\#(uuid)"}}"#)
            #expect(reply.string("/data/status") == "ok")
            let event = try #require(try await bench.events().first)
            #expect(event.contains("\"target\":{\"token\":\"sha256:"))
            #expect(!event.contains(uuid))
        }
    }

    @Test func messagesBeyondTheRateHaveErrorsOfTheirOwn() async throws {
        try await GoogleBench.run(GoogleBench.sources(perSecond: 2)) { bench in
            let message = #"{"to":["ExpoPushToken[a]","ExpoPushToken[b]","ExpoPushToken[c]"]}"#
            let reply = try await bench.post(Self.path, message, ("authorization", "Bearer expo-token"))
            #expect(reply.status == 200)
            #expect(reply.string("/data/1/status") == "ok")
            #expect(reply.string("/data/2/details/error") == "MessageRateExceeded")
            #expect(try await bench.events().count == 2)
            let next = try await bench.post(Self.path, message, ("authorization", "Bearer expo-token"))
            #expect(next.status == 429)
            #expect(next.string("/errors/0/code") == "TOO_MANY_REQUESTS")
        }
    }

    @Test func aRequestHasABoundOfRecipients() async throws {
        try await GoogleBench.run { bench in
            let message = #"{"to":"\#(Self.token)"}"#
            func body(_ count: Int) -> String {
                "[" + Array(repeating: message, count: count).joined(separator: ",") + "]"
            }
            #expect(try await bench.post(Self.path, body(100)).status == 200)
            let reply = try await bench.post(Self.path, body(101))
            #expect(reply.status == 400)
            #expect(reply.string("/errors/0/code") == "PUSH_TOO_MANY_NOTIFICATIONS")
            #expect(try await bench.events().count == 100)
            let ids = Array(repeating: "\"a\"", count: 1001).joined(separator: ",")
            let receipts = try await bench.post(Self.receipts, "{\"ids\":[\(ids)]}")
            #expect(receipts.string("/errors/0/code") == "PUSH_TOO_MANY_RECEIPTS")
        }
    }

    @Test(arguments: [
        "nope", "5", "[5]", "{}", #"{"to":5}"#, #"{"to":[]}"#, #"{"to":["a",1]}"#, #"{"to":"a","title":1}"#,
        #"{"to":"a","data":"x"}"#, #"{"to":"a","priority":"urgent"}"#, #"{"to":"a","ttl":"1"}"#,
    ])
    func malformedRequestsAreRejected(body: String) async throws {
        try await GoogleBench.run { bench in
            let reply = try await bench.post(Self.path, body)
            #expect(reply.status == 400)
            #expect(reply.string("/errors/0/code") == "VALIDATION_ERROR")
            #expect(try await bench.events().isEmpty)
        }
    }

    @Test func aLargeMessageHasAnErrorOfItsOwn() async throws {
        try await GoogleBench.run { bench in
            let text = String(repeating: "x", count: 4096)
            let reply = try await bench.post(Self.path, #"{"to":"\#(Self.token)","body":"\#(text)"}"#)
            #expect(reply.string("/data/details/error") == "MessageTooBig")
        }
    }

    @Test func bodiesMayBeCompressedUpToTheLimit() async throws {
        try await GoogleBench.run { bench in
            let coding = [("content-encoding", "gzip")]
            let small = gzip(Array(#"{"to":"\#(Self.token)","body":"x"}"#.utf8))
            #expect(await bench.answer("POST", Self.path, coding, body: small)?.status == 200)
            let bomb = gzip([UInt8](repeating: 0x20, count: ExpoEndpoint.limit + 1))
            #expect(await bench.answer("POST", Self.path, coding, body: bomb)?.status == 413)
            #expect(await bench.answer("POST", Self.path, coding, body: Array("{}".utf8))?.status == 413)
        }
    }

    @Test(arguments: ["br", "deflate", "gzip, gzip"])
    func bodiesOfOtherCodingsAreRefused(coding: String) async throws {
        try await GoogleBench.run { bench in
            let reply = try await bench.post(Self.path, "{}", ("content-encoding", coding))
            #expect(reply.status == 415)
            #expect(reply.text.contains("The content encoding is not gzip"))
        }
    }

    @Test(arguments: [
        ("Bearer expo-token", 200), ("Bearer bearer-token", 200), ("Bearer server-key", 401), ("", 401),
    ])
    func sourcesHaveTokens(authorization: String, status: Int) async throws {
        try await GoogleBench.run(GoogleBench.sources) { bench in
            let reply = try await bench.post(
                Self.path, #"{"to":"\#(Self.token)"}"#, ("authorization", authorization))
            #expect(reply.status == status)
            #expect((reply.string("/data/id") != nil) == (status == 200))
            let events = try await bench.events()
            #expect(
                events.map { $0.contains("\"source\":\"/signalbox/demo/mobile\"") } == (status == 200 ? [true] : []))
        }
    }

    @Test func receiptsAreOfTheirSourceOnly() async throws {
        try await GoogleBench.run(GoogleBench.sources) { bench in
            let sent = try await bench.post(
                Self.path, #"{"to":"\#(Self.token)"}"#, ("authorization", "Bearer expo-token"))
            let id = try #require(sent.string("/data/id"))
            func receipts(_ token: String) async throws -> ProviderReply {
                try await bench.post(Self.receipts, #"{"ids":["\#(id)"]}"#, ("authorization", token))
            }
            #expect(try await receipts("Bearer expo-token").text == #"{"data":{"\#(id)":{"status":"ok"}}}"#)
            #expect(try await receipts("Bearer other-expo").text == #"{"data":{}}"#)
            #expect(try await receipts("key=other-key").status == 401)
        }
    }

    @Test func refusedMessagesHaveNoPayload() throws {
        let text = String(repeating: "x", count: 5000)
        let body = #"{"to":["\#(Self.token)","\#(Self.token)"],"body":"\#(text)"}"#
        let parser = JSONParser()
        let messages = try withExtendedLifetime(parser) { try ExpoMessages(Array(body.utf8), with: parser) }
        #expect(messages.all.map(\.error?.code) == ["MessageTooBig", "MessageTooBig"])
        #expect(messages.all.allSatisfy { $0.payload.isEmpty })
    }

    @Test(arguments: [("GET", "send", 405), ("POST", "other", 404), ("GET", "getReceipts", 405)])
    func otherMethodsAndPathsAreRejected(method: String, operation: String, status: Int) async throws {
        try await GoogleBench.run { bench in
            #expect(await bench.answer(method, "/--/api/v2/push/" + operation)?.status == status)
        }
    }
}
