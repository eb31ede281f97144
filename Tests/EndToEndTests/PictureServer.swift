import Foundation
import SignalboxServerTesting

/// A TLS server with pictures, for one test, and the config section that downloads them.
struct PictureServer {
    let peer: Peer
    let origin: String
    /// The certificate authority, for the config section.
    let media: String

    /// A picture of one pixel, followed by a number, as some software appends its name.
    static func picture(_ number: Int = 0) -> [UInt8] {
        let png =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
        return Array(Data(base64Encoded: png) ?? Data()) + Array("picture \(number)".utf8)
    }

    /// A reply with a picture.
    static func reply(_ number: Int = 0) -> ScriptedReply {
        .file(picture(number), ["content-type: image/png", "cache-control: max-age=600"])
    }

    /// `replies`: by path. Runs for as long as `body` does.
    static func run<R>(
        _ replies: [String: [ScriptedReply]], in directory: String, _ body: (PictureServer) async throws -> R
    ) async throws -> R {
        let script = directory + "/script.json"
        try JSONEncoder().encode(replies).write(to: URL(fileURLWithPath: script))
        let files = try await TestCertificates(in: directory)
        let arguments = [
            "scripted", "--script", script, "--certificate", files.path("good.pem"), "--key", files.path("server.key"),
        ]
        return try await Peer.run(arguments) { peer in
            try await body(
                PictureServer(
                    peer: peer, origin: "https://127.0.0.1:\(peer.port)",
                    media: #""tls": { "ca": "\#(files.path("ca.pem"))" }"#))
        }
    }

    /// A payload with a picture.
    func payload(_ path: String) -> Data {
        Data(
            #"{"aps":{"alert":"x","mutable-content":1},"media-attachment":"\#(origin)\#(path)","notification-action":{"type":"openApp"}}"#
                .utf8)
    }

    /// A config with one webhook that receives every event with its media. `media`: further settings of downloads.
    func config(to url: String, wait: String = "2m", media more: String? = nil) -> String {
        """
        { "gateway": { "name": "test", "publicUrl": "https://gateway.example" },
          "egress": { "allow": ["127.0.0.0/8"] }, "media": { \(media)\(more.map { ", " + $0 } ?? "") },
          "destinations": { "crm": { "url": "\(url)", "secret": "env:WEBHOOK_SECRET",
            "retry": { "attempts": 100, "base": "1ms", "max": "20ms" } } },
          "routes": [ { "name": "everything", "match": {}, "to": ["crm"], "media": "stored", "mediaWait": "\(wait)",
            "include": ["apns"] } ] }
        """
    }
}
