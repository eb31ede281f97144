import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

/// A gateway under load that is killed or stopped repeatedly, and the deliveries that its receiver saw.
struct CrashPlay: Sendable {
    let directory: String
    let kills: Int
    let seed: UInt64
    let payload: Data
    var ending = Ending.kill

    enum Ending { case kill, stop }

    /// The deliveries that arrived.
    private final class Arrivals: Sendable {
        private struct State {
            /// The runs of the gateway that sent each event.
            var lives: [String: [String]] = [:]
            /// The ids of each body.
            var ids: [[UInt8]: Set<String>] = [:]
        }
        private let state = Mutex(State())

        /// Each run sends to its own address.
        func note(_ message: WebhookReceiver.Message) {
            let id = message.id ?? "none"
            state.withLock { state in
                state.lives[id, default: []].append(message.path)
                state.ids[message.body, default: []].insert(id)
            }
        }
        func has(_ ids: Set<String>) -> Bool { state.withLock { ids.isSubset(of: $0.lives.keys) } }
        var lives: [String: [String]] { state.withLock { $0.lives } }
        var ids: [[UInt8]: Set<String>] { state.withLock { $0.ids } }
    }

    /// The number of answered requests. A class because the senders and the killer share it.
    private final class Taken: Sendable {
        private let number = Mutex(0)
        var count: Int { number.withLock { $0 } }
        func addOne() { number.withLock { $0 += 1 } }
    }

    func run() async throws {
        let arrivals = Arrivals()
        try await ReceivingServer.run(answer: { message in
            arrivals.note(message)
            // So that most moments have an attempt in flight.
            for _ in 0..<200 { await Task.yield() }
            return 204
        }) { receiver in
            var random = SeededGenerator(seed: seed)
            func start(_ life: Int) async throws -> Gateway {
                try await Gateway.start(
                    in: directory,
                    config: Gateway.config(
                        // On a busy machine, an attempt that times out would cause a repeat without a kill.
                        to: "\(receiver.url)/\(life)", attempts: 100, timeout: "120s"))
            }
            var accepted: Set<String> = []
            for life in 0..<kills {
                let gateway = try await start(life)
                // A random number of responses and scheduler turns: any moment of a request.
                let answers = Int.random(in: 0...30, using: &random)
                let turns = Int.random(in: 0...3000, using: &random)
                accepted.formUnion(await load(gateway, killAfter: answers, turns: turns))
            }
            let last = try await start(kills)
            while !arrivals.has(accepted) { await Task.yield() }
            #expect(await last.stop() == 0)
            #expect(!accepted.isEmpty)
            #expect(Set(arrivals.ids.values.map(\.count)) == [1], "one body has one id, seed \(seed)")
            print("\(accepted.count) events, \(arrivals.lives.values.reduce(0) { $0 + $1.count - 1 }) repeats")
            for (id, lives) in arrivals.lives {
                // At most once in each run, so that each repeat needs a run that ended during an attempt.
                #expect(Set(lives).count == lives.count, "\(id) twice in one life, seed \(seed)")
                if ending == .stop { #expect(lives.count == 1, "\(id) twice, seed \(seed)") }
            }
        }
    }

    private func end(_ gateway: Gateway) async {
        switch ending {
        case .kill: await gateway.kill()
        case .stop:
            gateway.process.signal(SIGTERM)
            #expect(await gateway.process.end() == 0, "seed \(seed)")
        }
    }

    /// Posts from several tasks until the gateway is killed; returns the ids of acknowledged events.
    private func load(_ gateway: Gateway, killAfter answers: Int, turns: Int) async -> Set<String> {
        let taken = Taken()
        return await withTaskGroup(of: Set<String>.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var ids: Set<String> = []
                    while let (status, receipt) = try? await gateway.post(payload) {
                        #expect(status == 202)
                        if let id = receipt["id"] as? String { ids.insert(id) }
                        taken.addOne()
                    }
                    return ids
                }
            }
            group.addTask {
                while taken.count < answers { await Task.yield() }
                for _ in 0..<turns { await Task.yield() }
                await end(gateway)
                return []
            }
            return await group.reduce(into: []) { $0.formUnion($1) }
        }
    }
}
