import SignalboxJSON
import SignalboxStore
import Testing

@testable import SignalboxServer

@Suite struct APNsChannelTests {
    private static let app = "/1/apps/com.example.app"
    private static let broadcasts = "/4/broadcasts/apps/com.example.app"
    private static let liveActivity = ("apns-push-type", "liveactivity")
    private static let definition = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#

    /// The answer to a request with exactly these fields.
    private static func answer(
        _ bench: APNsBench, _ method: String, _ path: String, _ fields: [(String, String)] = [], body: String = ""
    ) async throws -> ProviderReply {
        try await bench.answer(APNsBench.request(method, path, fields, length: body.utf8.count), body: body)
    }

    /// The identifier of a new channel.
    private static func create(_ bench: APNsBench, storing policy: Int = 1) async throws -> String {
        let body = #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#
        let reply = try await answer(bench, "POST", app + "/channels", body: body)
        #expect(reply.status == 201 && reply.body.isEmpty)
        #expect(reply.header("apns-request-id") != nil)
        return try #require(reply.header("apns-channel-id"))
    }

    @Test func createsReadsListsAndDeletesChannels() async throws {
        try await APNsBench.run { bench async throws in
            let id = ("apns-request-id", "EADBC9B3-1a2b-4c3d-8e4f-0123456789ab")
            let one = try await Self.create(bench, storing: 0)
            let two = try await Self.create(bench)
            #expect(one != two)
            let path = Self.app + "/channels"
            let read = try await Self.answer(bench, "GET", path, [("apns-channel-id", one), id])
            #expect(read.reason == #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#)
            #expect(read.header("apns-request-id") == id.1)
            let other = try await Self.answer(bench, "GET", path + "/" + two.replacing("=", with: "%3D"))
            #expect(other.reason == Self.definition)
            let list = [one, two].sorted().map { "\"\($0)\"" }.joined(separator: ",")
            for path in [path, Self.app + "/all-channels"] {
                #expect(try await Self.answer(bench, "GET", path).reason == #"{"channels":[\#(list)]}"#)
            }
            let field = ("apns-channel-id", one)
            let all = try await Self.answer(bench, "GET", Self.app + "/all-channels", [field])
            #expect(all.reason == #"{"channels":[\#(list)]}"#, "the path asks for all")
            let removed = try await Self.answer(bench, "DELETE", path, [field])
            #expect(removed.status == 204 && removed.body.isEmpty)
            #expect(try await Self.answer(bench, "DELETE", path, [field]).summary == "400 ChannelNotRegistered")
            #expect(try await Self.answer(bench, "GET", path, [field]).summary == "400 ChannelNotRegistered")
        }
    }

    @Test(
        arguments: [
            ("POST", "/channels", nil, "{}", "400 MissingPushType"),
            ("POST", "/channels", nil, "x", "400 BadRequestPayload"),
            ("POST", "/channels", nil, "", "400 PayloadEmpty"),
            ("POST", "/channels", nil, #"{"push-type":"LiveActivity"}"#, "400 BadRequestPayload"),
            (
                "POST", "/channels", nil, #"{"message-storage-policy":2,"push-type":"LiveActivity"}"#,
                "400 BadRequestPayload"
            ),
            ("POST", "/channels", nil, #"{"message-storage-policy":1,"push-type":"alert"}"#, "400 InvalidPushType"),
            ("GET", "/channels", "x y z", "", "400 BadChannelId"),
            ("GET", "/channels", "AAAA", "", "400 ChannelNotRegistered"),
            ("DELETE", "/channels", nil, "", "400 MissingChannelId"),
            ("PUT", "/channels", nil, "", "405 MethodNotAllowed"),
            ("POST", "/all-channels", nil, "", "405 MethodNotAllowed"), ("GET", "/else", nil, "", "404 BadPath"),
            ("GET", "/channels/a/b", nil, "", "404 BadPath"), ("GET", "/channels/%zz", nil, "", "400 BadChannelId"),
            ("POST", "/channels/AAAA", nil, definition, "405 MethodNotAllowed"),
        ] as [(String, String, String?, String, String)])
    func rejectsOtherRequests(
        _ method: String, _ path: String, _ id: String?, _ body: String, _ answer: String
    ) async throws {
        try await APNsBench.run { bench async throws in
            let fields = id.map { [("apns-channel-id", $0)] } ?? []
            #expect(try await Self.answer(bench, method, Self.app + path, fields, body: body).summary == answer)
        }
    }

    /// RFC 9110, 15.5.6.
    @Test(arguments: [
        ("PUT", "/channels", "POST, GET, DELETE"), ("POST", "/channels/AAAA", "GET, DELETE"),
        ("POST", "/all-channels", "GET"),
    ])
    func namesTheMethodsOfAResource(_ method: String, _ path: String, _ methods: String) async throws {
        try await APNsBench.run { bench async throws in
            let reply = try await Self.answer(bench, method, Self.app + path, [], body: "")
            #expect(reply.summary == "405 MethodNotAllowed")
            #expect(reply.header("allow") == methods)
        }
    }

    @Test func writesTheChannelIntoTheEventOfABroadcast() async throws {
        try await APNsBench.run { bench async throws in
            let id = try await Self.create(bench)
            let body = #"{"aps":{"event":"update","timestamp":1795210140,"content-state":{"score":1}}}"#
            let fields = [
                Self.liveActivity, ("apns-channel-id", id), ("apns-expiration", "1795300000"), ("apns-priority", "10"),
                ("apns-request-id", "EADBC9B3-1a2b-4c3d-8e4f-0123456789ab"),
            ]
            for _ in 0..<2 {
                let reply = try await Self.answer(bench, "POST", Self.broadcasts, fields, body: body)
                #expect(reply.summary == "200")
                #expect(reply.header("apns-request-id") == "EADBC9B3-1a2b-4c3d-8e4f-0123456789ab")
            }
            try await bench.withEvents { events in
                #expect(events.count == 1)
                let data = try #require(events.first?["data"])
                #expect(data["kind"]?.string == "live-activity")
                #expect(data["target"]?["channel"]?.string == id)
                #expect(data["target"]?["topic"]?.string == "com.example.app")
                #expect(data["target"]?["token"] == nil)
                #expect(data["transport"]?["pushType"]?.string == "liveactivity")
            }
        }
    }

    @Test(
        arguments: [
            ([], "400 MissingChannelId"), ([("apns-channel-id", "!")], "400 BadChannelId"),
            ([("apns-channel-id", "AAAA")], "400 MissingPushType"),
            ([("apns-channel-id", "AAAA"), ("apns-push-type", "alert")], "400 InvalidPushType"),
            ([("apns-channel-id", "AAAA"), liveActivity], "400 ChannelNotRegistered"),
            ([("apns-channel-id", "AAAA"), liveActivity, ("apns-priority", "2")], "400 BadPriority"),
            ([("apns-channel-id", "AAAA"), liveActivity, ("apns-request-id", "2")], "400 BadMessageId"),
            ([("apns-channel-id", "AAAA"), liveActivity, liveActivity], "400 DuplicateHeaders"),
        ] as [([(String, String)], String)])
    func checksBroadcasts(_ fields: [(String, String)], _ answer: String) async throws {
        try await APNsBench.run { bench async throws in
            let reply = try await Self.answer(bench, "POST", Self.broadcasts, fields, body: APNsBench.payload)
            #expect(reply.summary == answer)
        }
    }

    @Test(arguments: [(0, "0", "200"), (0, "1795300000", "400 BadExpirationDate"), (1, "1795300000", "200")])
    func aChannelWithoutStorageKeepsNoBroadcast(_ policy: Int, _ expiration: String, _ answer: String) async throws {
        try await APNsBench.run { bench async throws in
            let id = try await Self.create(bench, storing: policy)
            let fields = [Self.liveActivity, ("apns-channel-id", id), ("apns-expiration", expiration)]
            let reply = try await Self.answer(bench, "POST", Self.broadcasts, fields, body: APNsBench.payload)
            #expect(reply.summary == answer)
        }
    }

    /// `limits` count requests of every kind.
    @Test func limitsTheRequestsOfASource() async throws {
        let config = """
            {"sources": {"mobile": {"apns": {"secrets": ["env:SECRET"]}, "limits": {"streams": 1}}}}
            """
        try await APNsBench.run(config) { bench async throws in
            let path = "/s/open-sesame" + Self.app + "/channels"
            let open = try #require(bench.endpoint.verdict(on: APNsBench.request("GET", path, [], length: 0)))
            #expect(try await Self.answer(bench, "GET", path).summary == "429 TooManyRequests")
            withExtendedLifetime(open) {}
        }
    }

    /// As with Apple, where every key of a team manages the channels of its apps.
    @Test func sourcesOfOneAppShareItsChannels() async throws {
        let config = """
            {"sources": {
              "mobile": {"apns": {"secrets": ["env:SECRET"], "topics": ["com.example.app"]}},
              "backup": {"apns": {"secrets": ["env:OTHER"], "topics": ["com.example.app"]}},
              "else": {"apns": {"keys": [{"team": "TEAM000002", "key": "KEY0000003", "publicKey": "env:THIRD"}]}}}}
            """
        try await APNsBench.run(config) { bench async throws in
            let (first, second) = ("/s/open-sesame" + Self.app, "/s/another" + Self.app)
            let created = try await Self.answer(bench, "POST", first + "/channels", body: Self.definition)
            let id = try #require(created.header("apns-channel-id"))
            let field = ("apns-channel-id", id)
            #expect(try await Self.answer(bench, "GET", second + "/channels", [field]).reason == Self.definition)
            let token = ("authorization", "bearer " + bench.tokens["other team"])
            let foreign = try await Self.answer(bench, "DELETE", Self.app + "/channels", [field, token])
            #expect(foreign.summary == "403 TopicMismatch")
            #expect(try await Self.answer(bench, "DELETE", second + "/channels", [field]).status == 204)
            #expect(
                try await Self.answer(bench, "GET", first + "/channels", [field]).summary == "400 ChannelNotRegistered")
        }
    }

    /// Neither source lists the app, so both may send to it.
    @Test func aChannelOfAnUnlistedAppBelongsToItsCreator() async throws {
        let config = """
            {"sources": { "mobile": {"apns": {"secrets": ["env:SECRET"]}}, "backup": {"apns": {"secrets": ["env:OTHER"]}}}}
            """
        try await APNsBench.run(config) { bench async throws in
            let (own, foreign) = ("/s/open-sesame" + Self.app + "/channels", "/s/another" + Self.app + "/channels")
            let created = try await Self.answer(bench, "POST", own, body: Self.definition)
            let id = try #require(created.header("apns-channel-id"))
            let field = ("apns-channel-id", id)
            for method in ["GET", "DELETE"] {
                let reply = try await Self.answer(bench, method, foreign, [field])
                #expect(reply.summary == "400 ChannelNotRegistered")
            }
            #expect(try await Self.answer(bench, "GET", foreign).reason == #"{"channels":[]}"#)
            let broadcast = try await Self.answer(
                bench, "POST", "/s/another" + Self.broadcasts, [Self.liveActivity, field], body: APNsBench.payload)
            #expect(broadcast.summary == "400 ChannelNotRegistered")
            #expect(try await Self.answer(bench, "GET", own).reason == #"{"channels":["\#(id)"]}"#)
            #expect(try await Self.answer(bench, "DELETE", own, [field]).status == 204)
        }
    }

    @Test func bindsAppsToSources() async throws {
        try await APNsBench.run(APNsBench.sources) { bench async throws in
            let path = "/s/open-sesame/1/apps/"
            #expect(try await Self.answer(bench, "GET", path + "com.example.app/channels").status == 200)
            let other = try await Self.answer(bench, "GET", path + "com.example.other/channels")
            #expect(other.summary == "403 TopicMismatch")
            let nobody = try await Self.answer(bench, "GET", Self.app + "/channels")
            #expect(nobody.summary == "403 MissingProviderToken")
        }
    }
}
