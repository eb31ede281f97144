import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Commands that talk to a running gateway.
@Suite(.timeLimit(.minutes(15))) struct ClientCommandTests {
    private static let admin = #""admin": { "auth": { "bearer": ["env:ADMIN"] } },"#

    @Test func healthTellsWhetherTheGatewayIsReady() async throws {
        try await Gateway.run { gateway, _, _ in
            let ready = try await binary.run(["health", "--url", gateway.url])
            #expect(ready.status == 0 && ready.output == "ready\n", "\(ready.errors)")
            let listen = gateway.url.replacing("http://127.0.0.1", with: "0.0.0.0")
            let implied = try await binary.run(["health", "--json"], environment: ["SIGNALBOX_LISTEN": listen])
            #expect(implied.status == 0 && implied.output == "{\"ready\":true,\"url\":\"\(gateway.url)\"}\n")
        }
        let down = try await binary.run(["health", "--url", "http://127.0.0.1:1"])
        #expect(down.status == 1 && down.output.isEmpty)
        #expect(down.errors.hasPrefix("signalbox: Cannot reach http://127.0.0.1:1: "), "\(down.errors)")
        #expect(try await binary.run(["health", "--url", "ftp://x"]).status == 64)
        #expect(try await binary.run(["health"], environment: ["SIGNALBOX_URL": "ftp://x"]).status == 2)
    }

    @Test func sendDeliversAnExampleOfAVendor() async throws {
        try await Gateway.run { gateway, receiver, _ in
            let sent = try await binary.run(["send", "mce", "--url", gateway.url])
            #expect(sent.status == 0, "\(sent.errors)")
            #expect(sent.output.hasSuffix("  mce/alert  -> crm  (routes: everything)\n"), "\(sent.output)")
            let message = try #require(await receiver.next().first)
            #expect(String(decoding: message.body, as: UTF8.self).contains(#""vendor":"mce""#))
            let silent = try await binary.run(
                ["send", "braze", "silent", "--count", "2", "--json"], environment: ["SIGNALBOX_URL": gateway.url])
            let lines = silent.output.split(separator: "\n")
            #expect(lines.count == 2 && lines.allSatisfy { $0.contains(#""kind":"silent""#) }, "\(silent.output)")
        }
    }

    @Test func sendPresentsTheTokenOfASource() async throws {
        let sources = #""sources": { "app": { "auth": { "bearer": ["env:APP"] } } },"#
        try await Gateway.run(config: sources, environment: ["APP": "t1"]) { gateway, _, _ in
            let refused = try await binary.run(["send", "braze", "--url", gateway.url])
            #expect(refused.status == 2 && refused.errors.contains("SIGNALBOX_TOKEN"), "\(refused.errors)")
            let sent = try await binary.run(
                ["send", "braze", "--url", gateway.url], environment: ["SIGNALBOX_TOKEN": "t1"])
            #expect(sent.status == 0, "\(sent.errors)")
            let clear = try await binary.run(["send", "braze", "--url", gateway.url, "--token", "t1"])
            #expect(clear.status == 64 && clear.errors.contains("visible to other users"))
        }
    }

    @Test func sendWithoutAGatewayPrintsAndRefuses() async throws {
        let printed = try await binary.run(["send", "braze", "--dry-run"])
        let explained = try await binary.run(["explain"], input: Data(printed.output.utf8))
        #expect(explained.output.contains("Vendor: braze."), "\(explained.errors)")
        let unknown = try await binary.run(["send", "brase"])
        #expect(unknown.status == 2)
        #expect(unknown.errors == "signalbox: Unknown vendor \"brase\". Did you mean \"braze\"?\n")
        #expect(try await binary.run(["send", "braze", "alrt"]).errors.contains("Did you mean \"alert\"?"))
        #expect(try await binary.run(["send", "--list"]).output.contains("mce "))
        let down = try await binary.run(["send", "braze", "--url", "http://127.0.0.1:1"])
        #expect(down.status == 2 && down.errors.contains("Cannot reach http://127.0.0.1:1"))
    }

    @Test func tailPrintsEventsAndDeliveriesAsTheyHappen() async throws {
        try await Gateway.run { gateway, _, _ in
            let tail = try binary.start(["tail", "--url", gateway.url, "--limit", "2", "--json"])
            try await connected(1, at: gateway)
            #expect(try await binary.run(["send", "mce", "--url", gateway.url]).status == 0)
            #expect(await tail.end() == 0)
            let lines = await tail.output.text().split(separator: "\n")
            #expect(lines.count == 2)
            #expect(lines.contains { $0.hasPrefix(#"{"frame":"event","data":{"id":"#) && $0.contains("mce/alert") })
            #expect(lines.contains { $0.hasPrefix(#"{"frame":"delivery","#) && $0.contains("delivered") })
        }
    }

    @Test func tailSelectsAndStops() async throws {
        try await Gateway.run { gateway, _, _ in
            let tail = try binary.start(
                ["tail", "--url", gateway.url, "--types", "event", "--vendor", "braze", "--limit", "1"])
            try await connected(1, at: gateway)
            for vendor in ["mce", "braze"] {
                #expect(try await binary.run(["send", vendor, "--url", gateway.url]).status == 0)
            }
            #expect(await tail.end() == 0)
            let text = await tail.output.text()
            #expect(text.contains("braze/alert") && !text.contains("mce/alert"), "\(text)")
            let endless = try binary.start(["tail", "--url", gateway.url])
            try await connected(1, at: gateway)
            endless.signal(SIGINT)
            #expect(await endless.end() == 130)
        }
    }

    @Test func tailRefusesAnUnknownVendor() async throws {
        try await Gateway.run { gateway, _, _ in
            let result = try await binary.run(["tail", "--url", gateway.url, "--vendor", "barze"])
            #expect(result.status == 2)
            #expect(result.errors == "signalbox: Unknown vendor \"barze\". Did you mean \"braze\"?\n")
        }
    }

    /// Waits until `count` streams are open.
    private func connected(_ count: Int, at gateway: Gateway) async throws {
        while try await !gateway.metrics().contains("signalbox_console_streams \(count)\n") { await Task.yield() }
    }

    @Test func tailNeedsAGatewayAndAToken() async throws {
        let down = try await binary.run(["tail", "--url", "http://127.0.0.1:1"])
        #expect(down.status == 2 && down.errors.contains("Cannot reach http://127.0.0.1:1"), "\(down.errors)")
        try await Gateway.run(config: Self.admin, environment: ["ADMIN": "operator"]) { gateway, _, _ in
            let refused = try await binary.run(["tail", "--url", gateway.url])
            #expect(refused.status == 2 && refused.errors.contains("SIGNALBOX_ADMIN_TOKEN"), "\(refused.errors)")
        }
    }

    @Test func tailConnectsAgainAfterARestart() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"""
                { "destinations": { "inbox": { "builtin": "inbox" } },
                  "routes": [ { "name": "everything", "match": {}, "to": ["inbox"] } ] }
                """#
            let first = try await Gateway.start(in: directory, config: config)
            let tail = try binary.start(["tail", "--url", first.url, "--types", "event", "--limit", "1"])
            try await connected(1, at: first)
            #expect(await first.stop() == 0)
            let address = first.url.replacing("http://", with: "")
            let second = try await Gateway.start(in: directory, arguments: ["--listen", address])
            try await connected(1, at: second)
            #expect(try await binary.run(["send", "mce", "--url", second.url]).status == 0)
            #expect(await tail.end() == 0)
            #expect(await tail.output.text().contains("mce/alert"))
            #expect(await tail.errors.text().contains("Connection lost; reconnecting."))
            #expect(await second.stop() == 0)
        }
    }

    @Test func listenForwardsVerifiedWebhooksOnly() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(answer: { _ in 201 }) { application in
                let listener = try binary.start(
                    ["listen", "--listen", "127.0.0.1:0", "--forward-to", application.url],
                    environment: ["WEBHOOK_SECRET": Gateway.secret])
                let url = try #require(await listener.listeningURL())
                try Data(Gateway.config(to: url, attempts: 1).utf8).write(
                    to: URL(fileURLWithPath: directory + "/routes.json"))
                let payload = Data(#"{"aps":{"alert":"Hi"}}"#.utf8)
                let result = try await binary.run(
                    ["replay"], input: payload, in: directory, environment: ["WEBHOOK_SECRET": Gateway.secret])
                #expect(result.errors.contains("1 delivered, 0 dead"), "\(result.errors)")
                let message = try #require(await application.next().first)
                #expect(message.signature?.hasPrefix("v1,") == true)
                let other = try await binary.run(
                    ["replay", "--data-dir", "other"], input: payload, in: directory,
                    environment: ["WEBHOOK_SECRET": "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"])
                #expect(other.errors.contains("0 delivered, 1 dead"), "\(other.errors)")
                listener.signal(SIGTERM)
                #expect(await listener.end() == 0)
                let text = await listener.output.text()
                #expect(text.contains("signature verified; forwarded; answering 201"), "\(text)")
                #expect(text.contains("answering 401"), "\(text)")
            }
        }
        let both = try await binary.run(["listen", "--forward-to", "http://127.0.0.1:1", "--status", "200"])
        #expect(both.status == 64)
    }
}
