import Foundation
import SignalboxNotification
import SignalboxServerTesting
import Testing

/// Lifetimes of downloads and conditional requests.
@Suite(.timeLimit(.minutes(15))) struct MediaFreshnessTests {
    private func after(_ seconds: TimeInterval) -> Date { MediaServer.now.addingTimeInterval(seconds) }

    @Test func remembersValidatorsAndLifetime() async throws {
        let changed = "Fri, 20 Nov 2026 20:00:00 GMT"
        let headers = ["etag: \"v1\"", "last-modified: \(changed)", "cache-control: max-age=3600, no-transform"]
        let unchanged = ScriptedReply(head: "HTTP/1.1 304 Not Modified\r\ncache-control: max-age=60\r\n\r\n")
        try await MediaServer.run(["/": [.file(Sample.png, headers), unchanged]]) { server in
            let first = try #require((await server.fetch("/")).freshness)
            #expect(first.validators == MediaValidators(etag: "\"v1\"", lastModified: changed))
            // The lifetime is reduced by the delay.
            #expect(first.until > after(3590) && first.until <= after(3600))
            let asked = try #require(try await server.peer.next()).headers
            #expect(asked["if-none-match"] == nil && asked["if-modified-since"] == nil)

            let again = await server.fetch("/", validators: first.validators)
            #expect(again.word == "unchanged")
            #expect(again.freshness?.validators == first.validators, "a 304 need not repeat them")
            let until = try #require(again.freshness?.until)
            #expect(until > after(50) && until <= after(60))
            let conditional = try #require(try await server.peer.next()).headers
            #expect(conditional["if-none-match"] == "\"v1\"")
            #expect(conditional["if-modified-since"] == changed)
        }
    }

    @Test func downloadsChangedFiles() async throws {
        try await MediaServer.run(["/": [.file(Sample.gif, ["etag: \"v2\""])]]) { server in
            let outcome = await server.fetch("/", validators: MediaValidators(etag: "\"v1\""))
            #expect(outcome.file?.contentType == "image/gif")
            #expect(outcome.freshness?.validators == MediaValidators(etag: "\"v2\""))
            #expect(outcome.freshness?.until == after(600), "the server says nothing of time")
        }
    }

    /// A 304 replaces the validators that it contains.
    @Test func updatesValidatorsOfA304() async throws {
        let reply = ScriptedReply(head: "HTTP/1.1 304 Not Modified\r\netag: \"v2\"\r\n\r\n")
        try await MediaServer.run(["/": [reply]]) { server in
            let date = "Fri, 20 Nov 2026 11:29:00 GMT"
            let outcome = await server.fetch("/", validators: MediaValidators(etag: "\"v1\"", lastModified: date))
            #expect(outcome.freshness?.validators == MediaValidators(etag: "\"v2\"", lastModified: date))
            #expect(outcome.freshness?.until == after(600))
        }
    }

    @Test func noStoreFilesAreStaleAtOnce() async throws {
        let headers = ["cache-control: public", "cache-control: No-Store", "etag: \"v1\""]
        try await MediaServer.run(["/": [.file(Sample.png, headers)]]) { server in
            let outcome = await server.fetch("/")
            #expect(outcome.word == "stored")
            #expect(outcome.freshness?.until == MediaServer.now)
            #expect(outcome.freshness?.validators == MediaValidators())
        }
    }

    /// Validators belong to one URL (RFC 9110, 8.8.1): a redirect may lead to another file tomorrow.
    @Test func redirectsHaveNoValidators() async throws {
        let replies: [String: [ScriptedReply]] = [
            "/latest": [.redirect(to: "/a", ["cache-control: max-age=30"])],
            "/a": [.file(Sample.png, ["etag: \"v1\"", "cache-control: max-age=3600"])],
        ]
        try await MediaServer.run(replies) { server in
            let outcome = await server.fetch("/latest", validators: MediaValidators(etag: "\"v0\""))
            #expect(outcome.word == "stored")
            #expect(outcome.freshness?.validators == MediaValidators())
            let until = try #require(outcome.freshness?.until)
            #expect(until > after(20) && until <= after(30), "the redirect itself is soon over")
            #expect(try await server.peer.next()?.headers["if-none-match"] == "\"v0\"")
            let second = try #require(try await server.peer.next())
            #expect(second.line == "GET /a HTTP/1.1" && second.headers["if-none-match"] == nil)
        }
    }

    @Test func ignoresUnusableValidators() async throws {
        let long = "\"" + String(repeating: "v", count: 1024) + "\""
        let replies: [String: [ScriptedReply]] = [
            "/long": [.file(Sample.png, ["etag: \(long)", "last-modified: yesterday"])],
            "/odd": [.file(Sample.png, ["etag: \"\u{E9}\""])],
        ]
        try await MediaServer.run(replies) { server in
            #expect(await server.fetch("/long").freshness?.validators == MediaValidators())
            #expect(await server.fetch("/odd").freshness?.validators == MediaValidators())
        }
    }
}
