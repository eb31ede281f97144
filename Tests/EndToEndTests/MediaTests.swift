import Foundation
import SignalboxGateway
import SignalboxTesting
import Testing

/// The files that events link to, as curl receives them from the built binary.
@Suite(.timeLimit(.minutes(15))) struct MediaTests {
    private static let calendar = Array("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n".utf8)

    /// `calendar` and `other` are the URLs of two files, a calendar and one of four bytes.
    private func withFiles(_ body: (_ calendar: String, _ other: String, _ url: String) async throws -> Void)
        async throws
    {
        try await withTemporaryDirectory { directory in
            try FileManager.default.createDirectory(
                atPath: directory + "/data", withIntermediateDirectories: true)
            let store = MediaStore(directory: directory + "/data/media")
            let calendar = try store.keep(Self.calendar)
            let other = try store.keep(Array("abcd".utf8))
            let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: "http://127.0.0.1:9/"))
            try await body(
                gateway.url + "/media/" + calendar.sha256, gateway.url + "/media/" + other.sha256, gateway.url)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func servesACalendarAsAnImmutableDownload() async throws {
        try await withFiles { calendar, _, _ in
            let reply = try await Reply(calendar)
            #expect(reply.status == 200)
            #expect(reply.body == Self.calendar)
            #expect(reply.headers["content-type"] == "text/calendar; charset=utf-8")
            #expect(reply.headers["content-disposition"] == "attachment; filename=\"event.ics\"")
            #expect(reply.headers["x-content-type-options"] == "nosniff")
            #expect(reply.headers["cache-control"] == "public, max-age=31536000, immutable")
            #expect(reply.headers["etag"] == "\"\(calendar.suffix(64))\"")
            #expect(reply.headers["content-length"] == "\(Self.calendar.count)")
            #expect(reply.headers["accept-ranges"] == "bytes")
        }
    }

    @Test func headSaysTheSameWithoutTheFile() async throws {
        try await withFiles { calendar, _, _ in
            var get = try await Reply(calendar).headers
            let head = try await Reply(calendar, "--head")
            #expect(head.status == 200 && head.body.isEmpty)
            var headers = head.headers
            (get["date"], headers["date"]) = (nil, nil)
            #expect(headers == get)
            #expect(try await Reply(calendar, "--head", "--header", "range: bytes=0-0").status == 200)
        }
    }

    @Test func answers304ForAKnownFile() async throws {
        try await withFiles { calendar, _, _ in
            let tag = "\"\(calendar.suffix(64))\""
            for header in [tag, "W/" + tag, "\"a\", " + tag, "*"] {
                let reply = try await Reply(calendar, "--header", "if-none-match: " + header)
                #expect(reply.status == 304 && reply.body.isEmpty, "\(header)")
                #expect(reply.headers["etag"] == tag)
            }
            #expect(try await Reply(calendar, "--header", "if-none-match: \"a\"").status == 200)
        }
    }

    @Test func answers412ForAnotherFile() async throws {
        try await withFiles { calendar, _, _ in
            let tag = "\"\(calendar.suffix(64))\""
            for header in [tag, "\"a\", " + tag, "*"] {
                #expect(try await Reply(calendar, "--header", "if-match: " + header).status == 200, "\(header)")
            }
            for header in ["\"a\"", "W/" + tag] {
                let reply = try await Reply(calendar, "--header", "if-match: " + header)
                #expect(reply.status == 412, "\(header)")
                #expect(reply.headers["content-type"] == "application/problem+json")
            }
        }
    }

    @Test(arguments: [
        ("bytes=1-2", 206, "bc", "bytes 1-2/4"), ("bytes=2-", 206, "cd", "bytes 2-3/4"),
        ("bytes=-1", 206, "d", "bytes 3-3/4"), ("bytes=-9", 206, "abcd", "bytes 0-3/4"),
        ("bytes=3-99999999999999999999", 206, "d", "bytes 3-3/4"), ("bytes=4-", 416, "", "bytes */4"),
        ("bytes=-0", 416, "", "bytes */4"), ("bytes=2-1", 200, "abcd", ""), ("bytes=0-0,2-2", 200, "abcd", ""),
        ("bytes=a-b", 200, "abcd", ""), ("bytes=-", 200, "abcd", ""), ("lines=1-2", 200, "abcd", ""),
    ])
    func servesAByteRange(_ range: String, status: Int, body: String, place: String) async throws {
        try await withFiles { _, other, _ in
            let reply = try await Reply(other, "--header", "range: " + range)
            #expect(reply.status == status)
            #expect(reply.headers["content-range"] ?? "" == place)
            if status == 416 {
                #expect(reply.headers["content-type"] == "application/problem+json")
            } else {
                #expect(reply.body == Array(body.utf8))
            }
            #expect(reply.headers["content-length"] == "\(reply.body.count)")
        }
    }

    @Test func servesTheWholeFileWhenIfRangeDiffers() async throws {
        try await withFiles { _, other, _ in
            let range = ["--header", "range: bytes=0-0", "--header"]
            let changed = try await Reply(other, range + ["if-range: \"a\""])
            #expect(changed.status == 200)
            let same = try await Reply(other, range + ["if-range: \"\(other.suffix(64))\""])
            #expect(same.status == 206)
        }
    }

    @Test func servesUnknownTypesAsBytes() async throws {
        try await withFiles { _, other, _ in
            let reply = try await Reply(other)
            #expect(reply.headers["content-type"] == "application/octet-stream")
            #expect(reply.headers["content-disposition"] == "attachment")
        }
    }

    @Test func answers404ForOtherPaths() async throws {
        try await withFiles { calendar, _, url in
            let names = [
                String(repeating: "0", count: 64), calendar.suffix(64).uppercased(), "..%2f..%2froutes.json", "%2e%2e",
                "unfinished", "a",
            ]
            for name in names {
                let reply = try await Reply(url + "/media/" + name)
                #expect(reply.status == 404, "\(name)")
                #expect(reply.headers["content-type"] == "application/problem+json")
                #expect(String(decoding: reply.body, as: UTF8.self).contains("\"media-not-found\""))
            }
            for path in ["/media", "/media/", "/media/../routes.json"] {
                #expect(try await Reply(url + path, "--path-as-is").status == 404, "\(path)")
            }
            #expect(try await Reply(calendar, "--request", "DELETE").status == 405)
        }
    }
}
