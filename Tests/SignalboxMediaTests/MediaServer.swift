import Foundation
import SignalboxEgress
import SignalboxNotification
import SignalboxServerTesting
import SignalboxTesting
import Testing

@testable import SignalboxGateway

/// A server, a media folder and a fetcher for one test.
struct MediaServer {
    let peer: Peer
    let store: MediaStore
    /// The folder of the store.
    let folder: String
    let fetcher: MediaFetcher
    let origin: String

    /// The time of the clock in tests: 2026-11-20 21:29:00 UTC.
    static let now = Date(timeIntervalSince1970: 1_795_210_140)

    func fetch(_ path: String, validators: MediaValidators? = nil) async -> MediaOutcome {
        await fetcher.fetch(origin + path, validators: validators)
    }

    /// Names of unfinished files.
    var leftovers: [String] { names { $0.hasPrefix("unfinished/") } }

    /// Names of stored files.
    var kept: [String] {
        names { !$0.hasPrefix("unfinished") }.compactMap { $0.split(separator: "/").last.map { String($0) } }
            .filter { $0.utf8.count == 64 }
    }

    private func names(where isWanted: (String) -> Bool) -> [String] {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return names.filter(isWanted)
    }

    /// Runs a server on 127.0.0.1, the only allowed address, while `body` runs. `certificate`: a file of
    /// ``TestCertificates``; nil for http.
    static func run(
        _ replies: [String: [ScriptedReply]], certificate: String? = nil, host: String = "127.0.0.1",
        settings: (inout MediaFetcher.Settings) -> Void = { _ in },
        sync: @escaping @Sendable (String) throws(MediaError) -> Void = MediaStore.sync,
        create: @escaping @Sendable (String) throws(MediaError) -> MediaWriter = MediaWriter.init(path:),
        _ body: (MediaServer) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let script = directory + "/script.json"
            try JSONEncoder().encode(replies).write(to: URL(fileURLWithPath: script))
            var chosen = MediaFetcher.Settings(userAgent: "signalbox/test")
            chosen.rules.allowsHTTP = certificate == nil
            var arguments = ["scripted", "--script", script]
            if let certificate {
                let files = try await TestCertificates(in: directory)
                chosen.transport.tls.authorities = files.path("ca.pem")
                arguments += ["--certificate", files.path(certificate), "--key", files.path("server.key")]
            }
            settings(&chosen)
            let folder = directory + "/media"
            let store = MediaStore(directory: folder, sync: sync, create: create)
            let policy = AddressPolicy(allow: [try #require(AddressRange("127.0.0.1/32"))])
            let http = OutboundHTTP(policy: policy)
            defer { http.stop() }
            let fetcher = MediaFetcher(chosen, http: http, store: store, now: { now })
            try await Peer.run(arguments) { peer in
                let scheme = certificate == nil ? "http" : "https"
                try await body(
                    MediaServer(
                        peer: peer, store: store, folder: folder, fetcher: fetcher,
                        origin: "\(scheme)://\(host):\(peer.port)"))
            }
        }
    }
}

extension MediaOutcome {
    /// The failure's code, with an exclamation mark for permanent ones; otherwise the outcome.
    var word: String {
        switch self {
        case .stored: "stored"
        case .unchanged: "unchanged"
        case .failed(let failure): failure.code.rawValue + "!"
        case .interrupted(let failure, _): failure.code.rawValue
        }
    }

    var file: MediaFile? { if case .stored(let file, _, _) = self { file } else { nil } }

    var remarks: [MediaRemark]? { if case .stored(_, _, let remarks) = self { remarks } else { nil } }

    var freshness: MediaFreshness? {
        switch self {
        case .stored(_, let freshness, _), .unchanged(let freshness): freshness
        case .failed, .interrupted: nil
        }
    }
}

/// Beginnings of files after the specifications of their formats.
enum Sample {
    /// A whole file of one transparent pixel; `sha256sum` printed the digest.
    static let png: [UInt8] = Array(
        Data(
            base64Encoded:
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
            ?? Data())
    static let pngDigest = "6b7fa434f92a8b80aab02d9bf1a12e49ffcae424e4013a1c4f68b67e3d2bbcd0"
    static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 0x10] + Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0]
    static let gif: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0, 0x3B]
    static let webp: [UInt8] = Array("RIFF".utf8) + [0x1A, 0, 0, 0] + Array("WEBPVP8L".utf8) + [0x0D, 0, 0, 0, 0x2F]
    static let aiff: [UInt8] = Array("FORM".utf8) + [0, 0, 0, 4] + Array("AIFF".utf8)
    static let wav: [UInt8] = Array("RIFF".utf8) + [4, 0, 0, 0] + Array("WAVE".utf8)
    static let mp3: [UInt8] = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 0, 0xFF, 0xFB, 0x90, 0]
    static let m4a: [UInt8] = [0, 0, 0, 0x14] + Array("ftypM4A ".utf8) + [0, 0, 2, 0] + Array("M4A ".utf8)
    static let mp4: [UInt8] = [0, 0, 0, 0x14] + Array("ftypisom".utf8) + [0, 0, 2, 0] + Array("mp41".utf8)
    static let mpeg: [UInt8] = [0, 0, 1, 0xBA, 0x44, 0, 4, 0, 4, 1]
    static let avi: [UInt8] = Array("RIFF".utf8) + [4, 0, 0, 0] + Array("AVI ".utf8)
    static let html: [UInt8] = Array("<!DOCTYPE html><title>Sign in</title>".utf8)
    static let svg: [UInt8] = Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8)
    static let elf: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0]
}
