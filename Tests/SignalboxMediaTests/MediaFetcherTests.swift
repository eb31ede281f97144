import Foundation
import SignalboxNotification
import SignalboxServerTesting
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// Downloads from a scripted server.
@Suite(.timeLimit(.minutes(15))) struct MediaFetcherTests {
    @Test func storesADownloadUnderItsDigest() async throws {
        let replies = ["/a.png": [ScriptedReply.file(Sample.png, ["content-type: image/png"])]]
        try await MediaServer.run(replies, certificate: "good.pem", host: "localhost") { server in
            let outcome = await server.fetch("/a.png")
            let file = try #require(outcome.file, "\(outcome)")
            #expect(file.sha256 == Sample.pngDigest)
            #expect(file.bytes == Sample.png.count && file.contentType == "image/png")
            #expect(file.width == 1 && file.height == 1)
            #expect(outcome.remarks == [])
            let kept = try #require(server.store.find(Sample.pngDigest))
            #expect(try server.store.read(kept) == Sample.png)
            #expect(server.leftovers.isEmpty)
        }
    }

    @Test func sendsOnlyTheNeededHeaders() async throws {
        try await MediaServer.run(["/a.png?size=2": [.file(Sample.png)]]) { server in
            #expect(await server.fetch("/a.png?size=2#top").word == "stored")
            let request = try #require(try await server.peer.next())
            #expect(request.line == "GET /a.png?size=2 HTTP/1.1")
            #expect(
                request.headers == [
                    "host": "127.0.0.1:\(server.peer.port)", "accept-encoding": "identity",
                    "user-agent": "signalbox/test",
                    "accept": "image/png, image/jpeg, image/gif, image/webp, audio/aiff, audio/wav, audio/mpeg, "
                        + "audio/mp4, video/mp4, video/mpeg, video/mpeg2, video/x-msvideo, */*;q=0.1",
                ])
        }
    }

    @Test func acceptsEveryAllowedType() async throws {
        let files: [String: ([UInt8], String)] = [
            "/jpeg": (Sample.jpeg, "image/jpeg"), "/gif": (Sample.gif, "image/gif"),
            "/webp": (Sample.webp, "image/webp"), "/aiff": (Sample.aiff, "audio/aiff"),
            "/wav": (Sample.wav, "audio/wav"), "/mp3": (Sample.mp3, "audio/mpeg"), "/m4a": (Sample.m4a, "audio/mp4"),
            "/mp4": (Sample.mp4, "video/mp4"), "/mpeg": (Sample.mpeg, "video/mpeg"),
            "/avi": (Sample.avi, "video/x-msvideo"),
        ]
        try await MediaServer.run(files.mapValues { [.file($0.0)] }) { server in
            for (path, (bytes, type)) in files {
                let outcome = await server.fetch(path)
                let file = try #require(outcome.file, "\(path): \(outcome)")
                #expect(file.contentType == type && file.bytes == bytes.count)
                #expect(try server.store.read(try #require(server.store.find(file.sha256))) == bytes)
            }
        }
    }

    @Test func rejectsOtherFilesUnderAnyContentType() async throws {
        let files: [String: ([UInt8], String)] = [
            "/html": (Sample.html, "html!"), "/svg": (Sample.svg, "svg!"), "/elf": (Sample.elf, "executable!"),
            "/script": (Array("#!/bin/sh\nrm -rf /\n".utf8), "executable!"),
            "/pdf": (Array("%PDF-1.7\n".utf8), "type!"),
            "/text": (Array("no such picture".utf8), "type!"), "/empty": ([], "empty!"),
            "/mov": ([0, 0, 0, 0x14] + Array("ftypqt  ".utf8) + [0, 0, 2, 0] + Array("qt  ".utf8), "type!"),
        ]
        let replies = files.mapValues { [ScriptedReply.file($0.0, ["content-type: image/png"])] }
        try await MediaServer.run(replies) { server in
            for (path, (_, word)) in files { #expect(await server.fetch(path).word == word, "\(path)") }
            #expect(server.leftovers.isEmpty)
            #expect(server.kept.isEmpty)
        }
    }

    @Test func acceptsOnlyAllowedTypes() async throws {
        try await MediaServer.run(["/gif": [.file(Sample.gif)], "/png": [.file(Sample.png)]]) {
            $0.rules.kinds = [.gif]
        } _: { server in
            #expect(await server.fetch("/gif").word == "stored")
            #expect(await server.fetch("/png").word == "type!")
        }
    }

    /// The whole file in one chunk.
    private func chunked(_ bytes: [UInt8], _ encoding: String) -> ScriptedReply {
        ScriptedReply(
            head: "HTTP/1.1 200 OK\r\ntransfer-encoding: \(encoding)\r\n\r\n",
            body: Data(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n0\r\n\r\n".utf8)))
    }

    // MARK: Size

    /// The content decides the limit; the announced length may be missing or wrong.
    @Test func appliesTheLimitOfEachKind() async throws {
        func padded(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
            bytes + [UInt8](repeating: 7, count: count - bytes.count)
        }
        let samples: [(name: String, bytes: [UInt8], most: Int)] = [
            ("gif", Sample.gif, 6000), ("wav", Sample.wav, 5000), ("mp4", Sample.mp4, 70_000),
        ]
        var replies: [String: [ScriptedReply]] = [:]
        for (name, bytes, most) in samples {
            replies["/\(name)/most"] = [.file(padded(bytes, most))]
            replies["/\(name)/more"] = [.file(padded(bytes, most + 1))]
            replies["/\(name)/most-chunked"] = [chunked(padded(bytes, most), "chunked")]
            replies["/\(name)/more-chunked"] = [chunked(padded(bytes, most + 1), "chunked")]
        }
        try await MediaServer.run(replies) {
            $0.rules.limits.image = 6000
            $0.rules.limits.audio = 5000
            $0.rules.limits.video = 70_000
        } _: { server in
            for (name, _, most) in samples {
                #expect(await server.fetch("/\(name)/most").file?.bytes == most)
                #expect(await server.fetch("/\(name)/most-chunked").file?.bytes == most)
                #expect(await server.fetch("/\(name)/more").word == "too-large!")
                #expect(await server.fetch("/\(name)/more-chunked").word == "too-large!")
            }
            #expect(server.leftovers.isEmpty)
            #expect(server.kept.count == 3)
        }
    }

    /// The server never ends the body, so only the announced length can end the download.
    @Test func rejectsAnAnnouncedLengthOverTheLimit() async throws {
        let replies: [String: [ScriptedReply]] = [
            // Over the limit of every kind: rejected at the first byte.
            "/any": [.file([0x47], length: 60 << 20)],
            // Over the limit of pictures: rejected when the kind is known.
            "/gif": [.file(Sample.gif + [UInt8](repeating: 0, count: 5000), length: 20 << 20)],
        ]
        try await MediaServer.run(replies) { server in
            #expect(await server.fetch("/any").word == "too-large!")
            #expect(await server.fetch("/gif").word == "too-large!")
            #expect(server.leftovers.isEmpty)
        }
    }

    @Test func rejectsEndlessFiles() async throws {
        let chunk = Array("1000\r\n".utf8) + [UInt8](repeating: 7, count: 0x1000) + Array("\r\n".utf8)
        let first = Array("\(String(Sample.gif.count, radix: 16))\r\n".utf8) + Sample.gif + Array("\r\n".utf8)
        let head =
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + String(decoding: first[..<3], as: UTF8.self)
        let reply = ScriptedReply(
            head: head + first[3...].map { String(UnicodeScalar($0)) }.joined(), body: Data(chunk), times: 0)
        try await MediaServer.run(["/": [reply]]) { server in
            #expect(await server.fetch("/").word == "too-large!")
            #expect(server.leftovers.isEmpty)
        }
    }

    @Test func shortFilesAreTemporary() async throws {
        let replies: [String: [ScriptedReply]] = [
            "/short": [.file(Sample.png, length: Sample.png.count + 1, end: .close), .file(Sample.png)],
            "/none": [.file([], length: 1, end: .close)],
        ]
        try await MediaServer.run(replies) { server in
            #expect(await server.fetch("/short").word == "reset")
            #expect(await server.fetch("/none").word == "reset")
            #expect(server.leftovers.isEmpty)
            #expect(server.kept.isEmpty)
            #expect(await server.fetch("/short").word == "stored")
        }
    }

    /// In HTTP/1.1 the length ends the body (RFC 9112, 6.3); later bytes are not the response to the next request.
    @Test func ignoresBytesBehindTheAnnouncedLength() async throws {
        let more = Array("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfake".utf8)
        let replies: [String: [ScriptedReply]] = [
            "/a": [.file(Sample.png + more, length: Sample.png.count)], "/b": [.file(Sample.gif)],
        ]
        try await MediaServer.run(replies) { server in
            #expect(await server.fetch("/a").file?.sha256 == Sample.pngDigest)
            let next = await server.fetch("/b")
            #expect(next.file?.contentType == "image/gif", "\(next)")
        }
    }

    /// Such a file may be cut, even if it arrives whole (RFC 9112, 6.3).
    @Test func rejectsContradictoryLengths() async throws {
        let length = Sample.png.count
        let replies: [String: [ScriptedReply]] = [
            "/two": [.file(Sample.png, ["content-length: \(length - 1)"])],
            "/list": [.file(Sample.png, ["content-length: \(length), 5"])],
            "/word": [.file(Sample.png, ["content-length: \(length)x"])],
            "/same": [.file(Sample.png, ["content-length: \(length)"])],
        ]
        try await MediaServer.run(replies) { server in
            for path in ["/two", "/list", "/word"] { #expect(await server.fetch(path).word == "reset!", "\(path)") }
            #expect(await server.fetch("/same").word == "stored")
            #expect(server.leftovers.isEmpty)
        }
    }

    /// libcurl stops reading a long body at the announced length, so the connection still has the rest.
    @Test(arguments: [nil, "good.pem"]) func doesNotReuseConnectionsWithUnreadBytes(
        certificate: String?
    ) async throws {
        let more = Array("HTTP/1.1 200 OK\r\ncontent-length: \(Sample.png.count)\r\n\r\n".utf8) + Sample.png
        let long = Sample.gif + [UInt8](repeating: 7, count: 200_000)
        let replies: [String: [ScriptedReply]] = [
            "/a": [.file(long + more, length: long.count)], "/b": [.file(Sample.jpeg)],
        ]
        try await MediaServer.run(replies, certificate: certificate, host: "localhost") { server in
            for _ in 0..<20 {
                #expect(await server.fetch("/a").file?.bytes == long.count)
                let next = await server.fetch("/b")
                #expect(next.file?.contentType == "image/jpeg", "\(next)")
            }
        }
    }

    // MARK: Encoding

    @Test func rejectsCompressedFiles() async throws {
        // The beginning of 10 MB of zeros, by `head -c 10000000 /dev/zero | gzip -9`.
        let bomb: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xEC, 0xC1, 1, 1, 0, 0]
        // The pixel, by Python's `gzip.compress`.
        let packed = Array(
            Data(
                base64Encoded:
                    "H4sIAAAAAAACA+sM8HPn5ZLiYmBg4PX0cAkC0owgzMEGJOVFj3SCJVwcQypuJaf8OB/Az8DcxtgQZVKbDZRg8HT1c1nnlNAEAJMgSRxGAAAA"
            )
                ?? Data())
        let replies: [String: [ScriptedReply]] = [
            "/gzip": [.file(bomb, ["content-encoding: gzip"])],
            "/twice": [.file(bomb, ["content-encoding: identity", "content-encoding: gzip"])],
            "/transfer": [chunked(packed, "gzip, chunked")], "/transfer-bomb": [chunked(bomb, "gzip, chunked")],
            "/chunked": [chunked(Sample.png, "Chunked")],
            "/picture": [.file(Sample.png, ["content-encoding: br"])],
            "/identity": [.file(Sample.png, ["content-encoding: Identity"])],
            "/unsaid": [.file(bomb)],
        ]
        try await MediaServer.run(replies) { server in
            for path in ["/gzip", "/twice", "/picture"] { #expect(await server.fetch(path).word == "encoding!") }
            // libcurl decompresses it, or fails.
            #expect(await server.fetch("/transfer").word == "encoding!")
            #expect(["encoding!", "reset"].contains(await server.fetch("/transfer-bomb").word))
            #expect(await server.fetch("/chunked").word == "stored")
            #expect(await server.fetch("/identity").word == "stored")
            #expect(await server.fetch("/unsaid").word == "type!")
            #expect(server.leftovers.isEmpty)
            #expect(server.kept.count == 1)
        }
    }

    // MARK: Remarks

    @Test func storesContradictoryFilesWithRemarks() async throws {
        let replies: [String: [ScriptedReply]] = [
            "/a.png": [.file(Sample.png, ["content-type: image/jpeg; charset=utf-8"])],
            "/a.gif": [.file(Sample.png, ["content-type: Image/PNG"])],
            "/a.mp4?f=a.png": [.file(Sample.png, ["content-type: text/html"])],
            "/a.PNG": [.file(Sample.png, ["content-type: application/octet-stream"])],
            "/picture.php": [.file(Sample.png)],
            "/a.jpeg": [.file(Sample.jpeg, ["content-type: image/jpg"])],
        ]
        let expected: [String: [MediaRemark]] = [
            "/a.png": [.contentType], "/a.gif": [.fileExtension], "/a.mp4?f=a.png": [.contentType, .fileExtension],
            "/a.PNG": [], "/picture.php": [], "/a.jpeg": [],
        ]
        try await MediaServer.run(replies) { server in
            for (path, remarks) in expected { #expect(await server.fetch(path).remarks == remarks, "\(path)") }
        }
    }

    // MARK: The disk

    @Test func diskErrorsInterruptTheDownload() async throws {
        let sync: @Sendable (String) throws(MediaError) -> Void = { _ throws(MediaError) in
            throw MediaError(reason: "no space left")
        }
        try await MediaServer.run(["/": [.file(Sample.png)]], sync: sync) { server in
            let outcome = await server.fetch("/")
            #expect(outcome.word == "storage")
            guard case .interrupted(let failure, _) = outcome else {
                Issue.record("The outcome is \(outcome).")
                return
            }
            #expect(failure.words == "The media file cannot be stored, read or removed: no space left.")
            #expect(server.leftovers.isEmpty)
        }
        try await MediaServer.run(["/": [.file(Sample.png)]]) { server in
            try Data().write(to: URL(fileURLWithPath: server.folder))
            #expect(await server.fetch("/").word == "storage")
        }
    }

    @Test func storesEqualFilesOnce() async throws {
        try await MediaServer.run(["/": [.file(Sample.png)]]) { server in
            await withTaskGroup(of: MediaOutcome.self) { group in
                for _ in 0..<24 { group.addTask { await server.fetch("/") } }
                for await outcome in group { #expect(outcome.file?.sha256 == Sample.pngDigest) }
            }
            #expect(server.kept == [Sample.pngDigest])
            #expect(server.leftovers.isEmpty)
        }
    }
}
