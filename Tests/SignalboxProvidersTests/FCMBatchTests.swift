import SignalboxGateway
import SignalboxJSON
import Testing

@testable import SignalboxServer

/// Batches and the legacy protocol.
@Suite(.timeLimit(.minutes(15))) struct FCMBatchTests {
    private static func part(_ id: String, _ body: String, path: String = "/v1/projects/demo/messages:send") -> String {
        "--b_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: \(id)\r\n\r\n"
            + "POST \(path) HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            + body + "\r\n"
    }

    private static let type = ("content-type", "multipart/mixed; boundary=\"b_1\"")
    private static let first = #"{"message":{"token":"a"}}"#
    private static let second = #"{"message":{"token":"b","data":{"n":1}}}"#
    private static let third = #"{"message":{"token":"c"}}"#

    @Test func oneBadPartDoesNotFailItsBatch() async throws {
        try await GoogleBench.run { bench in
            let body = Self.part("<1>", Self.first) + Self.part("<2>", Self.second) + Self.part("3", Self.third)
            let reply = try await bench.post("/batch", "preamble\r\n" + body + "--b_1--\r\nepilogue", Self.type)
            #expect(reply.status == 200)
            let type = try #require(reply.headers.first { $0.name == "content-type" }?.value)
            #expect(type.hasPrefix("multipart/mixed; boundary=batch_"))
            let parts = reply.text.split(separator: "--" + type.dropFirst("multipart/mixed; boundary=".count))
            #expect(parts.count == 4)
            #expect(parts[0].contains("Content-ID: <response-1>\r\n\r\nHTTP/1.1 200 OK\r\n"))
            #expect(parts[0].contains("\r\n\r\n{\"name\":\"projects/demo/messages/"))
            #expect(parts[1].contains("Content-ID: <response-2>\r\n\r\nHTTP/1.1 400 Bad Request\r\n"))
            #expect(parts[1].contains("message.data[0].value"))
            #expect(parts[2].contains("Content-ID: response-3\r\n\r\nHTTP/1.1 200 OK\r\n"))
            #expect(parts[3] == "--\r\n")
            #expect(try await bench.events().count == 2)
        }
    }

    @Test func partsBeyondTheRateAreRefused() async throws {
        try await GoogleBench.run(GoogleBench.sources(perSecond: 2)) { bench in
            let body = Self.part("<1>", Self.first) + Self.part("<2>", Self.third) + Self.part("<3>", Self.first)
            let reply = try await bench.post(
                "/batch", body + "--b_1--", Self.type, ("authorization", "key=server-key"))
            let statuses = reply.text.split(separator: "\r\n").filter { $0.hasPrefix("HTTP/1.1") }
            #expect(statuses == ["HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 429 Too Many Requests"])
            #expect(reply.text.contains("QUOTA_EXCEEDED"))
            #expect(try await bench.events().count == 2)
        }
    }

    /// Only messages count.
    @Test func topicManagementIsNotLimitedByPushes() async throws {
        try await GoogleBench.run(GoogleBench.sources(perSecond: 1)) { bench in
            let key = ("authorization", "key=server-key")
            for _ in 0..<3 {
                let path = "/v1/projects/demo/registrations/abc/topicSubscriptions?topic_name=news"
                let status = try await bench.post(path, "{}", key).status
                #expect([200, 409].contains(status))
                let dryRun = #"{"validate_only":true,"message":{"topic":"news"}}"#
                #expect(try await bench.post("/v1/projects/demo/messages:send", dryRun, key).status == 200)
            }
            let message = #"{"message":{"topic":"news"}}"#
            #expect(try await bench.post("/v1/projects/demo/messages:send", message, key).status == 200)
            let second = try await bench.post("/v1/projects/demo/messages:send", message, key)
            #expect(second.status == 429)
            #expect(second.string("/error/details/0/errorCode") == "QUOTA_EXCEEDED")
        }
    }

    @Test func devicesBeyondTheRateAreUnavailable() async throws {
        try await GoogleBench.run(GoogleBench.sources(perSecond: 2)) { bench in
            let reply = try await bench.post(
                "/fcm/send", #"{"registration_ids":["a","b","c"],"data":{"n":"1"}}"#,
                ("content-type", "application/json"), ("authorization", "key=server-key"))
            #expect(reply.text.contains("\"success\":2,\"failure\":1"))
            #expect(reply.string("/results/2/error") == "Unavailable")
            #expect(try await bench.events().count == 2)
        }
    }

    /// As google-api-java-client writes it: whole URLs, names in lower case, identifiers without brackets.
    @Test(arguments: ["https://fcm.googleapis.com", "HTTP://localhost:8080", ""])
    func partsMayNameTheWholeURL(origin: String) async throws {
        try await GoogleBench.run { bench in
            let part =
                "--b_1\r\ncontent-length: 99\r\ncontent-type: application/http\r\ncontent-id: 1\r\n"
                + "content-transfer-encoding: binary\r\n\r\n"
                + "POST \(origin)/v1/projects/demo/messages:send HTTP/1.1\r\n"
                + "content-type: application/json; charset=UTF-8\r\n\r\n"
                + #"{"message":{"token":"abc"}}"# + "\r\n"
            let reply = try await bench.post("/batch", part + "--b_1--\r\n", Self.type)
            #expect(reply.text.contains("HTTP/1.1 200 OK"), "\(reply.text)")
            #expect(try await bench.events().count == 1)
        }
    }

    @Test func linesMayEndWithoutACarriageReturn() async throws {
        try await GoogleBench.run { bench in
            let body = (Self.part("<1>", Self.first) + "--b_1--").replacing("\r\n", with: "\n")
            let reply = try await bench.post("/batch", body, Self.type)
            #expect(reply.status == 200)
            #expect(try await bench.events().count == 1)
        }
    }

    @Test func partsHaveErrorsOfTheirOwn() async throws {
        try await GoogleBench.run(GoogleBench.sources) { bench in
            let body =
                Self.part("<1>", Self.first, path: "/v1/projects/elsewhere/messages:send")
                + Self.part("<2>", Self.first, path: "/v1/projects/demo/other")
                + "--b_1\r\n\r\nnothing\r\n" + Self.part("<4>", #"{"validate_only":true,"message":{"topic":"x"}}"#)
            let reply = try await bench.post(
                "/batch", body + "--b_1--", Self.type, ("authorization", "key=server-key"))
            let statuses = reply.text.split(separator: "\r\n").filter { $0.hasPrefix("HTTP/1.1") }.map { $0.prefix(12) }
            #expect(statuses == ["HTTP/1.1 403", "HTTP/1.1 404", "HTTP/1.1 400", "HTTP/1.1 200"])
            #expect(reply.text.contains("fake_message_id"))
            #expect(try await bench.events().isEmpty)
        }
    }

    @Test(arguments: [
        ("multipart/mixed; boundary=b_1", "--b_1\r\n\r\n"), ("multipart/mixed; boundary=b_1", ""),
        ("multipart/mixed; boundary=b_1", "--b_1--"), ("multipart/mixed", "x"), ("application/json", "{}"),
        ("multipart/mixed; boundary=" + String(repeating: "x", count: 71), "x"),
    ])
    func malformedBatchesAreRejected(type: String, body: String) async throws {
        try await GoogleBench.run { bench in
            let reply = try await bench.post("/batch", body, ("content-type", type))
            #expect(reply.status == 400)
            #expect(reply.string("/error/status") == "INVALID_ARGUMENT")
        }
    }

    @Test func aBatchHasABoundOfParts() async throws {
        try await GoogleBench.run { bench in
            let body = String(repeating: Self.part("<1>", Self.second), count: MultipartBatch.mostParts + 1)
            let reply = try await bench.post("/batch", body + "--b_1--", Self.type)
            #expect(reply.status == 400)
        }
    }

    // MARK: Legacy

    private static let json = ("content-type", "application/json")

    @Test func aMulticastHasAResultForEachToken() async throws {
        try await GoogleBench.run { bench in
            let reply = try await bench.post(
                "/fcm/send", #"{"registration_ids":["a","not a token","","b"],"data":{"n":1}}"#, Self.json)
            #expect(reply.status == 200)
            #expect(reply.text.contains("\"success\":2,\"failure\":2,\"canonical_ids\":0"))
            #expect(reply.string("/results/0/message_id")?.count == 36)
            #expect(reply.string("/results/1/error") == "InvalidRegistration")
            #expect(reply.string("/results/2/error") == "MissingRegistration")
            #expect(reply.string("/results/3/message_id")?.count == 36)
            let events = try await bench.events()
            #expect(events.count == 2)
            #expect(events.allSatisfy { $0.contains("\"token\":\"sha256:") && !$0.contains("registration_ids") })
        }
    }

    @Test func topicsAndConditionsHaveANumber() async throws {
        try await GoogleBench.run { bench in
            for target in [#""to":"/topics/news""#, #""condition":"'a' in topics""#] {
                let reply = try await bench.post("/fcm/send", "{\(target),\"data\":{\"a\":\"b\"}}", Self.json)
                #expect(reply.text.hasPrefix("{\"message_id\":"))
            }
            #expect(try await bench.events().count == 2)
        }
    }

    @Test(arguments: [
        (#"{"data":{"a":"b"}}"#, "MissingRegistration"), (#"{"to":"a","data":{"from":"b"}}"#, "InvalidDataKey"),
        (#"{"to":"a","data":{"a":"b"},"time_to_live":2419201}"#, "InvalidTtl"),
        (#"{"to":"a","data":{"k":"\#(String(repeating: "x", count: 4096))"}}"#, "MessageTooBig"),
    ])
    func errorsAreWordsOfTheResult(body: String, error: String) async throws {
        try await GoogleBench.run { bench in
            let reply = try await bench.post("/fcm/send", body, Self.json)
            #expect(reply.status == 200)
            #expect(reply.string("/results/0/error") == error)
            #expect(try await bench.events().isEmpty)
        }
    }

    /// Each device receives a copy, so one request must not become a thousand large ones.
    @Test(arguments: [1, 2, 1000])
    func membersOutsideDataCountForTheSize(devices: Int) async throws {
        try await GoogleBench.run { bench in
            let tokens = Array(repeating: "\"a\"", count: devices).joined(separator: ",")
            let filler = String(repeating: "x", count: 100_000)
            let reply = try await bench.post(
                "/fcm/send", #"{"registration_ids":[\#(tokens)],"x":"\#(filler)"}"#, Self.json)
            #expect(reply.status == 200)
            #expect(reply.text.contains("\"success\":0,\"failure\":\(devices),"))
            #expect(reply.string("/results/\(devices - 1)/error") == "MessageTooBig")
            #expect(try await bench.events().isEmpty)
        }
    }

    /// The keys of these requests alone do not show the push service.
    @Test(arguments: [
        #"{"to":"shorttoken1","dry_run":false}"#, #"{"registration_ids":["shorttoken1"]}"#,
        #"{"to":"shorttoken1","time_to_live":3}"#, #"{"to":"shorttoken1","aps":{}}"#,
        #"{"to":"shorttoken1","message":{"topic":"x"}}"#,
    ])
    func everyPushIsOfFCM(body: String) async throws {
        try await GoogleBench.run { bench in
            #expect(try await bench.post("/fcm/send", body, Self.json).status == 200)
            let event = try #require(try await bench.events().first)
            #expect(event.contains(#""platform":"fcm""#))
            #expect(event.contains(#""target":{"token":"sha256:"#))
            #expect(!event.contains("shorttoken1"))
        }
    }

    @Test func aRequestToSeveralDevicesMayBeSmallerThanOneToOne() async throws {
        try await GoogleBench.run { bench in
            let filler = String(repeating: "x", count: 9_000)
            let one = try await bench.post("/fcm/send", #"{"registration_ids":["a"],"x":"\#(filler)"}"#, Self.json)
            #expect(one.text.contains("\"success\":1,"))
            let two = try await bench.post("/fcm/send", #"{"registration_ids":["a","b"],"x":"\#(filler)"}"#, Self.json)
            #expect(two.string("/results/1/error") == "MessageTooBig")
            #expect(try await bench.events().count == 1)
        }
    }

    /// A small request may become many pushes.
    @Test func copiesBeyondTheirMemoryAreRefused() async throws {
        try await GoogleBench.run { bench async throws in
            let several = #"{"registration_ids":["a","b"],"data":{"k":"v"}}"#
            let expo = #"{"to":["ExponentPushToken[a]","ExponentPushToken[b]"],"title":"Hi"}"#
            let path = "/--/api/v2/push/send"
            var held = bench.state.contents.reserve(64 << 20)
            #expect(held != nil)
            #expect(try await bench.post("/fcm/send", several, Self.json).status == 503)
            #expect(try await bench.post(path, expo, Self.json).status == 503)
            #expect(try await bench.post("/fcm/send", #"{"to":"a","data":{"k":"v"}}"#, Self.json).status == 200)
            #expect(try await bench.events().count == 1)
            held = nil
            #expect(try await bench.post("/fcm/send", several, Self.json).status == 200)
            #expect(try await bench.post(path, expo, Self.json).status == 200)
            #expect(try await bench.events().count == 5)
        }
    }

    @Test func aThousandCopiesCountWithTheirEvents() throws {
        let tokens = Array(repeating: "\"a\"", count: 1000).joined(separator: ",")
        let filler = String(repeating: "x", count: 4000)
        let body = Array(#"{"registration_ids":[\#(tokens)],"data":{"k":"\#(filler)"}}"#.utf8)
        let parser = JSONParser()
        let message = try withExtendedLifetime(parser) { try LegacyMessage(body, with: parser) }
        #expect(message.copiedBytes > 8_000_000)
    }

    /// A small compressed body may have a large content.
    @Test func contentsBeyondTheirMemoryAreRefused() async throws {
        try await GoogleBench.run { bench async throws in
            let coding = [Self.json, ("content-encoding", "gzip")]
            let body = gzip(Array(#"{"to":"a","data":{"k":"v"}}"#.utf8))
            var held = bench.state.contents.reserve(64 << 20)
            #expect(held != nil)
            #expect(await bench.answer("POST", "/fcm/send", coding, body: body)?.status == 503)
            #expect(await bench.answer("POST", "/batch", [Self.type, coding[1]], body: body)?.status == 503)
            #expect(await bench.answer("POST", "/--/api/v2/push/send", coding, body: body)?.status == 503)
            #expect(try await bench.post("/fcm/send", #"{"to":"a","data":{"k":"v"}}"#, Self.json).status == 200)
            held = nil
            #expect(await bench.answer("POST", "/fcm/send", coding, body: body)?.status == 200)
            // A request returns its memory after its answer.
            while bench.state.contents.reserve(64 << 20) == nil { await Task.yield() }
        }
    }

    @Test(arguments: [
        ("nope", "JSON_PARSING_ERROR"), ("[]", "JSON_PARSING_ERROR"),
        (#"{"to":"a","data":[]}"#, "Field \"data\" must be a JSON object: []"),
        (#"{"to":"a","registration_ids":["b"]}"#, "Must use either"),
        (#"{"registration_ids":[\#(Array(repeating: "\"a\"", count: 1001).joined(separator: ","))]}"#, "(1001)"),
    ])
    func malformedRequestsAreAnsweredWithAText(body: String, text: String) async throws {
        try await GoogleBench.run { bench in
            let reply = try await bench.post("/fcm/send", body, Self.json)
            #expect(reply.status == 400)
            #expect(reply.text.contains(text))
        }
    }

    @Test func aDryRunHasAFakeId() async throws {
        try await GoogleBench.run { bench in
            let reply = try await bench.post("/fcm/send", #"{"to":"a","dry_run":true,"data":{"a":"b"}}"#, Self.json)
            #expect(reply.string("/results/0/message_id") == "fake_message_id")
            #expect(try await bench.events().isEmpty)
        }
    }

    @Test func formsAreAnsweredByForms() async throws {
        try await GoogleBench.run { bench in
            let type = ("content-type", "application/x-www-form-urlencoded;charset=UTF-8")
            let sent = try await bench.post("/fcm/send", "registration_id=a&data.score=4+x&time_to_live=60", type)
            #expect(sent.text.hasPrefix("id="))
            #expect(try await bench.post("/fcm/send", "data.a=b", type).text == "Error=MissingRegistration\n")
            #expect(try await bench.post("/fcm/send", "to=a&time_to_live=x", type).text == "Error=InvalidParameters\n")
            let events = try await bench.events()
            #expect(events.count == 1)
            #expect(events[0].contains("\"score\":\"4 x\""))
        }
    }

    @Test func aWrongKeyIsAnsweredWithAPage() async throws {
        try await GoogleBench.run(GoogleBench.sources) { bench in
            let reply = try await bench.post("/fcm/send", #"{"to":"a"}"#, Self.json, ("authorization", "key=wrong"))
            #expect(reply.status == 401)
            #expect(reply.text.contains("<TITLE>Unauthorized</TITLE>"))
        }
    }
}
