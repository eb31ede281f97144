import Foundation
import SignalboxEgress
import SignalboxNotification
import SignalboxServerTesting
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// Failures of downloads, temporary and permanent.
@Suite(.timeLimit(.minutes(15))) struct MediaFailureTests {
    @Test(arguments: ["expired.pem", "self-signed.pem", "other-name.pem", "unknown-issuer.pem"])
    func badCertificatesArePermanent(certificate: String) async throws {
        try await MediaServer.run(["/": [.file(Sample.png)]], certificate: certificate) { server in
            #expect(await server.fetch("/").word == "tls!")
            #expect(server.kept.isEmpty)
        }
    }

    private func word(
        _ mode: String, _ scheme: String, timeout: Duration = .seconds(20), slowest: OutboundRequest.Pace? = nil
    ) async throws -> String {
        try await withTemporaryDirectory { directory in
            try await Peer.run([mode]) { peer in
                var settings = MediaFetcher.Settings(userAgent: "signalbox/test")
                settings.rules.allowsHTTP = true
                settings.timeout = timeout
                if let slowest { settings.slowest = slowest }
                let http = OutboundHTTP(policy: AddressPolicy(allow: [try #require(AddressRange("127.0.0.1/32"))]))
                defer { http.stop() }
                let fetcher = MediaFetcher(settings, http: http, store: MediaStore(directory: directory + "/media"))
                return await fetcher.fetch("\(scheme)://127.0.0.1:\(peer.port)/").word
            }
        }
    }

    @Test func failedHandshakesAreTemporary() async throws {
        #expect(try await word("hangs-up-at-once", "https") == "tls")
        #expect(try await word("mute", "https", timeout: .milliseconds(100)) == "timeout")
    }

    @Test func timesOutOnSlowResponses() async throws {
        for mode in ["mute", "trickled-headers", "trickled-body"] {
            #expect(try await word(mode, "http", timeout: .milliseconds(150)) == "timeout")
        }
    }

    @Test func slowDownloadsEndBeforeTheTimeout() async throws {
        let slowest = (bytesPerSecond: 1 << 30, seconds: 1)
        #expect(try await word("trickled-body", "http", timeout: .seconds(600), slowest: slowest) == "timeout")
    }

    /// A directory on a network may not answer for minutes, and a Swift thread that waits for it serves no request.
    @Test func createsFilesOutsideOfSwiftTasks() async throws {
        let isInTask = Replaceable<Bool?>(nil)
        let create: @Sendable (String) throws(MediaError) -> MediaWriter = { path throws(MediaError) in
            isInTask.replace(by: withUnsafeCurrentTask { $0 != nil })
            return try MediaWriter(path: path)
        }
        let files = ["/small": Sample.png, "/large": Sample.png + [UInt8](repeating: 0, count: 100_000)]
        try await MediaServer.run(files.mapValues { [.file($0)] }, create: create) { server in
            for path in files.keys.sorted() {
                #expect(await server.fetch(path).word == "stored")
                #expect(isInTask.value == false, "\(path)")
            }
        }
    }

    @Test func closedConnectionsAreTemporary() async throws {
        for mode in ["hangs-up", "resets", "endless-headers"] { #expect(try await word(mode, "http") == "reset") }
        #expect(try await word("endless-body", "http") == "type!")
    }

    @Test func resetDownloadIsTemporaryAndRemoved() async throws {
        let half = Sample.png + [UInt8](repeating: 0, count: 100_000)
        let replies: [String: [ScriptedReply]] = [
            "/": [.file(half, length: 200_000, end: .reset), .file(half)]
        ]
        try await MediaServer.run(replies) { server in
            #expect(await server.fetch("/").word == "reset")
            #expect(server.leftovers.isEmpty)
            #expect(server.kept.isEmpty)
            #expect(await server.fetch("/").file?.bytes == half.count)
        }
    }

    /// The file may be cut, because libcurl takes the end of the connection for its end.
    @Test(arguments: ["9223372036854775808", "18446744073709551616", "99999999999999999999999"])
    func rejectsLengthsThatAreTooLargeToCount(length: String) async throws {
        let reply = ScriptedReply(
            head: "HTTP/1.1 200 OK\r\ncontent-length: \(length)\r\n\r\n", body: Data(Sample.png), end: .close)
        try await MediaServer.run(["/": [reply]]) { server in
            #expect(await server.fetch("/").word == "reset!")
            #expect(server.leftovers.isEmpty)
            #expect(server.kept.isEmpty)
        }
    }

    @Test func refusedConnectionsAreTemporary() async throws {
        try await MediaServer.run([:]) { server in
            #expect(await server.fetcher.fetch("http://127.0.0.1:1/").word == "refused")
            #expect(await server.fetcher.fetch("https://name.invalid/a.png").word == "dns")
        }
    }

    @Test func stoppedClientInterruptsTheDownload() async throws {
        try await withTemporaryDirectory { directory in
            let http = OutboundHTTP(policy: AddressPolicy())
            http.stop()
            let fetcher = MediaFetcher(
                MediaFetcher.Settings(userAgent: "signalbox/test"), http: http,
                store: MediaStore(directory: directory))
            #expect(await fetcher.fetch("https://host.example/").word == "stopped")
        }
    }

    @Test(arguments: [
        ("404 Not Found", "not-found!"), ("410 Gone", "not-found!"), ("401 Unauthorized", "status!"),
        ("403 Forbidden", "status!"), ("416 Range Not Satisfiable", "status!"), ("204 No Content", "status!"),
        ("206 Partial Content", "status!"), ("408 Request Timeout", "status"), ("425 Too Early", "status"),
        ("429 Too Many Requests", "status"), ("500 Internal Server Error", "status"), ("503 Busy", "status"),
        ("599 Odd", "status"),
    ])
    func statusDecidesWhetherToRetry(status: String, word: String) async throws {
        // A picture in the body does not count.
        try await MediaServer.run(["/": [.file(status.hasPrefix("204") ? [] : Sample.png, status: status)]]) { server in
            #expect(await server.fetch("/").word == word)
            #expect(server.kept.isEmpty)
        }
    }

    @Test(arguments: [
        ("120", Duration.seconds(120)), ("Fri, 20 Nov 2026 21:30:00 GMT", .seconds(60)),
        ("Fri, 20 Nov 2026 21:00:00 GMT", .zero), ("99999999999999999999", .seconds(24 * 3600)), ("soon", nil),
    ])
    func readsRetryAfter(header: String, after: Duration?) async throws {
        let busy = ScriptedReply.file([], ["retry-after: \(header)"], status: "429 Too Many Requests")
        try await MediaServer.run(["/": [busy, .file(Sample.png)]]) { server in
            let failure = MediaFailure(.status, "127.0.0.1 answered 429.")
            #expect(await server.fetch("/") == .interrupted(failure, after: after))
            #expect(await server.fetch("/").word == "stored")
        }
    }

    /// Object stores repeat what the uploader of a plain file wrote.
    @Test(arguments: [
        ("none", "stored"), ("UTF-8", "stored"), ("base64", "stored"), ("aws-chunked", "stored"),
        ("identity,identity", "stored"), ("aws-chunked,gzip", "encoding!"), ("X-GZIP", "encoding!"),
        ("utf-8, zstd", "encoding!"), ("deflate", "encoding!"), ("compress", "encoding!"),
    ])
    func onlyRegisteredCodingsEncodeFiles(coding: String, word: String) async throws {
        try await MediaServer.run(["/": [.file(Sample.png, ["content-encoding: \(coding)"])]]) { server in
            #expect(await server.fetch("/").word == word)
        }
    }

    @Test func downloadsAfterTheServerRecovers() async throws {
        let replies: [String: [ScriptedReply]] = [
            "/": [.file([], status: "500 Internal Server Error"), .file(Sample.png)]
        ]
        try await MediaServer.run(replies) { server in
            #expect(await server.fetch("/").word == "status")
            #expect(await server.fetch("/").word == "stored")
        }
    }
}
