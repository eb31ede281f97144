import Foundation
import SignalboxEgress
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

/// A gateway that is killed repeatedly while it downloads: every acknowledged event arrives with its picture, and every
/// file has the digest in its name.
@Suite(.timeLimit(.minutes(15))) struct MediaCrashTests {
    private static let pictures = 120
    private static let kills = 50
    private static let seed: UInt64 = 20_261_126

    /// Acknowledged events, and their number.
    private final class Accepted: Sendable {
        private let ids = Mutex<Set<String>>([])
        var all: Set<String> { ids.withLock { $0 } }
        func add(_ id: String) { ids.withLock { _ = $0.insert(id) } }
    }

    /// By event, the digest of its picture. A class because connections and the test share it.
    private final class Arrived: Sendable {
        private let digests = Mutex<[String: String]>([:])
        var all: [String: String] { digests.withLock { $0 } }
        func note(_ message: WebhookReceiver.Message) {
            let event = try? JSONSerialization.jsonObject(with: Data(message.body)) as? [String: Any]
            let media = (event?["data"] as? [String: Any])?["media"] as? [[String: Any]]
            let digest = media?.first?["sha256"] as? String ?? "none"
            digests.withLock { $0[message.id ?? ""] = digest }
        }
    }

    @Test func storesEveryPictureCompletelyDespiteKills() async throws {
        let arrived = Arrived()
        let accepted = Accepted()
        let replies = Dictionary(
            uniqueKeysWithValues: (0..<Self.pictures).map { ("/\($0).png", [PictureServer.reply($0)]) })
        try await withTemporaryDirectory { directory in
            try await PictureServer.run(replies, in: directory) { pictures in
                try await ReceivingServer.run(answer: { message in
                    arrived.note(message)
                    return 204
                }) { receiver in
                    var random = SeededGenerator(seed: Self.seed)
                    let config = pictures.config(to: receiver.url)
                    for _ in 0..<Self.kills {
                        let gateway = try await Gateway.start(in: directory, config: config)
                        // A random number of responses and scheduler turns: any moment of a download.
                        let answers = Int.random(in: 1...60, using: &random)
                        let turns = Int.random(in: 0...3000, using: &random)
                        let first = Int.random(in: 0..<Self.pictures, using: &random)
                        await Self.load(gateway, pictures, from: first, killAfter: (answers, turns), accepted)
                    }
                    let last = try await Gateway.start(in: directory, config: config)
                    while !accepted.all.isSubset(of: arrived.all.keys) { await Task.yield() }
                    #expect(await last.stop() == 0)
                }
            }
            let digests = Set((0..<Self.pictures).map { hexadecimal(sha256(PictureServer.picture($0))) })
            print("\(accepted.all.count) events with pictures, seed \(Self.seed)")
            #expect(!accepted.all.isEmpty)
            #expect(Set(arrived.all.values).isSubset(of: digests), "every one with its picture, seed \(Self.seed)")
            try Self.checkFiles(in: directory + "/data/media")
        }
    }

    private static func load(
        _ gateway: Gateway, _ pictures: PictureServer, from first: Int, killAfter moment: (answers: Int, turns: Int),
        _ accepted: Accepted
    ) async {
        let before = accepted.all.count
        await withTaskGroup { group in
            for side in 0..<3 {
                group.addTask {
                    var number = first + side
                    while let answer = try? await gateway.post(pictures.payload("/\(number % Self.pictures).png")) {
                        if let id = answer.json["id"] as? String { accepted.add(id) }
                        number += 3
                    }
                }
            }
            group.addTask {
                while accepted.all.count < before + moment.answers { await Task.yield() }
                for _ in 0..<moment.turns { await Task.yield() }
                await gateway.kill()
            }
        }
    }

    private static func checkFiles(in folder: String) throws {
        let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        let files = names.filter { $0.split(separator: "/").last?.utf8.count == 64 }
        #expect(!files.isEmpty)
        for file in files {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file))
            #expect(hexadecimal(sha256(Array(bytes))) == String(file.suffix(64)), "seed \(seed)")
        }
        #expect(!names.contains { $0.hasPrefix("unfinished/") }, "what was half written is gone")
    }
}
