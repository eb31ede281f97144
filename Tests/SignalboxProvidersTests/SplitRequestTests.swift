import Testing

@testable import SignalboxServer

/// Requests that become several pushes: an event shows no token of the whole request in clear.
@Suite struct SplitRequestTests {
    private static let json = ("content-type", "application/json")
    private static let first = "fcm-first:APA91bExampleTokenOfADevice_0123456789"
    private static let second = "fcm-second:APA91bExampleTokenOfADevice_9876543210"
    /// Not in FCM's alphabet, so the device receives no push.
    private static let refused = "fcm-third (APA91bExampleTokenOfADevice_5555555555)"

    @Test func aMulticastHashesTheTokensOfAllDevices() async throws {
        try await GoogleBench.run { bench in
            let data = """
                {"by":"\(Self.second)","link":"https://a.example/?to=fcm-first%3AAPA91bExampleTokenOfADevice_0123456789",
                 "nested":"{\\"third\\":\\"\(Self.refused)\\"}","\(Self.first)":"key"}
                """
            let tokens = [Self.first, Self.second, Self.refused].map { "\"\($0)\"" }.joined(separator: ",")
            let body =
                #"{"registration_ids":[\#(tokens)],"data":\#(data),"notification":{"title":"of \#(Self.second)"}}"#
            let reply = try await bench.post("/fcm/send", body, Self.json)
            #expect(reply.text.contains("\"success\":2,\"failure\":1"))
            let events = try await bench.events()
            #expect(events.count == 2)
            for event in events {
                #expect(!event.contains("ExampleTokenOfADevice"), "\(event)")
                #expect(event.contains("of sha256:"))
                #expect(event.contains("https://a.example/?to=sha256:"))
            }
        }
    }

    @Test func aShortTokenOfAnotherDeviceIsHashedUnderItsKey() async throws {
        try await GoogleBench.run { bench in
            let body = #"{"registration_ids":["a","b"],"data":{"token":"b","other":"b"}}"#
            #expect(try await bench.post("/fcm/send", body, Self.json).status == 200)
            let events = try await bench.events()
            #expect(events.count == 2)
            #expect(events.allSatisfy { $0.contains(#""custom":{"token":"sha256:"#) && $0.contains(#""other":"b""#) })
        }
    }

    @Test func messagesOfOneRequestToExpoHashTheTokensOfAllRecipients() async throws {
        try await GoogleBench.run { bench in
            let tokens = (1...3).map { "ExponentPushToken[ExampleOfADevice\($0)]" }
            let body = """
                [{"to":["\(tokens[0])","\(tokens[1])"],"title":"Hi","data":{"by":"\(tokens[0])"}},
                 {"to":"\(tokens[2])","body":"Reply to \(tokens[0]) and \(tokens[1])"}]
                """
            #expect(try await bench.post("/--/api/v2/push/send", body).status == 200)
            let events = try await bench.events()
            #expect(events.count == 3)
            #expect(events.allSatisfy { !$0.contains("ExampleOfADevice") && $0.contains("\"target\":{\"token\":") })
        }
    }

    /// More tokens than are compared one by one, so that they are found by a table.
    @Test func eachOfManyDevicesHidesTheOthers() async throws {
        try await GoogleBench.run { bench in
            let tokens = (0..<20).map { "fcm-\($0):APA91bExampleTokenOfADevice_\(1_000_000_007 * ($0 + 1))" }
            let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
            let body = #"{"registration_ids":[\#(list)],"data":{"all":"[\#(tokens.joined(separator: " "))]","n":"1"}}"#
            #expect(try await bench.post("/fcm/send", body, Self.json).status == 200)
            let events = try await bench.events()
            #expect(events.count == 20)
            #expect(events.allSatisfy { !$0.contains("ExampleTokenOfADevice") && $0.contains("\"n\":\"1\"") })
        }
    }
}
