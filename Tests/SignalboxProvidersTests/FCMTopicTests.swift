import SignalboxNotification
import SignalboxTesting
import Testing

@testable import SignalboxServer

@Suite struct FCMTopicTests {
    private static let subscriptions = "/v1/projects/demo/registrations/tok%3Aen/topicSubscriptions"

    private func status(_ bench: GoogleBench, _ method: String, _ target: String) async throws -> Int {
        try #require(await bench.answer(method, target, body: Array("{}".utf8))).status
    }

    @Test func subscriptionsAreCreatedListedAndDeleted() async throws {
        try await GoogleBench.run { bench in
            let created = try await bench.post(Self.subscriptions + "?topic_name=news", "{}")
            #expect(
                created.text
                    == #"{"name":"projects/demo/registrations/tok:en/topicSubscriptions/news","topic_name":"news","create_time":"2026-11-20T21:29:00.000Z"}"#
            )
            let again = try await bench.post(Self.subscriptions + "?topic_name=news", "{}")
            #expect(again.status == 409)
            #expect(again.string("/error/status") == "ALREADY_EXISTS")
            #expect(try await status(bench, "GET", Self.subscriptions + "/news") == 200)
            #expect(try await status(bench, "PATCH", Self.subscriptions + "/news") == 200)
            #expect(try await status(bench, "GET", Self.subscriptions + "/other") == 404)
            #expect(try await status(bench, "PATCH", Self.subscriptions + "/other") == 404)
            #expect(try await status(bench, "PATCH", Self.subscriptions + "/other?allow_missing=true") == 200)
            #expect(try await status(bench, "DELETE", Self.subscriptions + "/other") == 200)
            #expect(try await status(bench, "DELETE", Self.subscriptions + "/other") == 404)
            #expect(try await status(bench, "DELETE", Self.subscriptions + "/other?allow_missing=true") == 200)
            #expect(try await status(bench, "POST", Self.subscriptions + "?topic_name=a%20b") == 400)
            #expect(try await status(bench, "POST", Self.subscriptions) == 400)
            #expect(try await bench.events().isEmpty)
        }
    }

    @Test func listsHavePages() async throws {
        try await GoogleBench.run { bench in
            for topic in ["c", "a", "b"] {
                _ = try await bench.post(Self.subscriptions + "?topic_name=\(topic)", "{}")
            }
            let first = try #require(await bench.answer("GET", Self.subscriptions + "?pageSize=2"))
            #expect(first.string("/topic_subscriptions/0/topic_name") == "a")
            #expect(first.string("/topic_subscriptions/1/topic_name") == "b")
            #expect(first.string("/next_page_token") == "b")
            let last = try #require(await bench.answer("GET", Self.subscriptions + "?pageSize=2&pageToken=b"))
            #expect(last.string("/topic_subscriptions/0/topic_name") == "c")
            #expect(last.string("/next_page_token") == nil)
            #expect(try await status(bench, "GET", Self.subscriptions + "?pageSize=x") == 400)
        }
    }

    @Test func sourcesDoNotSeeEachOther() async throws {
        try await GoogleBench.run(GoogleBench.sources) { bench in
            let mine = ("authorization", "key=server-key")
            let added = try await bench.post(Self.subscriptions + "?topic_name=news", "{}", mine)
            #expect(added.status == 200)
            let own = await bench.answer("GET", "/iid/info/tok:en?details=true", [mine])
            let other = await bench.answer("GET", "/iid/info/tok:en?details=true", [("authorization", "key=other-key")])
            #expect(own?.text.contains("\"news\"") == true)
            #expect(other?.text.contains("\"news\"") == false)
        }
    }

    /// The Instance ID API, which precedes the subscriptions of HTTP v1.
    @Test func instanceIDSubscribesInBatches() async throws {
        try await GoogleBench.run { bench in
            let body = #"{"to":"/topics/news","registration_tokens":["a","not a token","b"]}"#
            let added = try await bench.post("/iid/v1:batchAdd", body)
            #expect(added.text == #"{"results":[{},{"error":"INVALID_ARGUMENT"},{}]}"#)
            let again = try await bench.post("/iid/v1:batchAdd", body)
            #expect(again.text == added.text)
            let info = await bench.answer("GET", "/iid/info/a?details=true")
            #expect(info?.text == #"{"platform":"UNKNOWN","rel":{"topics":{"news":{"addDate":"2026-11-20"}}}}"#)
            let brief = await bench.answer("GET", "/iid/info/a")
            #expect(brief?.text == #"{"platform":"UNKNOWN"}"#)
            #expect(try await bench.post("/iid/v1:batchRemove", body).status == 200)
            #expect(await bench.answer("GET", "/iid/info/a?details=true")?.text == #"{"platform":"UNKNOWN"}"#)
            #expect(try await bench.post("/iid/v1/a/rel/topics/x", "").text == "{}")
        }
    }

    @Test(arguments: [
        ("nope", "InvalidJson"), (#"{"to":"/topics/a b","registration_tokens":["a"]}"#, "InvalidTopicName"),
        (#"{"registration_tokens":["a"]}"#, "InvalidTopicName"), (#"{"to":"/topics/a"}"#, "InvalidArgument"),
    ])
    func instanceIDErrorsAreTexts(body: String, error: String) async throws {
        try await GoogleBench.run { bench in
            let reply = try await bench.post("/iid/v1:batchAdd", body)
            #expect(reply.status == 400)
            #expect(reply.string("/error") == error)
        }
    }

    @Test func aRegistrationHasABoundOfTopics() async throws {
        try await GoogleBench.run { bench in
            let registration = TopicSubscriptions.Registration("a", from: .default)
            let topics = bench.state.topics
            for number in 0..<TopicSubscriptions.topicsPerRegistration {
                #expect(topics.add("t\(number)", to: registration, at: bench.clock.now) == .done)
            }
            #expect(topics.add("more", to: registration, at: bench.clock.now) == .tooManyTopics)
            let reply = try await bench.post("/iid/v1:batchAdd", #"{"to":"/topics/more","registration_tokens":["a"]}"#)
            #expect(reply.text == #"{"results":[{"error":"TOO_MANY_TOPICS"}]}"#)
        }
    }
}
