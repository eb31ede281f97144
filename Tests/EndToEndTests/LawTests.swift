import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

/// The guarantees of the gateway, on the built binary.
@Suite(.timeLimit(.minutes(15))) struct LawTests {
    private let payload = Data(#"{"aps":{"alert":{"title":"Hi","body":"There"}}}"#.utf8)

    private func states(in directory: String) async throws -> [String] {
        let list = try await binary.run(["deliveries", "list", "--limit", "500", "--json"], in: directory)
        return try list.output.split(separator: "\n").map { line in
            let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return try #require(json?["state"] as? String)
        }
    }

    private func expectConsistentLedger(in directory: String) async throws {
        let audit = try await binary.run(["audit"], in: directory)
        #expect(audit.status == 0, "\(audit.errors)")
        #expect(audit.output.hasSuffix("Ledger consistent.\n"))
    }

    /// Each accepted event has one delivery, which ends once, with every kind of answer.
    @Test func everyAcceptedDeliveryEndsOnce() async throws {
        try await withTemporaryDirectory { directory in
            let count = Mutex(0)
            let answers = [204, 400, 503]
            try await ReceivingServer.run(answer: { _ in
                count.withLock { count in
                    count += 1
                    return answers[count % 3]
                }
            }) { receiver in
                let gateway = try await Gateway.start(
                    in: directory, config: Gateway.config(to: receiver.url, attempts: 3))
                for _ in 0..<60 { #expect(try await gateway.post(payload).status == 202) }
                while try await states(in: directory).contains("waiting") {}
                #expect(await gateway.stop() == 0)
                #expect(try await states(in: directory).count == 60)
                try await expectConsistentLedger(in: directory)
            }
        }
    }

    /// An event is either accepted or refused with a reason; nothing of a refused one is stored.
    @Test func doesNotStoreRejectedPayloads() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                for body in ["", "{", "7", "\u{FF}", #"{"aps":"#] {
                    let status = try await gateway.post(Data(body.utf8)).status
                    #expect((400..<500).contains(status), "\(body)")
                }
                #expect(await gateway.stop() == 0)
                #expect(try await states(in: directory).isEmpty)
                try await expectConsistentLedger(in: directory)
            }
        }
    }

    /// Every attempt sends the bytes that were stored.
    @Test func sendsTheStoredBytes() async throws {
        try await withTemporaryDirectory { directory in
            let answers = Mutex([204, 500])
            try await ReceivingServer.run(answer: { _ in answers.withLock { $0.popLast() ?? 204 } }) { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                let body = #"{"aps":{"alert":{"title":"\u0000 é \ud83d\ude00 \"","body":""}},"k":[1.50,1e2,-0]}"#
                #expect(try await gateway.post(Data(body.utf8)).status == 202)
                let sent = await receiver.next(2).map(\.body)
                #expect(await gateway.stop() == 0)
                let shown = try await binary.run(["deliveries", "show", "1"], in: directory).output
                let stored = try #require(shown.split(separator: "\n").last)
                #expect(sent == [Array(stored.utf8), Array(stored.utf8)])
            }
        }
    }

    /// While the receiver processes a request, the queue already has a record of the attempt: a gateway that is
    /// killed at that moment leaves a trace.
    @Test func recordsAnAttemptBeforeItIsMade() async throws {
        try await withTemporaryDirectory { directory in
            let (gate, open) = AsyncStream.makeStream(of: Void.self)
            let isFirst = Mutex(true)
            try await ReceivingServer.run(answer: { _ in
                let waits = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if waits { for await _ in gate {} }
                return 204
            }) { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                _ = try await gateway.post(payload)
                _ = await receiver.next()
                await gateway.kill()
                open.finish()
                let again = try await Gateway.start(in: directory)
                _ = await receiver.next()
                #expect(await again.stop() == 0)
                let list = try await binary.run(["deliveries", "show", "1"], in: directory)
                let attempts = list.output.split(separator: "\n").filter { $0.contains(#""attempt":"#) }
                #expect(attempts.count == 2)
                #expect(attempts.first?.contains(#""error":"interrupted""#) == true)
                #expect(attempts.last?.contains(#""status":204"#) == true)
            }
        }
    }

    /// Neither kills nor restarts lose an accepted event.
    @Test func aKilledGatewayLosesNoEvent() async throws {
        let seed: UInt64 = 20_261_121
        print("seed \(seed)")
        try await withTemporaryDirectory { directory in
            let play = CrashPlay(directory: directory, kills: 50, seed: seed, payload: payload)
            try await play.run()
            try await expectConsistentLedger(in: directory)
        }
    }

    /// The same with graceful stops, which let attempts in flight end: none is repeated.
    @Test func aStoppedGatewayLosesAndRepeatsNoEvent() async throws {
        let seed: UInt64 = 20_261_122
        print("seed \(seed)")
        try await withTemporaryDirectory { directory in
            let play = CrashPlay(directory: directory, kills: 20, seed: seed, payload: payload, ending: .stop)
            try await play.run()
            try await expectConsistentLedger(in: directory)
        }
    }

    /// Not a guarantee of its own: invalid input must not end the gateway.
    @Test func noTimeToLiveEndsTheGateway() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                let body =
                    #"{"message":{"topic":"t","notification":{"title":"x"},"android":{"ttl":"9223372036854775807s"}}}"#
                #expect(try await gateway.post(Data(body.utf8)).status == 202)
                _ = await receiver.next()
                #expect(await gateway.stop() == 0)
            }
        }
    }
}
