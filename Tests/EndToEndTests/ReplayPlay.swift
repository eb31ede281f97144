import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

/// A replay that is killed and resumed repeatedly, and the events that the receiver saw.
struct ReplayPlay: Sendable {
    let directory: String
    let count: Int
    let kills: Int
    let seed: UInt64
    /// Kills the replay by its own progress, not by arrived events: a replay into a gateway may end long before they
    /// arrive.
    var goesByItself = false

    /// The ids that arrived, by payload.
    private final class Arrivals: Sendable {
        private let state = Mutex((messages: 0, ids: [Int: Set<String>]()))

        func note(_ message: WebhookReceiver.Message) {
            // The title is the payload's number.
            let body = String(decoding: message.body, as: UTF8.self)
            let number = body.range(of: #""body":"n"#).flatMap { range in
                Int(body[range.upperBound...].prefix { $0.isNumber })
            }
            state.withLock { state in
                state.messages += 1
                state.ids[number ?? -1, default: []].insert(message.id ?? "none")
            }
        }
        var messages: Int { state.withLock { $0.messages } }
        var payloads: Int { state.withLock { $0.ids.count } }
        var ids: [Int: Set<String>] { state.withLock { $0.ids } }
    }

    /// True once a process has ended. A class because the waiting task and the killing task share it.
    private final class Ended: Sendable {
        private let state = Mutex(false)
        var happened: Bool { state.withLock { $0 } }
        func note() { state.withLock { $0 = true } }
    }

    /// Writes the payloads into three files of different layouts, one of them compressed; each has its number.
    func writeInputs() async throws -> [String] {
        let paths = ["a.ndjson", "b.json", "c.ndjson"].map { directory + "/" + $0 }
        let parts = [0..<count / 2, count / 2..<count * 3 / 4, count * 3 / 4..<count]
        for (path, part) in zip(paths, parts) {
            var text = path.hasSuffix(".json") ? "[\n" : ""
            for number in part {
                text += #"{"aps":{"alert":{"title":"x","body":"n\#(number)"}},"ab":{"c":"NjVmM\#(number % 7)9jbXA="}}"#
                text += path.hasSuffix(".json") && number + 1 < part.upperBound ? ",\n" : "\n"
            }
            try Data((text + (path.hasSuffix(".json") ? "]\n" : "")).utf8).write(to: URL(fileURLWithPath: path))
        }
        let gzip = Process()
        gzip.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        gzip.arguments = ["gzip", paths[2]]
        try gzip.run()
        gzip.waitUntilExit()
        return [paths[0], paths[1], paths[2] + ".gz"]
    }

    /// Runs the command that `arguments` makes of the receiver's address, kills it at random instants, lets it end, and
    /// compares. `around` runs the other processes meanwhile.
    func run(
        around:
            @escaping @Sendable (
                _ receiver: String, _ body: @Sendable ([String]) async throws -> Void
            ) async throws -> Void
    ) async throws {
        let arrivals = Arrivals()
        try await ReceivingServer.run(answer: { message in
            arrivals.note(message)
            return 204
        }) { receiver in
            let inputs = try await writeInputs()
            try await around(receiver.url) { arguments in
                let command = ["replay", "--quiet", "--resume", directory + "/resume.json"] + arguments + inputs
                let killed = try await killAgainAndAgain(command, arrivals)
                let result = try await binary.run(
                    command, in: directory, environment: ["WEBHOOK_SECRET": Gateway.secret])
                #expect(result.status == 0, "seed \(seed): \(result.errors)")
                #expect(result.errors.contains("\(count) events, 0 rejected"), "seed \(seed): \(result.errors)")
                while arrivals.payloads < count { await Task.yield() }
                print("\(killed) kills of a run under way, \(arrivals.messages - count) repeats")
                #expect(killed > 0, "seed \(seed)")
            }
            let ids = arrivals.ids
            #expect(Set(ids.keys) == Set(0..<count), "seed \(seed)")
            #expect(ids.values.allSatisfy { $0.count == 1 }, "a payload has one id, seed \(seed)")
            #expect(Set(ids.values.flatMap(\.self)).count == count, "an id has one payload, seed \(seed)")
        }
    }

    /// The number of settled payloads in the resume file.
    private var taken: Int {
        guard let notes = FileManager.default.contents(atPath: directory + "/resume.json"),
            let state = try? JSONSerialization.jsonObject(with: notes) as? [String: Any]
        else { return 0 }
        return state["taken"] as? Int ?? 0
    }

    /// Returns how many runs were killed before they ended.
    private func killAgainAndAgain(_ command: [String], _ arrivals: Arrivals) async throws -> Int {
        var random = SeededGenerator(seed: seed)
        var killed = 0
        for _ in 0..<kills {
            let process = try binary.start(
                command, in: directory, environment: ["WEBHOOK_SECRET": Gateway.secret])
            // A random number of payloads and scheduler turns: any moment of a run.
            func progress() -> Int { goesByItself ? taken : arrivals.messages }
            let goal = progress() + Int.random(in: 0...max(1, count / kills / 2), using: &random)
            let turns = Int.random(in: 0...20_000, using: &random)
            let ended = Ended()
            let status = await withTaskGroup(of: Int32.self) { group in
                group.addTask {
                    let status = await process.end()
                    ended.note()
                    return status
                }
                while progress() < goal, !ended.happened { await Task.yield() }
                for _ in 0..<turns { await Task.yield() }
                process.signal(SIGKILL)
                return await group.next() ?? -1
            }
            if status == 128 + SIGKILL { killed += 1 }
        }
        return killed
    }
}
