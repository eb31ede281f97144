import Foundation
import SignalboxGateway
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Files that only signed links lead to.
@Suite(.timeLimit(.minutes(15))) struct SignedMediaTests {
    private static let secret = "a secret for links only"
    private static let config = #""media": { "signedUrls": { "secret": "env:MEDIA_URL_SECRET", "expiry": "2h" } },"#

    private static func links(to url: String, secret: String = secret) -> MediaLinks {
        MediaLinks(publicUrl: url, secrets: [secret], expiry: .seconds(7200))
    }

    private func withFile(_ body: (_ name: String, _ gateway: Gateway) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory + "/data", withIntermediateDirectories: true)
            let name = try MediaStore(directory: directory + "/data/media").keep(Array("GIF89a".utf8)).sha256
            let gateway = try await Gateway.start(
                in: directory, config: Gateway.config(to: "http://127.0.0.1:9/", more: Self.config),
                environment: ["MEDIA_URL_SECRET": Self.secret])
            try await body(name, gateway)
            #expect(await gateway.stop() == 0)
        }
    }

    private func expectRefusal(_ url: String, _ code: String, _ arguments: String...) async throws {
        let reply = try await Reply(url, arguments)
        #expect(reply.status == 403, "\(url)")
        #expect(reply.headers["content-type"] == "application/problem+json")
        #expect(String(decoding: reply.body, as: UTF8.self).contains("\"code\":\"\(code)\""), "\(url)")
        #expect(reply.headers["etag"] == nil)
    }

    @Test func servesAFileByItsSignedLinkUntilItExpires() async throws {
        try await withFile { name, gateway in
            let href = Self.links(to: gateway.url).href(name, now: Date())
            let reply = try await Reply(href)
            #expect(reply.status == 200 && reply.body == Array("GIF89a".utf8))
            #expect(reply.headers["content-type"] == "image/gif")
            let caching = try #require(reply.headers["cache-control"])
            let left = try #require(Int(caching.replacing("private, max-age=", with: "")), "\(caching)")
            #expect((3600...10_800).contains(left))
            #expect(try await Reply(href, "--head").status == 200)
            #expect(try await Reply(href, "--header", "range: bytes=0-2").body == Array("GIF".utf8))
            let known = try await Reply(href, "--header", "if-none-match: \"\(name)\"")
            #expect(known.status == 304)
            #expect(known.headers["cache-control"]?.hasPrefix("private, max-age=") == true)
        }
    }

    @Test func refusesOtherUsesWithAReason() async throws {
        try await withFile { name, gateway in
            let links = Self.links(to: gateway.url)
            let href = links.href(name, now: Date())
            let file = gateway.url + "/media/" + name
            try await expectRefusal(file, "media-link-unsigned")
            try await expectRefusal(file + "?expires=9999999999", "media-link-unsigned")
            try await expectRefusal(file + "?signature=a", "media-link-unsigned")
            try await expectRefusal(file + "?expires=9999999999&signature=a", "media-link-wrong")
            try await expectRefusal(href.replacing("expires=", with: "expires=1"), "media-link-wrong")
            let foreign = Self.links(to: gateway.url, secret: "the secret of somebody else")
            try await expectRefusal(foreign.href(name, now: Date()), "media-link-wrong")
            let old = Date() - 30 * 86_400
            try await expectRefusal(foreign.href(name, now: old), "media-link-wrong")
            try await expectRefusal(links.href(name, now: old), "media-link-expired")
            // Without a valid link, the reply does not show whether a file exists.
            let none = String(repeating: "0", count: 64)
            try await expectRefusal(gateway.url + "/media/" + none, "media-link-unsigned")
            #expect(try await Reply(links.href(none, now: Date())).status == 404)
            try await expectRefusal(file, "media-link-unsigned", "--header", "if-none-match: \"\(name)\"")
            #expect(try await Reply(file, "--head").status == 403)
        }
    }

    @Test func theCalendarOfATapHasASignedLink() async throws {
        try await Gateway.run(config: Self.config, environment: ["MEDIA_URL_SECRET": Self.secret]) {
            gateway, receiver, _ in
            let payload = Data(
                #"""
                {"aps":{"alert":"Hi"},"notification-action":{"type":"url","value":"https://ibm.com"},"category-actions":[
                 {"name":"Save","type":"calendar","title":"Sale","timeZone":"America/New_York","startDate":"2026-12-01T15:00:00Z",
                  "endDate":"2026-12-01T16:00:00Z","destructive":false,"authentication":false,"foreground":false}]}
                """#.utf8)
            let id = try #require(try await gateway.post(payload).json["id"] as? String)
            let event = try Self.data(of: try #require(await receiver.next(1).first))
            let named = try #require((event["category"] as? [String: Any])?["identifier"] as? String)
            let answer = try await gateway.get("/v1/categories/\(named)").text
            let category = try #require(try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any])
            let button = try #require((category["actions"] as? [[String: Any]])?.first?["identifier"] as? String)
            let report = #"{"eventId":"\#(id)","actionIdentifier":"\#(button)","deviceTime":"2026-11-20T21:29:00Z"}"#
            let offered = try await gateway.post(Data(report.utf8), to: "/v1/interactions").json["media"]
            let tap = try Self.data(of: try #require(await receiver.next(1).first))
            let href = try #require((tap["media"] as? [[String: Any]])?.first?["href"] as? String, "\(tap)")
            #expect((offered as? [[String: Any]])?.first?["href"] as? String == href)
            #expect(href.contains("?expires=") && href.contains("&signature="))
            let reply = try await Reply(gateway.url + href)
            #expect(reply.status == 200 && reply.body.starts(with: "BEGIN:VCALENDAR".utf8))
        }
    }

    private static func data(of message: WebhookReceiver.Message) throws -> [String: Any] {
        let event = try JSONSerialization.jsonObject(with: Data(message.body)) as? [String: Any]
        return try #require(event?["data"] as? [String: Any])
    }

    @Test func refusesAShortSecretWithoutPrintingIt() async throws {
        try await withTemporaryDirectory { directory in
            let config = Gateway.config(to: "https://crm.example.com/", more: Self.config)
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let result = try await binary.run(
                ["serve", "--listen", "127.0.0.1:0"], in: directory,
                environment: ["WEBHOOK_SECRET": Gateway.secret, "MEDIA_URL_SECRET": "hunter2hunter2!"])
            #expect(result.status == 2)
            #expect(
                result.errors.contains(
                    "/media/signedUrls/secret: env:MEDIA_URL_SECRET is shorter than 16"))
            #expect(!result.errors.contains("hunter2"))
        }
    }
}
