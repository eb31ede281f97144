import Foundation
import SignalboxJSON
import SignalboxNotification
import SignalboxSQLite
import SignalboxStore
import Testing

@testable import SignalboxServer

/// Pushes of a client on this machine, without sources.
@Suite struct APNsPushTests {
    private static let digits = APNsBench.token

    @Test func writesTheParametersOfTheRequestIntoTheEvent() async throws {
        try await APNsBench.run { bench async throws in
            let reply = try await bench.push([
                ("apns-id", "EADBC9B3-1a2b-4c3d-8e4f-0123456789ab"), ("apns-push-type", "alert"),
                ("apns-priority", "5"), ("apns-expiration", "1795300000"), ("apns-collapse-id", "score"),
            ])
            #expect(reply.summary == "200")
            #expect(reply.header("apns-id") == "EADBC9B3-1a2b-4c3d-8e4f-0123456789ab")
            try await bench.withEvents { events in
                let data = try #require(events.first?["data"])
                #expect(data["platform"]?.string == "apns")
                #expect(data["content"]?["body"]?.string == "Hello")
                #expect(data["target"]?["topic"]?.string == "com.example.app")
                #expect(data["target"]?["token"]?.string?.hasPrefix("sha256:") == true)
                #expect(data["tag"]?.string == "score")
                #expect(data["schedule"]?["notAfter"]?.string == "2026-11-21T22:26:40.000Z")
                let transport = try #require(data["transport"])
                #expect(transport["apnsId"]?.string == "EADBC9B3-1a2b-4c3d-8e4f-0123456789ab")
                #expect(transport["priority"]?.integer == 5)
                #expect(transport["pushType"]?.string == "alert")
                #expect(transport["collapseId"]?.string == "score")
                #expect(transport["expiration"]?.integer == 1_795_300_000)
                #expect(data["warnings"] == nil)
                #expect(!JSONText(try #require(events.first)).string.contains(Self.digits))
            }
        }
    }

    @Test func makesAnIdentifierUnlessTheClientHasOne() async throws {
        try await APNsBench.run { bench async throws in
            let made = try #require(try await bench.push().header("apns-id"))
            #expect(UUID(uuidString: made) != nil)
            #expect(try await bench.push().header("apns-id") != made)
            for id in ["", "EADBC9B3", "EADBC9B31A2B4C3D8E4F0123456789AB", "gADBC9B3-1a2b-4c3d-8e4f-0123456789ab"] {
                let reply = try await bench.push([("apns-id", id)])
                #expect(reply.summary == "400 BadMessageId")
                #expect(reply.header("apns-id") == id)
            }
        }
    }

    /// aioapns reads the body of every error as JSON, and finds its request by the identifier.
    @Test(arguments: ["/r/a%20b" + APNsBench.path, "/r/t1/s/x" + APNsBench.path])
    func aWrongLabelOfTheRunHasAReason(path: String) async throws {
        try await APNsBench.run { bench async throws in
            let request = APNsBench.request("POST", path, [APNsBench.topic, ("apns-id", "EADBC9B3")])
            let endpoints = ProviderEndpoints(all: [bench.endpoint])
            guard case .reply(let reply) = try #require(endpoints.verdict(on: request)) else {
                Issue.record("The body is read.")
                return
            }
            #expect(reply.summary == "400 BadRequestParams")
            #expect(reply.header("apns-id") == "EADBC9B3")
        }
    }

    /// In pass-through, Apple decides on values that its documents leave open, and on those that it adds.
    @Test func aForwardedPushMayHaveWhatTheGatewayDoesNotKnow() throws {
        let headers = APNsHeaders([(name: "apns-push-type", value: "future")])
        #expect(headers.hasUnknownPushType)
        #expect(try headers.readPushType(isForwarded: true) == "future")
        #expect(throws: APNsReason.invalidPushType) { try headers.readPushType() }
        #expect(try APNsToken.read("ABCD", isForwarded: true) == Array("abcd".utf8))
        #expect(throws: APNsReason.badDeviceToken) { try APNsToken.read("ABCD") }
        for token in ["ABC", "zz"] {
            #expect(throws: APNsReason.badDeviceToken) { try APNsToken.read(token, isForwarded: true) }
        }
    }

    @Test func answersARepeatAsTheFirstRequest() async throws {
        try await APNsBench.run { bench async throws in
            let id = ("apns-id", "eadbc9b3-1a2b-4c3d-8e4f-0123456789ab")
            async let first = bench.push([id])
            async let second = bench.push([id])
            let replies = try await [first, second, bench.push([id])]
            #expect(replies.allSatisfy { $0 == replies[0] && $0.status == 200 })
            #expect(try await bench.queue.eventCount() == 1)
            // Another body, another device, or no identifier: another push.
            _ = try await bench.push([id], body: #"{"aps":{"alert":"Other"}}"#)
            _ = try await bench.push([id], path: "/3/device/" + String(Self.digits.reversed()))
            _ = try await bench.push()
            _ = try await bench.push()
            #expect(try await bench.queue.eventCount() == 5)
        }
    }

    @Test func hashesATokenInEitherCaseAlike() async throws {
        try await APNsBench.run { bench async throws in
            _ = try await bench.push()
            _ = try await bench.push(path: "/3/device/" + Self.digits.uppercased())
            #expect(try await bench.push(path: "/3/device/" + String(repeating: "a1", count: 80)).status == 200)
            try await bench.withEvents { events in
                let tokens = events.map { $0["data"]?["target"]?["token"]?.string }
                #expect(tokens.count == 3 && tokens[0] == tokens[1] && tokens[1] != tokens[2])
            }
        }
    }

    @Test func hashesCopiesOfTheTokenInThePayload() async throws {
        try await APNsBench.run { bench async throws in
            let mixed = Self.digits.prefix(30).uppercased() + Self.digits.dropFirst(30)
            let capital = Self.digits.uppercased()
            let body = #"{"aps":{},"a":{"token":"\#(Self.digits)"},"b":"\#(capital)","c":"?\#(mixed)"}"#
            #expect(try await bench.push(body: body).status == 200)
            try await bench.withEvents { events in
                let event = try #require(events.first)
                #expect(!JSONText(event).string.lowercased().contains(Self.digits))
                let data = try #require(event["data"])
                let name = try #require(data["target"]?["token"]?.string)
                #expect(data["custom"]?["a"]?["token"]?.string == name && data["custom"]?["b"]?.string == name)
                #expect(data["custom"]?["c"]?.string == "?" + name)
            }
        }
    }

    @Test(arguments: [
        ("", "400 MissingDeviceToken"), ("zz", "400 BadDeviceToken"),
        (String(repeating: "a", count: 63), "400 BadDeviceToken"),
        (String(repeating: "a", count: 65), "400 BadDeviceToken"),
        (String(repeating: "g", count: 64), "400 BadDeviceToken"),
        (String(repeating: "a", count: 202), "400 BadDeviceToken"), (String(repeating: "a", count: 200), "200"),
        ("%61" + String(repeating: "a", count: 61), "400 BadDeviceToken"),
    ])
    func checksTheToken(_ token: String, _ answer: String) async throws {
        try await APNsBench.run { bench async throws in
            #expect(try await bench.push(path: "/3/device/" + token).summary == answer)
        }
    }

    @Test(arguments: [
        ("apns-expiration", "0", "200"), ("apns-expiration", "1", "200"),
        ("apns-expiration", "9223372036854775807", "200"), ("apns-expiration", "abc", "400 BadExpirationDate"),
        ("apns-expiration", "-1", "400 BadExpirationDate"), ("apns-expiration", "1.5", "400 BadExpirationDate"),
        ("apns-expiration", "", "400 BadExpirationDate"),
        ("apns-expiration", "9223372036854775808", "400 BadExpirationDate"),
        ("apns-collapse-id", String(repeating: "x", count: 64), "200"),
        ("apns-collapse-id", String(repeating: "x", count: 65), "400 BadCollapseId"),
        ("apns-collapse-id", String(repeating: "€", count: 21), "200"),
        ("apns-collapse-id", String(repeating: "€", count: 22), "400 BadCollapseId"),
        ("apns-priority", "1", "200"), ("apns-priority", "5", "200"), ("apns-priority", "10", "200"),
        ("apns-priority", "7", "400 BadPriority"), ("apns-priority", "", "400 BadPriority"),
        ("apns-priority", "010", "400 BadPriority"), ("apns-push-type", "liveactivity", "200"),
        ("apns-push-type", "Alert", "400 InvalidPushType"), ("apns-push-type", "", "400 InvalidPushType"),
        ("apns-unknown", "x", "200"),
    ])
    func checksHeaderFields(_ name: String, _ value: String, _ answer: String) async throws {
        try await APNsBench.run { bench async throws in #expect(try await bench.push([(name, value)]).summary == answer)
        }
    }

    /// A delivery ends as expired when this time has passed; 0 permits one attempt.
    @Test func expiresWithThePush() async throws {
        try await APNsBench.run { bench async throws in
            for value in ["0", "1", "1795300000", "9223372036854775807"] {
                _ = try await bench.push([("apns-expiration", value)])
            }
            _ = try await bench.push()
            let records = try await bench.queue.deliveries(.init(), limit: 10).reversed()
            #expect(records.map { $0.notAfter?.timeIntervalSince1970 } == [0, 1, 1_795_300_000, nil, nil])
        }
    }

    @Test(arguments: [
        ([("apns-push-type", "background"), ("apns-priority", "10")], true),
        ([("apns-push-type", "background")], true),
        ([("apns-push-type", "background"), ("apns-priority", "5")], false),
        ([("apns-push-type", "alert"), ("apns-priority", "10")], false),
    ])
    func warnsOfABackgroundPushWithTheHighestPriority(_ headers: [(String, String)], _ isWarned: Bool) async throws {
        try await APNsBench.run { bench async throws in
            #expect(try await bench.push(headers).status == 200)
            try await bench.withEvents { events in
                let code = events.first?["data"]?["warnings"]?.elements.compactMap { $0["code"]?.string }
                #expect(code == (isWarned ? ["apns.background-priority"] : nil))
            }
        }
    }

    @Test(
        arguments: [
            ([], 4096, "200"), ([], 4097, "413 PayloadTooLarge"),
            ([("apns-push-type", "alert")], 4097, "413 PayloadTooLarge"),
            ([("apns-push-type", "voip")], 5120, "200"), ([("apns-push-type", "voip")], 5121, "413 PayloadTooLarge"),
        ] as [([(String, String)], Int, String)])
    func rejectsAPayloadThatIsTooLarge(_ headers: [(String, String)], _ bytes: Int, _ answer: String) async throws {
        let frame = #"{"aps":{"alert":""}}"#
        let body = #"{"aps":{"alert":"\#(String(repeating: "x", count: bytes - frame.utf8.count))"}}"#
        try await APNsBench.run { bench async throws in
            #expect(try await bench.push(headers, body: body).summary == answer)
            let request = APNsBench.request("POST", APNsBench.path, [APNsBench.topic] + headers, length: nil)
            #expect(try await bench.answer(request, body: body).summary == answer, "of unknown length")
            // Without reading the body.
            let known = APNsBench.request("POST", APNsBench.path, [APNsBench.topic] + headers, length: bytes)
            if case .body? = bench.endpoint.verdict(on: known) { #expect(answer == "200") }
            try await bench.withEvents { events in
                #expect(events.count == (answer == "200" ? 2 : 0))
                #expect(events.allSatisfy { $0["data"]?["warnings"] == nil })
            }
        }
    }

    @Test(arguments: [
        "", " ", "nope", "[]", "42", "{", "{}{}", "{}\n{}",
        String(repeating: #"{"a":"#, count: 200) + "1" + String(repeating: "}", count: 200),
    ])
    func rejectsABodyThatCannotBeRead(_ body: String) async throws {
        try await APNsBench.run { bench async throws in
            #expect(try await bench.push(body: body).summary == "400 PayloadEmpty")
            #expect(try await bench.queue.eventCount() == 0)
        }
    }

    /// APNs accepts any object: some types of push have no `aps`.
    @Test(arguments: ["{}", #"{"mdm":"token"}"#, #"{"data":{"a":"b"}}"#, #"{"aps":"x"}"#, " {\n}\n"])
    func readsEveryObjectAsAPushToAPNs(_ body: String) async throws {
        try await APNsBench.run { bench async throws in
            #expect(try await bench.push(body: body).summary == "200")
            try await bench.withEvents { events in
                #expect(events.map { $0["data"]?["platform"]?.string } == ["apns"])
                #expect(events.map { $0["data"]?["kind"]?.string } == ["silent"])
            }
        }
    }

    @Test(arguments: [
        ("GET", APNsBench.path, "405 MethodNotAllowed"), ("PUT", "/3/device/", "405 MethodNotAllowed"),
        ("POST", "/3/devices/x", "404 BadPath"), ("GET", "/3/devices/x", "404 BadPath"), ("POST", "/3/", "404 BadPath"),
        ("POST", "/3/device", "404 BadPath"), ("POST", APNsBench.path + "/", "404 BadPath"),
        ("POST", "/3/device/", "400 MissingDeviceToken"), ("POST", "/4/x", "404 BadPath"),
        ("POST", "/1/apps", "404 BadPath"), ("POST", "/1/apps/b/x", "404 BadPath"),
    ])
    func rejectsOtherPathsAndMethods(_ method: String, _ path: String, _ answer: String) async throws {
        try await APNsBench.run { bench async throws in
            let reply = try await bench.answer(APNsBench.request(method, path, [APNsBench.topic]))
            #expect(reply.summary == answer)
            #expect(reply.header("apns-id") != nil)
        }
    }

    @Test(arguments: [
        "apns-id", "apns-topic", "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id",
        "authorization",
    ])
    func rejectsARepeatedField(_ name: String) async throws {
        try await APNsBench.run { bench async throws in
            let reply = try await bench.push([(name, "1"), (name, "1")])
            #expect(reply.summary == "400 DuplicateHeaders")
        }
    }

    @Test func leavesOtherPathsToOtherEndpoints() async throws {
        try await APNsBench.run { bench async throws in
            for path in [
                "", "/", "*", "/v1/notifications", "/fcm/send", "/s/x", "/s/x/fcm/send", "/1", "/30/x", "x/3/",
            ] {
                #expect(bench.endpoint.verdict(on: APNsBench.request("POST", path, [])) == nil, "\(path)")
            }
        }
    }

    @Test func answers503WhenTheQueueFails() async throws {
        try await APNsBench.run { bench async throws in
            bench.queue.health.recordDamage(.damaged(path: "queue.db", reason: "test"))
            let reply = try await bench.push([("apns-id", "EADBC9B3-1a2b-4c3d-8e4f-0123456789ab")])
            #expect(reply.summary == "503 ServiceUnavailable")
            #expect(reply.header("apns-id") == "EADBC9B3-1a2b-4c3d-8e4f-0123456789ab")
            #expect(bench.log.lines.count == 1)
        }
    }
}
