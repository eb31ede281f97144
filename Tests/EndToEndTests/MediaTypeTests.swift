import Foundation
import SignalboxGateway
import SignalboxTesting
import Testing

/// The content types of served files, recognised by their contents.
@Suite(.timeLimit(.minutes(15))) struct MediaTypeTests {
    private struct Sample {
        let type: String
        let ending: String
        let bytes: [UInt8]

        init(_ type: String, _ ending: String, _ start: String, _ more: [UInt8] = []) {
            self.type = type
            self.ending = ending
            // Latin-1, so that each character is a byte.
            bytes = start.unicodeScalars.map { UInt8($0.value) } + more + [UInt8](repeating: 0, count: 40)
        }
    }

    private static let frame: [UInt8] = [0xFF, 0xFB, 0x14, 0xC4] + [UInt8](repeating: 0, count: 100)

    private static let seenAndHeard = [
        Sample("image/png", "png", "\u{89}PNG\r\n\u{1A}\n"), Sample("image/jpeg", "jpg", "\u{FF}\u{D8}\u{FF}\u{E0}"),
        Sample("image/gif", "gif", "GIF89a"), Sample("image/webp", "webp", "RIFF\0\0\0\0WEBPVP8 "),
        Sample("image/heic", "heic", "\0\0\0\u{10}ftypheic\0\0\0\0"),
        Sample("image/avif", "avif", "\0\0\0\u{10}ftypavif\0\0\0\0"),
        Sample("audio/aiff", "aiff", "FORM\0\0\0\0AIFF"), Sample("audio/wav", "wav", "RIFF\0\0\0\0WAVE"),
        Sample("audio/mpeg", "mp3", "ID3\u{4}\0\0\0\0\0\0", frame),
        Sample("audio/mp4", "m4a", "\0\0\0\u{10}ftypM4A \0\0\0\0"),
        Sample("video/mp4", "mp4", "\0\0\0\u{10}ftypmp42\0\0\0\0"),
        Sample("video/mpeg", "mpg", "\0\0\u{1}\u{BA}D"),
        Sample("video/quicktime", "mov", "\0\0\0\u{10}ftypqt  \0\0\0\0"),
        Sample("video/x-msvideo", "avi", "RIFF\0\0\0\0AVI "),
    ]
    private static let documents = [
        Sample("", "", "<html><script>alert(1)</script>"), Sample("", "", "<svg onload=\"alert(1)\"/>"),
        Sample("", "", "<?xml version=\"1.0\"?><a/>"), Sample("", "", "%PDF-1.7"), Sample("", "", "#!/bin/sh\n"),
        Sample("", "", "\u{7F}ELF"), Sample("", "", "PK\u{3}\u{4}"), Sample("", "", "hello"),
    ]

    /// The URLs of files, in their order.
    private func withFiles(_ samples: [Sample], _ body: ([String]) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory + "/data", withIntermediateDirectories: true)
            let store = MediaStore(directory: directory + "/data/media")
            let names = try samples.map { try store.keep($0.bytes).sha256 }
            let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: "http://127.0.0.1:9/"))
            try await body(names.map { gateway.url + "/media/" + $0 })
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func servesMediaWithTheirContentTypes() async throws {
        try await withFiles(Self.seenAndHeard) { urls in
            for (url, sample) in zip(urls, Self.seenAndHeard) {
                let reply = try await Reply(url)
                #expect(reply.status == 200 && reply.body == sample.bytes)
                #expect(reply.headers["content-type"] == sample.type)
                let name = "\(url.suffix(64).prefix(12)).\(sample.ending)"
                #expect(reply.headers["content-disposition"] == "inline; filename=\"\(name)\"")
                #expect(reply.headers["x-content-type-options"] == "nosniff")
                #expect(reply.headers["content-security-policy"] == "default-src 'none'; sandbox")
                #expect(reply.headers["cache-control"] == "public, max-age=31536000, immutable")
                let head = try await Reply(url, "--head")
                #expect(head.status == 200 && head.body.isEmpty)
                #expect(head.headers["content-type"] == sample.type)
                #expect(head.headers["content-length"] == "\(sample.bytes.count)")
                let part = try await Reply(url, "--header", "range: bytes=2-5")
                #expect(part.status == 206 && part.body == Array(sample.bytes[2...5]))
                #expect(part.headers["content-type"] == sample.type, "of the whole, not of the part")
            }
        }
    }

    @Test func servesActiveContentAsDownload() async throws {
        try await withFiles(Self.documents) { urls in
            for (url, sample) in zip(urls, Self.documents) {
                let reply = try await Reply(url)
                #expect(reply.status == 200 && reply.body == sample.bytes)
                #expect(reply.headers["content-type"] == "application/octet-stream")
                #expect(reply.headers["content-disposition"] == "attachment")
                #expect(reply.headers["x-content-type-options"] == "nosniff")
                #expect(reply.headers["content-security-policy"] == "default-src 'none'; sandbox")
            }
        }
    }

    /// RFC 9110, 14.2: a server may answer with the whole file, and 13.1.5: only a strong match keeps the range.
    @Test func comparesIfRangeStrictly() async throws {
        try await withFiles([Self.seenAndHeard[0]]) { urls in
            let (url, bytes) = (urls[0], Self.seenAndHeard[0].bytes)
            let tag = "\"\(url.suffix(64))\""
            let cases: [(ranges: String, condition: String?, status: Int, body: [UInt8])] = [
                ("bytes=0-1,4-5", nil, 200, bytes), ("bytes=0-1, -1", nil, 200, bytes),
                ("bytes=-3", nil, 206, bytes.suffix(3)), ("bytes=-3", tag, 206, bytes.suffix(3)),
                ("bytes=-3", "W/" + tag, 200, bytes), ("bytes=-3", "\"a\"", 200, bytes),
                ("bytes=-3", "Fri, 20 Nov 2026 21:29:00 GMT", 200, bytes),
                ("bytes=\(bytes.count)-", "\"a\"", 200, bytes), ("bytes=\(bytes.count)-", tag, 416, []),
            ].map { ($0.0, $0.1, $0.2, Array($0.3)) }
            for (ranges, condition, status, body) in cases {
                var arguments = ["--header", "range: " + ranges]
                if let condition { arguments += ["--header", "if-range: " + condition] }
                let reply = try await Reply(url, arguments)
                #expect(reply.status == status, "\(ranges) \(condition ?? "")")
                if status != 416 { #expect(reply.body == body, "\(ranges) \(condition ?? "")") }
            }
            let known = try await Reply(url, "--header", "range: bytes=0-1", "--header", "if-none-match: " + tag)
            #expect(known.status == 304 && known.body.isEmpty)
        }
    }
}
