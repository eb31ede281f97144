import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

/// Purging from a shell while the gateway delivers: two processes on one file.
@Suite(.timeLimit(.minutes(15))) struct PurgeTests {
    private let payload = #"{"aps":{"alert":{"title":"Hi","body":"There"}}}"#

    private func purge(_ arguments: [String], in directory: String) async throws -> (status: Int32, count: Int) {
        let result = try await binary.run(["deliveries", "purge"] + arguments, in: directory)
        let word = result.output.prefix { $0.isNumber }
        return (result.status, try #require(Int(word), "\(result.errors)"))
    }

    private func expectConsistentLedger(in directory: String) async throws {
        let audit = try await binary.run(["audit"], in: directory)
        #expect(audit.output.hasSuffix("Ledger consistent.\n"), "\(audit.output)\(audit.errors)")
    }

    @Test func doesNotPurgeAttemptsInFlight() async throws {
        try await withTemporaryDirectory { directory in
            let first = HeldAnswer()
            try await ReceivingServer.run(answer: first.answer) { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                #expect(try await gateway.post(Data(payload.utf8)).status == 202)
                _ = await receiver.next()
                #expect(try await purge(["--state", "waiting"], in: directory) == (0, 0))
                #expect(try await purge(["1"], in: directory) == (1, 0))
                first.release()
                while try await gateway.get("/v1/deliveries").text.contains(#""state":"waiting""#) {}
                #expect(try await gateway.get("/v1/deliveries/1").text.contains(#""status":204"#))
                try await expectConsistentLedger(in: directory)
                #expect(try await purge(["1"], in: directory) == (0, 1))
                #expect(await gateway.stop() == 0)
                try await expectConsistentLedger(in: directory)
            }
        }
    }

    /// Without a terminal, `--yes` is required to remove what was never delivered.
    @Test func undeliveredDeliveriesAreRemovedOnlyWithConsent() async throws {
        try await Gateway.run { gateway, _, directory in
            #expect(try await gateway.post(Data(), to: "/v1/destinations/crm/pause").status == 200)
            for _ in 0..<3 { #expect(try await gateway.post(Data(payload.utf8)).status == 202) }
            for arguments in [["--state", "waiting"], ["1", "2"]] {
                let refused = try await binary.run(["deliveries", "purge"] + arguments, in: directory)
                #expect(refused.status == 2)
                #expect(refused.output.isEmpty)
                #expect(refused.errors.contains("never delivered, so none was removed. Add --yes"))
            }
            #expect(try await purge(["--state", "dead"], in: directory) == (0, 0), "nobody is asked about others")
            let before = try await binary.run(["audit"], in: directory).output
            #expect(!before.contains("Removed before delivery"))
            #expect(try await purge(["--state", "waiting", "--yes"], in: directory) == (0, 3))
            let audit = try await binary.run(["audit"], in: directory)
            #expect(
                audit.output.contains("Removed before delivery: 3 deliveries to crm, first at 20"), "\(audit.output)")
            try await expectConsistentLedger(in: directory)
        }
    }

    /// Dead letters were never delivered either.
    @Test func deadDeliveriesAreRemovedOnlyWithConsent() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(answer: { _ in 400 }) { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                for _ in 0..<2 { #expect(try await gateway.post(Data(payload.utf8)).status == 202) }
                while try await !gateway.get("/v1/deliveries/2").text.contains(#""state":"dead""#) {}
                #expect(await gateway.stop() == 0)
                for arguments in [["--state", "dead"], ["1"]] {
                    let refused = try await binary.run(["deliveries", "purge"] + arguments, in: directory)
                    #expect(refused.status == 2)
                    #expect(refused.errors.contains("never delivered, so none was removed. Add --yes"))
                }
                #expect(try await purge(["--state", "dead", "--yes"], in: directory) == (0, 2))
                try await expectConsistentLedger(in: directory)
            }
        }
    }

    /// The deliveries wait for the rate of their destination. Only the gateway itself can tell them from attempts in
    /// progress.
    @Test func deliveriesInTheGatewaysMemoryAreReportedToTheCommandAndPurgedOverHTTP() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let config = """
                    { "egress": { "allow": ["127.0.0.0/8"] }, "destinations": { "crm": { "url": "\(receiver.url)",
                      "secret": "env:WEBHOOK_SECRET", "rate": "1/h" } },
                      "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
                    """
                let gateway = try await Gateway.start(in: directory, config: config)
                #expect(try await gateway.post(Data(payload.utf8)).status == 202)
                while try await !gateway.get("/v1/deliveries").text.contains("delivered") {}
                for _ in 0..<3 { #expect(try await gateway.post(Data(payload.utf8)).status == 202) }
                let command = try await binary.run(
                    ["deliveries", "purge", "--state", "waiting"], in: directory)
                #expect(command.output == "0 deliveries removed\n")
                #expect(
                    command.errors == """
                        signalbox: Not removed: 3 deliveries whose attempt has begun, or that a gateway has in memory. \
                        Pause the destination, then repeat. With a single gateway, you can purge over HTTP instead.

                        """)
                let filter = #""filter": {"state": "waiting"}"#
                let preview = try await gateway.post(
                    Data("{\(filter), \"dryRun\": true}".utf8), to: "/v1/deliveries/purge")
                #expect(preview.json["count"] as? Int == 3)
                let token = try #require(preview.json["confirm"] as? String)
                let run = try await gateway.post(
                    Data(#"{\#(filter), "confirm": "\#(token)", "reason": "wrong campaign"}"#.utf8),
                    to: "/v1/deliveries/purge")
                #expect(run.json["removed"] as? Int == 3)
                try await expectConsistentLedger(in: directory)
                #expect(await gateway.stop() == 0)
            }
        }
    }

    /// While the gateway starts with a backlog, an operator purges it.
    @Test func acceptedDeliveriesArriveOrArePurged() async throws {
        try await withTemporaryDirectory { directory in
            let arrived = Mutex<[String?]>([])
            try await ReceivingServer.run(answer: { message in
                arrived.withLock { $0.append(message.id) }
                return 204
            }) { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                let backlog = Data(String(repeating: payload + "\n", count: 200).utf8)
                var purged = 0
                for round in 0..<8 {
                    #expect(try await gateway.post(Data(), to: "/v1/destinations/crm/pause").status == 200)
                    #expect(try await gateway.post(backlog).status == 202)
                    async let removal = purge(["--state", "waiting", "--yes"], in: directory)
                    // The first purge runs before the first attempt.
                    if round == 0 { _ = try await removal }
                    #expect(try await gateway.post(Data(), to: "/v1/destinations/crm/resume").status == 200)
                    #expect(try await gateway.post(backlog).status == 202)
                    purged += try await removal.count
                    try await expectConsistentLedger(in: directory)
                }
                while try await !gateway.get("/v1/destinations").text.contains(#""waiting":0"#) {}
                #expect(await gateway.stop() == 0)
                let ids = arrived.withLock { $0 }
                #expect(purged >= 200)
                #expect(ids.count + purged == 8 * 400)
                #expect(Set(ids).count == ids.count, "none twice")
                try await expectConsistentLedger(in: directory)
                let delivered = try await purge(["--state", "delivered"], in: directory)
                #expect(delivered.count == ids.count)
                try await expectConsistentLedger(in: directory)
            }
        }
    }
}
