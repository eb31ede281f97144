import Foundation
import SignalboxEgress
import SignalboxGateway
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Downloads of pictures that payloads link to, on the built binary.
@Suite(.timeLimit(.minutes(15))) struct MediaDownloadTests {
    private func media(_ message: WebhookReceiver.Message) throws -> [[String: Any]] {
        EventRecorder.record(message.body)
        let event = try #require(try JSONSerialization.jsonObject(with: Data(message.body)) as? [String: Any])
        return try #require((event["data"] as? [String: Any])?["media"] as? [[String: Any]])
    }

    /// The first file of the next event that arrives.
    private func next(from receiver: ReceivingServer) async throws -> [String: Any] {
        let message = try #require(await receiver.next().first)
        return try #require(try media(message).first)
    }

    private func digest(_ bytes: [UInt8]) -> String { hexadecimal(sha256(bytes)) }

    /// A gateway, a server with pictures and a receiver, for the duration of `body`.
    private func run(
        _ replies: [String: [ScriptedReply]], wait: String = "2m", retry: String? = nil,
        _ body: @escaping @Sendable (Gateway, ReceivingServer, PictureServer) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await PictureServer.run(replies, in: directory) { pictures in
                try await ReceivingServer.run { receiver in
                    let gateway = try await Gateway.start(
                        in: directory, config: pictures.config(to: receiver.url, wait: wait, media: retry))
                    try await body(gateway, receiver, pictures)
                    #expect(await gateway.stop() == 0)
                }
            }
        }
    }

    @Test func storesAPictureBeforeItsEventIsDelivered() async throws {
        try await run(["/a.png": [PictureServer.reply()]]) { gateway, receiver, pictures in
            #expect(try await gateway.post(pictures.payload("/a.png")).status == 202)
            let message = try #require(await receiver.next().first)
            let media = try #require(try self.media(message).first)
            let name = digest(PictureServer.picture())
            #expect(media["status"] as? String == "stored" && media["sha256"] as? String == name)
            #expect(media["contentType"] as? String == "image/png")
            #expect(media["width"] as? Int == 1 && media["height"] as? Int == 1)
            #expect(media["href"] as? String == "https://gateway.example/media/\(name)")
            #expect(
                String(decoding: message.body, as: UTF8.self)
                    .contains(#""media-attachment":"https://gateway.example/media/\#(name)""#))
            let reply = try await Reply(gateway.url + "/media/" + name)
            #expect(reply.status == 200 && reply.body == PictureServer.picture())
            #expect(reply.headers["content-type"] == "image/png")
        }
    }

    /// Without signed links, a digest leads to the file.
    @Test func aTokenWithoutContentSeesNoDigests() async throws {
        try await withTemporaryDirectory { directory in
            try await PictureServer.run(["/a.png": [PictureServer.reply()]], in: directory) { pictures in
                try await ReceivingServer.run { receiver in
                    let tokens = """
                        "rita": { "bearer": "env:RITA", "role": "reader", "content": false },
                        "ann": { "bearer": "env:ANN", "role": "reader" }
                        """
                    let gateway = try await Gateway.start(
                        in: directory,
                        config: pictures.config(to: receiver.url)
                            .replacing("\"egress\"", with: "\"admin\": { \"tokens\": { \(tokens) } }, \"egress\""),
                        environment: ["RITA": "rita-token", "ANN": "ann-token"])
                    let sent = try await gateway.post(pictures.payload("/a.png"))
                    let id = try #require(sent.json["id"] as? String)
                    _ = await receiver.next()
                    for path in ["/v1/events/\(id)", "/v1/media"] {
                        let seen = try await gateway.request("GET", path, token: "ann-token").json
                        let hidden = try await gateway.request("GET", path, token: "rita-token").json
                        let name = digest(PictureServer.picture())
                        #expect("\(seen)".contains(name) && !"\(hidden)".contains(name), "\(path): \(hidden)")
                    }
                    #expect(await gateway.stop() == 0)
                }
            }
        }
    }

    /// A second download would receive a page.
    @Test func eventsThatShareAPictureCauseOneDownload() async throws {
        let replies = ["/a.png": [PictureServer.reply(), .file(Array("<html>".utf8))]]
        try await run(replies) { gateway, receiver, pictures in
            let line = pictures.payload("/a.png") + Data("\n".utf8)
            let batch = Data((0..<100).flatMap { _ in line })
            for _ in 0..<3 { #expect(try await gateway.post(batch).status == 202) }
            for message in await receiver.next(300) {
                #expect(try media(message).first?["status"] as? String == "stored")
            }
            #expect(try await gateway.post(pictures.payload("/a.png")).status == 202)
            let later = try #require(await receiver.next().first)
            #expect(try media(later).first?["status"] as? String == "stored")
        }
    }

    @Test func deliversEventsWithFailedDownloads() async throws {
        let replies = ["/page": [ScriptedReply.file(Array("<!doctype html>".utf8), ["content-type: image/png"])]]
        try await run(replies) { gateway, receiver, pictures in
            for (path, reason) in [("/page", "html"), ("/none", "not-found")] {
                #expect(try await gateway.post(pictures.payload(path)).status == 202)
                let media = try await next(from: receiver)
                #expect(media["status"] as? String == "failed" && media["reason"] as? String == reason)
            }
        }
    }

    @Test func retriesInterruptedDownloads() async throws {
        let replies: [ScriptedReply] = [
            .file([], status: "500 Internal Server Error"),
            .file([], ["retry-after: 0"], status: "429 Too Many Requests"),
            .file(Array(PictureServer.picture().prefix(20)), length: 500, end: .reset), PictureServer.reply(),
        ]
        try await run(["/a.png": replies], retry: #""retry": { "base": "1ms", "max": "20ms" }"#) {
            gateway, receiver, pictures in
            #expect(try await gateway.post(pictures.payload("/a.png")).status == 202)
            let media = try await next(from: receiver)
            #expect(media["status"] as? String == "stored")
        }
    }

    @Test func aSlowServerDelaysOnlyItsOwnDeliveries() async throws {
        let endless = ScriptedReply(
            head: "HTTP/1.1 200 OK\r\ncontent-type: image/png\r\n\r\n", body: Data([0]), times: 0, gap: 0.05)
        try await run(["/slow": [endless], "/a.png": [PictureServer.reply()]], wait: "15s") {
            gateway, receiver, pictures in
            #expect(try await gateway.post(pictures.payload("/slow")).status == 202)
            #expect(try await gateway.post(pictures.payload("/a.png")).status == 202)
            let messages = await receiver.next(2)
            let media = try messages.map { try self.media($0).first }
            #expect(media.map { $0?["status"] as? String } == ["stored", "skipped"])
            #expect(media.last??["reason"] as? String == "late")
        }
    }

    @Test func restartsDownloadsAfterAKill() async throws {
        try await withTemporaryDirectory { directory in
            let begun = ScriptedReply(
                head: "HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 1000000\r\n\r\n",
                body: Data(PictureServer.picture()), times: 0, gap: 0.05)
            try await PictureServer.run(["/a.png": [begun, PictureServer.reply(7)]], in: directory) { pictures in
                try await ReceivingServer.run { receiver in
                    let first = try await Gateway.start(in: directory, config: pictures.config(to: receiver.url))
                    #expect(try await first.post(pictures.payload("/a.png")).status == 202)
                    _ = try await pictures.peer.next()
                    await first.kill()
                    let second = try await Gateway.start(in: directory)
                    let media = try await next(from: receiver)
                    #expect(media["sha256"] as? String == digest(PictureServer.picture(7)))
                    let unfinished = directory + "/data/media/unfinished"
                    #expect(try FileManager.default.contentsOfDirectory(atPath: unfinished).isEmpty)
                    #expect(await second.stop() == 0)
                }
            }
        }
    }

    /// The server has no reason to answer 304 to a request without validators, so its answer is a failure.
    @Test func aLostFileIsRequestedWithoutValidators() async throws {
        let replies: [ScriptedReply] = [
            .file(PictureServer.picture(), ["etag: \"1\"", "cache-control: max-age=0"]),
            .file([], ["etag: \"1\""], status: "304 Not Modified"),
        ]
        try await run(["/a.png": replies, "/b.png": [PictureServer.reply(1)]]) { gateway, receiver, pictures in
            func send(_ path: String) async throws -> [String: Any] {
                #expect(try await gateway.post(pictures.payload(path)).status == 202)
                return try await next(from: receiver)
            }
            let store = MediaStore(besideOwnerOf: gateway.directory + "/data/media")
            func path(of media: [String: Any]) throws -> String {
                let digest = try #require(media["sha256"] as? String)
                return store.path(of: try #require(store.find(digest)))
            }
            try FileManager.default.removeItem(atPath: try path(of: try await send("/a.png")))
            #expect(try await send("/a.png")["reason"] as? String == "status")
            try Data("x".utf8).write(to: URL(fileURLWithPath: try path(of: try await send("/b.png"))))
            #expect(try await send("/b.png")["reason"] as? String == "storage", "it has another size")
        }
    }

    /// The next line of the log with a text.
    private func logLine(of gateway: Gateway, with text: String) async -> String? {
        for await line in gateway.process.errors.stream where line.contains(text) { return line }
        return nil
    }

    @Test func theLogNamesADirectoryThatCannotHaveFiles() async throws {
        let media = #""directory": "routes.json", "retry": { "attempts": 1 }"#
        try await run(["/a.png": [PictureServer.reply()]], retry: media) { gateway, receiver, pictures in
            let status = try await gateway.post(pictures.payload("/a.png")).status
            let found = try await next(from: receiver)
            #expect(status == 202 && found["reason"] as? String == "storage")
            let line = await logLine(of: gateway, with: "Cannot store media files")
            #expect(line?.contains("directory=routes.json") == true, "\(line ?? "")")
        }
    }

    /// Only gateways that share a database share a directory.
    @Test func aConfiguredDirectoryLosesTheUnfinishedFilesOfACrash() async throws {
        try await withTemporaryDirectory { directory in
            let unfinished = directory + "/files/unfinished"
            try FileManager.default.createDirectory(atPath: unfinished, withIntermediateDirectories: true)
            try Data("hal".utf8).write(to: URL(fileURLWithPath: unfinished + "/left"))
            let config = #"{ "media": { "directory": "files" } }"#
            let gateway = try await Gateway.start(in: directory, config: config)
            while FileManager.default.fileExists(atPath: unfinished + "/left") { await Task.yield() }
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func filesAreListedCheckedAndForgotten() async throws {
        try await run(["/a.png": [PictureServer.reply(1)]]) { gateway, receiver, pictures in
            func signalbox(_ arguments: String...) async throws -> (status: Int32, output: String) {
                let result = try await binary.run(["media"] + arguments, in: gateway.directory)
                return (result.status, result.output)
            }
            #expect(try await gateway.post(pictures.payload("/a.png")).status == 202)
            _ = await receiver.next()
            let name = digest(PictureServer.picture(1))
            let list = try await signalbox("list", "--json")
            #expect(list.status == 0 && list.output.contains(name) && list.output.contains(pictures.origin))
            #expect(try await signalbox("list").output.contains("image/png"))
            #expect(try await signalbox("verify").status == 0)
            let intact = try await signalbox("verify", "--json")
            #expect(intact.output == #"{"intact":1,"missing":[],"damaged":[]}"# + "\n")
            let path = "\(gateway.directory)/data/media/\(name.prefix(2))/\(name.dropFirst(2).prefix(2))/\(name)"
            try Data("damaged".utf8).write(to: URL(fileURLWithPath: path))
            let damaged = try await signalbox("verify", "--json")
            #expect(damaged.status == 1)
            #expect(damaged.output == #"{"intact":0,"missing":[],"damaged":["\#(name)"]}"# + "\n")
            let verified = try await signalbox("verify", "--forget")
            #expect(verified.status == 1 && verified.output.contains("damaged"))
            #expect(try await Reply(gateway.url + "/media/" + name).status == 404)
            #expect(try await signalbox("list", "--json").output.isEmpty)
            #expect(try await gateway.post(pictures.payload("/a.png")).status == 202)
            let media = try await next(from: receiver)
            #expect(media["sha256"] as? String == name, "downloaded again")
            let pruned = try await signalbox("prune", "--bytes", "1B", "--json")
            let bytes = PictureServer.picture(1).count
            #expect(pruned.status == 0 && pruned.output == #"{"removed":1,"bytes":\#(bytes)}"# + "\n")
            #expect(try await signalbox("prune").output.hasPrefix("0 files"))
        }
    }
}
