import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

/// Decisions and states of offers after kills, on the built binary.
@Suite(.timeLimit(.minutes(15))) struct InAppCrashTests {
    /// Runs each step with a gateway of its own, which is killed after it.
    private func run(_ steps: [@Sendable (Gateway) async throws -> Void]) async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let config = Gateway.config(to: receiver.url, more: #""inapp": { "interval": "0s", "lease": "10m" },"#)
                for step in steps {
                    let gateway = try await Gateway.start(in: directory, config: config)
                    try await step(gateway)
                    await gateway.kill()
                }
                let last = try await Gateway.start(in: directory, config: config)
                #expect(await last.stop() == 0)
                #expect(try await binary.run(["audit"], in: directory).status == 0)
            }
        }
    }

    /// A class because the steps share it.
    private final class Known: Sendable {
        private let last = Mutex<String?>(nil)

        var offer: String? {
            get { last.withLock { $0 } }
            set { last.withLock { $0 = newValue } }
        }
    }

    /// The offer is in the states offered and shown.
    @Test func anOfferSurvivesEveryKill() async throws {
        let known = Known()
        try await run([
            { _ = try await $0.register("spring") },
            { gateway in
                known.offer = try await gateway.buy(id: "t-1").json.offer
                #expect(known.offer != nil)
            },
            { gateway in
                let again = try await gateway.buy(id: "t-1").json.offer
                #expect(again == known.offer, "the same answer")
                #expect(try await gateway.buy(id: "t-2").json.offer == nil, "no second offer")
                #expect(try await gateway.report("shown", of: known.offer).json["state"] as? String == "shown")
            },
            { gateway in
                let again = try await gateway.report("shown", of: known.offer)
                #expect(again.json["state"] as? String == "shown")
                #expect(try await gateway.buy(id: "t-3").json.offer == nil, "the screen is taken")
                #expect(try await gateway.report("dismissed", of: known.offer).json["state"] as? String == "done")
            },
            { gateway in
                let again = try await gateway.report("dismissed", of: known.offer)
                #expect(again.json["state"] as? String == "done")
                #expect(try await gateway.report("later", of: known.offer).status == 409)
                #expect(try await gateway.buy(id: "t-4").json.offer != nil)
            },
        ])
    }

    /// The message is in the states triggered and waiting.
    @Test func waitingMessagesSurviveEveryKill() async throws {
        let known = Known()
        try await run([
            { gateway in
                try await gateway.register("later", #","delay":"1h""#)
                let answer = try await gateway.buy()
                #expect(answer.json.offer == nil && answer.json["nextCheck"] as? String != nil)
                known.offer = answer.json["nextCheck"] as? String
            },
            { gateway in
                let answer = try await gateway.buy(more: #","explain":true"#)
                #expect(answer.json["nextCheck"] as? String == known.offer, "the due time is kept")
                let checks = (answer.json["candidates"] as? [[String: Any]])?.first?["checks"] as? [[String: Any]]
                #expect(checks?.contains { $0["code"] as? String == "already-pending" } == true)
                _ = try await gateway.request("DELETE", "/v1/inapp/messages/later")
                try await gateway.register("spring")
            },
            { gateway in
                known.offer = try await gateway.buy().json.offer
                #expect(try await gateway.report("later", of: known.offer).json["state"] as? String == "waiting")
            },
            { gateway in
                let popped = try await gateway.poll().json.offer
                #expect(popped == known.offer, "the same offer, from the stack")
            },
            { gateway in
                let shown = try await gateway.report("shown", of: known.offer)
                #expect(shown.json["state"] as? String == "shown")
            },
        ])
    }

    /// Three kills here; `make kills-inapp` makes sixty.
    @Test func noImpressionIsLostOrDoubled() async throws {
        let kills = ProcessInfo.processInfo.environment["SIGNALBOX_INAPP_KILLS"].flatMap { Int($0) } ?? 3
        try await withTemporaryDirectory { directory in
            try await InAppKillPlay(directory: directory, kills: kills, seed: 20_261_122).run()
        }
    }
}
