import Foundation
import SignalboxGateway
import SignalboxJSON
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(15))) struct WebhookTests {
    private let payload = Data(
        #"{"aps":{"alert":{"title":"Hi","body":"There"}},"issuer":"Synerise","message-type":"static-content","content-type":"simple-push","content":{"notification":{}}}"#
            .utf8)

    @Test func aPayloadArrivesAsASignedEvent() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                let (status, receipt) = try await gateway.post(payload)
                #expect(status == 202)
                #expect(receipt["vendor"] as? String == "synerise")
                #expect(receipt["kind"] as? String == "alert")
                #expect(receipt["routes"] as? [String] == ["everything"])

                let message = try #require(await receiver.next().first)
                EventRecorder.record(message.body)
                #expect(message.id == receipt["id"] as? String)
                try WebhookKeys([WebhookKey(Gateway.secret)]).verify(
                    id: message.id, timestamp: message.timestamp, signatures: message.signature, body: message.body,
                    now: Date())
                let event = try #require(
                    try JSONSerialization.jsonObject(with: Data(message.body)) as? [String: Any])
                #expect(event["specversion"] as? String == "1.0")
                #expect(event["source"] as? String == "/signalbox/test/default")
                #expect(event["subject"] as? String == "synerise/alert")
                #expect(await gateway.stop() == 0)
            }
        }
    }

    @Test func retriesUntilItIsAccepted() async throws {
        try await withTemporaryDirectory { directory in
            let answers = Mutex([503, 429, 500])
            try await ReceivingServer.run(answer: { _ in answers.withLock { $0.popLast() } ?? 204 }) { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                _ = try await gateway.post(payload)
                let messages = await receiver.next(4)
                #expect(Set(messages.map(\.id)).count == 1)
                #expect(Set(messages.map(\.body)).count == 1)
                #expect(messages.map { $0.header("signalbox-attempt") } == ["1", "2", "3", "4"])
                #expect(await gateway.stop() == 0)
            }
        }
    }

    @Test func deadLettersAreListedAndRetriedWhileTheGatewayRuns() async throws {
        try await withTemporaryDirectory { directory in
            let isUp = Mutex(false)
            try await ReceivingServer.run(answer: { _ in isUp.withLock { $0 } ? 204 : 400 }) { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                _ = try await gateway.post(payload)
                _ = await receiver.next()
                let dead = try await waitForDead(in: directory)
                #expect(dead.contains("answered 400"))

                isUp.withLock { $0 = true }
                let retried = try await binary.run(["deliveries", "retry", "--dead"], in: directory)
                #expect(retried.output == "1 delivery requeued\n")
                _ = await receiver.next()
                #expect(await gateway.stop() == 0)
                let left = try await binary.run(["deliveries", "list", "--state", "delivered"], in: directory)
                #expect(left.output.contains("delivered"))
            }
        }
    }

    /// Polls until the outcome is recorded, shortly after the response. The test's time limit ends it.
    private func waitForDead(in directory: String) async throws -> String {
        while true {
            let list = try await binary.run(["deliveries", "list", "--state", "dead", "--json"], in: directory)
            if !list.output.isEmpty { return list.output }
        }
    }

    @Test func acceptedEventsSurviveKill9() async throws {
        try await withTemporaryDirectory { directory in
            let isUp = Mutex(false)
            try await ReceivingServer.run(answer: { _ in isUp.withLock { $0 } ? 204 : 503 }) { receiver in
                let config = Gateway.config(to: receiver.url, attempts: 100)
                let gateway = try await Gateway.start(in: directory, config: config)
                var accepted: Set<String> = []
                for _ in 0..<25 {
                    let (status, receipt) = try await gateway.post(payload)
                    #expect(status == 202)
                    accepted.insert(try #require(receipt["id"] as? String))
                }
                await gateway.kill()

                isUp.withLock { $0 = true }
                let again = try await Gateway.start(in: directory)
                var delivered: Set<String> = []
                // The first gateway's failed attempts come first. Every delivery arrives once the second gateway runs.
                while !accepted.isSubset(of: delivered) {
                    for message in await receiver.next() { delivered.insert(try #require(message.id)) }
                }
                #expect(delivered == accepted)
                #expect(await again.stop() == 0)
                let waiting = try await binary.run(
                    ["deliveries", "list", "--state", "waiting", "--json"], in: directory)
                #expect(waiting.output.isEmpty)
            }
        }
    }

    @Test func aStopDeliversDueEvents() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                let batch = Data((0..<30).map { #"{"aps":{"alert":"\#($0)"}}"# }.joined(separator: "\n").utf8)
                #expect(try await gateway.post(batch).status == 202)
                #expect(await gateway.stop() == 0)
                let ids = await receiver.next(30).map(\.id)
                #expect(Set(ids).count == 30)
            }
        }
    }

    @Test func controlCEndsWith130() async throws {
        try await withTemporaryDirectory { directory in
            let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: "http://127.0.0.1:9/"))
            gateway.process.signal(SIGINT)
            #expect(await gateway.process.end() == 130)
        }
    }

    @Test func fansOutAndFallsBack() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let config = """
                    { "egress": { "allow": ["127.0.0.0/8"] },
                      "destinations": {
                        "a": { "url": "\(receiver.url)/a", "secret": "env:WEBHOOK_SECRET" },
                        "b": { "url": "\(receiver.url)/b", "secret": "env:WEBHOOK_SECRET" },
                        "rest": { "url": "\(receiver.url)/rest", "secret": "env:WEBHOOK_SECRET" } },
                      "routes": [
                        { "name": "synerise", "match": { "data": { "vendor": ["synerise"] } }, "to": ["a", "b"] },
                        { "name": "again", "match": { "subject": [{ "prefix": "synerise/" }] }, "to": ["b"] } ],
                      "fallback": ["rest"] }
                    """
                let gateway = try await Gateway.start(in: directory, config: config)
                #expect(try await gateway.post(payload).json["routes"] as? [String] == ["synerise", "again"])
                #expect(Set(await receiver.next(2).map(\.path)) == ["/hooks/a", "/hooks/b"])
                let (_, other) = try await gateway.post(Data(#"{"aps":{"alert":"x"}}"#.utf8))
                #expect(other["routes"] as? [String] == [])
                #expect(await receiver.next().map(\.path) == ["/hooks/rest"])
                #expect(await gateway.stop() == 0)
            }
        }
    }

    @Test func tokensNeverLeaveInClear() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                let body = Data(#"{"message":{"token":"a-device-token","notification":{"title":"x"}}}"#.utf8)
                _ = try await gateway.post(body)
                _ = try await gateway.post(body)
                let texts = await receiver.next(2).map { String(decoding: $0.body, as: UTF8.self) }
                #expect(texts.allSatisfy { !$0.contains("a-device-token") && $0.contains("sha256:") })
                #expect(await gateway.stop() == 0)
            }
        }
    }

    @Test func listenVerifiesWebhooksOfTheGateway() async throws {
        try await withTemporaryDirectory { directory in
            let listener = try binary.start(
                ["listen", "--listen", "127.0.0.1:0"], environment: ["WEBHOOK_SECRET": Gateway.secret])
            let url = try #require(await listener.listeningURL())
            let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: url))
            _ = try await gateway.post(payload)
            var shown: [String] = []
            for await line in listener.output.stream {
                shown.append(line)
                if line.contains("answering") { break }
            }
            #expect(shown.first?.hasPrefix("synerise/alert  Hi") == true)
            #expect(shown.last?.contains("signature verified; answering 204") == true)
            #expect(await gateway.stop() == 0)
            listener.signal(SIGTERM)
            #expect(await listener.end() == 0)
        }
    }
}
