import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxStoreTesting
import SignalboxTesting
import Testing

/// `replay`, `normalize` and `explain` next to gateways on a PostgreSQL database.
@Suite(.timeLimit(.minutes(15))) struct StoreReplayTests {
    private static let payloads = Data(
        (0..<3).map { #"{"message":{"token":"t\#($0)","notification":{"title":"replayed \#($0)"}}}"# }
            .joined(separator: "\n").utf8)

    @Test func printsTheSameOutcomesAsWithAnEmbeddedQueue() async throws {
        try await StoreDatabase.with { database in
            try await withTemporaryDirectory { directory in
                try await ReceivingServer.run { receiver in
                    try Data(Gateway.config(to: receiver.url).utf8)
                        .write(to: URL(fileURLWithPath: directory + "/routes.json"))
                    let environment = ["WEBHOOK_SECRET": Gateway.secret]
                    let embedded = try await binary.run(
                        ["replay", "--quiet", "--data-dir", "embedded"], input: Self.payloads, in: directory,
                        environment: environment)
                    let shared = try await binary.run(
                        ["replay", "--quiet"], input: Self.payloads, in: directory,
                        environment: environment.merging(["SIGNALBOX_STORE": database.url]) { $1 })
                    #expect(embedded.status == 0 && shared.status == 0, "\(embedded.errors) \(shared.errors)")
                    #expect(shared.errors == embedded.errors)
                    #expect(shared.errors.contains("3 delivered, 0 dead, 0 waiting for their next attempt\n"))
                    #expect(await receiver.next(6).count == 6)
                    #expect(try await database.command("audit", in: directory).status == 0)
                    // Not the queue: its lock only.
                    #expect(!FileManager.default.fileExists(atPath: directory + "/data/queue.db"))
                }
            }
        }
    }

    /// Holds answers to replayed events until it is told to release them.
    private final class Answers: Sendable {
        private let (released, releasing) = AsyncStream.makeStream(of: Void.self)

        func release() { releasing.finish() }

        @Sendable func answer(_ message: WebhookReceiver.Message) async -> Int {
            guard String(decoding: message.body, as: UTF8.self).contains("replayed") else { return 204 }
            for await _ in released {}
            return 204
        }
    }

    @Test func doesNotCountTheDeliveriesOfOtherGateways() async throws {
        let answers = Answers()
        try await StoreDatabase.with { database in
            try await withTemporaryDirectory { directory in
                try await ReceivingServer.run(answer: { await answers.answer($0) }) { receiver in
                    let place = directory + "/node"
                    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
                    let config = Gateway.config(to: receiver.url)
                    let gateway = try await Gateway.start(
                        in: place, config: config, arguments: ["--store", database.url])
                    try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
                    let payload = Self.payloads.split(separator: UInt8(ascii: "\n"))[0]
                    let replay = try binary.start(
                        ["replay", "--json", "--quiet", "--store", database.url], in: directory,
                        environment: ["WEBHOOK_SECRET": Gateway.secret])
                    replay.send(payload)
                    // Arrives, and is held there.
                    _ = await receiver.next(1)
                    for _ in 0..<4 { #expect(try await gateway.post(Data(#"{"aps":{}}"#.utf8)).status == 202) }
                    _ = await receiver.next(4)
                    try await eventually("the outcomes of the gateway") {
                        try database.number("SELECT count(*) FROM ended") == 4
                    }
                    answers.release()
                    #expect(await replay.end() == 0)
                    let errors = await replay.errors.text()
                    #expect(
                        errors.contains(
                            #"{"delivered":1,"dead":0,"expired":0,"waiting":0,"scheduled":0,"others":0}"#), "\(errors)")
                    #expect(await gateway.stop() == 0)
                }
            }
        }
    }

    /// Its deliveries are free once the killed process is declared gone, after some 15 seconds.
    @Test func deliversWhatAKilledReplayHeld() async throws {
        let answers = Answers()
        try await StoreDatabase.with { database in
            try await withTemporaryDirectory { directory in
                try await ReceivingServer.run(answer: { await answers.answer($0) }) { receiver in
                    try Data(Gateway.config(to: receiver.url).utf8)
                        .write(to: URL(fileURLWithPath: directory + "/routes.json"))
                    try Self.payloads.write(to: URL(fileURLWithPath: directory + "/payloads.ndjson"))
                    let arguments = [
                        "replay", "payloads.ndjson", "--resume", "run", "--quiet", "--store", database.url,
                    ]
                    let environment = ["WEBHOOK_SECRET": Gateway.secret]
                    let killed = try binary.start(arguments, in: directory, environment: environment)
                    _ = await receiver.next(3)
                    killed.signal(SIGKILL)
                    _ = await killed.end()
                    answers.release()
                    let resumed = try await binary.run(arguments, in: directory, environment: environment)
                    #expect(resumed.status == 0, "\(resumed.errors)")
                    #expect(resumed.errors.contains("3 delivered, 0 dead, 0 waiting"), "\(resumed.errors)")
                    #expect(try await database.command("audit", in: directory).status == 0)
                }
            }
        }
    }

    // MARK: Tokens

    /// The hash of the device token of the first event in a text.
    private func token(_ text: String) throws -> String {
        let line = try #require(text.split(separator: "\n").first)
        let event = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let target = (event["data"] as? [String: Any])?["target"] as? [String: Any]
        return try #require(target?["token"] as? String, "\(text)")
    }

    @Test func tokensHaveTheHashesOfTheGateways() async throws {
        try await StoreDatabase.with { database in
            try await withTemporaryDirectory { directory in
                try await ReceivingServer.run { receiver in
                    let config = Gateway.config(to: receiver.url)
                    let gateway = try await Gateway.start(
                        in: directory, config: config, arguments: ["--store", database.url])
                    let payload = Data(Self.payloads.split(separator: UInt8(ascii: "\n"))[0])
                    #expect(try await gateway.post(payload).status == 202)
                    let message = try #require(await receiver.next().first)
                    let hash = try token(String(decoding: message.body, as: UTF8.self))
                    #expect(await gateway.stop() == 0)
                    let elsewhere = directory + "/elsewhere"
                    try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)

                    let normalized = try await database.command("normalize", in: elsewhere, input: payload)
                    #expect(normalized.status == 0 && normalized.errors.isEmpty, "\(normalized.errors)")
                    #expect(try token(normalized.output) == hash)
                    let explained = try await database.command("explain --json", in: elsewhere, input: payload)
                    #expect(explained.output.contains(hash), "\(explained.output)")
                    // A selection by the hash finds the payload.
                    let filter = #"{"data":{"target":{"token":["\#(hash)"]}}}"#
                    let decided = try await binary.run(
                        ["replay", "--dry-run", "--filter", filter, "-c", "../routes.json", "--store", database.url],
                        input: Self.payloads, in: elsewhere)
                    #expect(decided.output.split(separator: "\n").count == 1, "\(decided.output) \(decided.errors)")
                    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).isEmpty)
                }
            }
        }
    }

    @Test func warnsThatTheKeyCannotBeRead() async throws {
        try await StoreDatabase.with { database in
            try await withTemporaryDirectory { directory in
                let payload = Self.payloads
                let unreachable = try database.url(port: 1)
                for (url, reason) in [(unreachable, "cannot be reached"), (database.url, "store migrate")] {
                    for command in ["normalize", "explain"] {
                        let input = command == "explain" ? payload.split(separator: UInt8(ascii: "\n"))[0] : payload
                        let result = try await binary.run([command, "--store", url], input: input, in: directory)
                        #expect(result.status == 0 && !result.output.isEmpty, "\(command): \(result.errors)")
                        #expect(result.errors.hasPrefix("signalbox: The gateways' key cannot be read, so hashes"))
                        #expect(result.errors.contains(reason), "\(command): \(result.errors)")
                    }
                }
            }
        }
    }
}
