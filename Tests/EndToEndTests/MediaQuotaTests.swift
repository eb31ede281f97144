import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// More pictures than the quota permits, on the built binary.
@Suite(.timeLimit(.minutes(15))) struct MediaQuotaTests {
    private static let size = 100_000

    /// A picture of a round number of bytes.
    private func reply(_ number: Int) -> ScriptedReply {
        let picture = PictureServer.picture(number)
        return .file(picture + [UInt8](repeating: 7, count: Self.size - picture.count), ["content-type: image/png"])
    }

    private func bytes(of gateway: Gateway) async throws -> Int {
        let page = String(decoding: try await Reply(gateway.url + "/metrics").body, as: UTF8.self)
        let line = try #require(page.split(separator: "\n").first { $0.hasPrefix("signalbox_media_bytes ") })
        return try #require(line.split(separator: " ").last.flatMap { Int($0) })
    }

    /// Two megabytes for a quota of one. A file is in use until the deliveries of its event are settled: that of the
    /// last event, and that of the previous event.
    @Test func aFloodOfPicturesStaysWithinTheLimit() async throws {
        try await withTemporaryDirectory { directory in
            let replies = Dictionary(uniqueKeysWithValues: (0..<20).map { ("/\($0).png", [reply($0)]) })
            try await PictureServer.run(replies, in: directory) { pictures in
                try await ReceivingServer.run { receiver in
                    let gateway = try await Gateway.start(
                        in: directory,
                        config: pictures.config(to: receiver.url, media: #""retention": { "bytes": 1000000 }"#))
                    var most = 0
                    for number in 0..<20 {
                        #expect(try await gateway.post(pictures.payload("/\(number).png")).status == 202)
                        let message = try #require(await receiver.next().first)
                        #expect(String(decoding: message.body, as: UTF8.self).contains(#""status":"stored""#))
                        most = max(most, try await bytes(of: gateway))
                    }
                    #expect(most > 800_000 && most <= 1_000_000 + 2 * Self.size, "\(most)")
                    #expect(await gateway.stop() == 0)
                }
            }
        }
    }
}
