import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// The active config, as the built binary reports it to operators.
@Suite(.timeLimit(.minutes(15))) struct ActiveConfigTests {
    private struct Standing: Decodable {
        struct Refusal: Decodable {
            let at: String
            let problems: [String]
        }
        struct Answer: Decodable { let config: Standing }

        let digest: String
        let since: String
        let refused: Refusal?

        init(of gateway: Gateway) async throws {
            let answer = try await gateway.get("/v1/routes", keeping: 65536)
            #expect(answer.status == 200)
            self = try JSONDecoder().decode(Answer.self, from: Data(answer.text.utf8)).config
        }
    }

    /// The digest that sha256sum makes of the concatenated files.
    private static func digest(of files: [String], in directory: String) async throws -> String {
        let command = ["sh", "-c", "cat \(files.joined(separator: " ")) | sha256sum"]
        return String(try await binary.run([], in: directory, behind: command).output.prefix(64))
    }

    private static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    /// The log lines up to and including one with this text.
    private static func log(of gateway: Gateway, until words: String) async -> [String] {
        var lines: [String] = []
        for await line in gateway.process.errors.stream {
            lines.append(line)
            if line.contains(words) { break }
        }
        return lines
    }

    private static let inForce = "Config reloaded."
    private static let refused = "Config rejected; the previous one stays active."

    /// In milliseconds.
    private static func figure(_ name: String, of gateway: Gateway) async throws -> Int? {
        let page = try await gateway.metrics()
        return page.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap { line in
            Double(line.dropFirst(name.count + 1)).map { Int(($0 * 1000).rounded()) }
        }
    }

    /// Since 1970.
    private static func milliseconds(_ text: String) throws -> Int {
        let date = try Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        return Int((date.timeIntervalSince1970 * 1000).rounded())
    }

    // MARK: The config in force

    @Test func theDigestCoversTheConcatenatedFiles() async throws {
        try await Gateway.run { gateway, _, directory in
            let first = try await Standing(of: gateway)
            #expect(first.digest == (try await Self.digest(of: ["routes.json"], in: directory)))
            #expect(first.refused == nil)
            try FileManager.default.createDirectory(
                atPath: directory + "/routes.d", withIntermediateDirectories: true)
            try Self.write(#"{ "routes": [] }"#, to: directory + "/routes.d/b.json")
            try Self.write(#"{ "sources": {} }"#, to: directory + "/routes.d/a.json")
            gateway.process.signal(SIGHUP)
            _ = await Self.log(of: gateway, until: Self.inForce)
            let second = try await Standing(of: gateway)
            let files = ["routes.json", "routes.d/a.json", "routes.d/b.json"]
            #expect(second.digest == (try await Self.digest(of: files, in: directory)))
            #expect(try Self.milliseconds(second.since) >= Self.milliseconds(first.since))
        }
    }

    @Test func reportsARejectedConfigUntilTheNextGoodOne() async throws {
        try await Gateway.run { gateway, receiver, directory in
            let good = try await Standing(of: gateway)
            #expect(try await Self.figure("signalbox_config_last_reload_successful", of: gateway) == 1000)
            try Self.write(
                #"{ "routes": [ { "name": "a", "match": {}, "to": ["nobody"] } ] }"#, to: directory + "/routes.json")
            gateway.process.signal(SIGHUP)
            _ = await Self.log(of: gateway, until: Self.refused)
            let bad = try await Standing(of: gateway)
            #expect(bad.digest == good.digest && bad.since == good.since)
            #expect(
                bad.refused?.problems == [
                    #"routes.json:1:50: error: /routes/0/to/0: there is no destination "…"; add one under "destinations""#
                ])
            #expect(try Self.milliseconds(try #require(bad.refused).at) >= Self.milliseconds(bad.since))
            #expect(try await Self.figure("signalbox_config_last_reload_successful", of: gateway) == 0)
            let name = "signalbox_config_last_reload_success_timestamp_seconds"
            #expect(try await Self.figure(name, of: gateway) == Self.milliseconds(good.since))
            try Self.write(Gateway.config(to: receiver.url + "/new"), to: directory + "/routes.json")
            gateway.process.signal(SIGHUP)
            _ = await Self.log(of: gateway, until: Self.inForce)
            let next = try await Standing(of: gateway)
            #expect(next.refused == nil && next.digest != good.digest)
            #expect(try await Self.figure("signalbox_config_last_reload_successful", of: gateway) == 1000)
            // The file watch may reload the file once more after the signal.
            let shown = try #require(try await Self.figure(name, of: gateway))
            #expect(try shown >= Self.milliseconds(next.since))
        }
    }

    /// With and without quotes, and next to another error on its line.
    @Test(arguments: [
        #"{ "destinations": { "crm": { "url": "https://a.example/", "secret": "whsec_pastedByMistake" } } }"#,
        #"{ "destinations": { "crm": { "url": "https://a.example/", "secret": whsec_pastedByMistake } } }"#,
        #"{ "destinations": { "crm": { "url": "https://a.example/", "secret": "env:X", "whsec_pastedByMistake } } }"#,
        #"{ "admin": { "auth": { "bearer": ["pastedByMistake"] } }, "unheard-of": 1 }"#,
        #"{ "admin": { "auth": { "bearer": [pastedByMistake] } } }"#,
        #"{ "admin": { "auth": { "bearer": [0xpastedByMistake] } } }"#,
    ])
    func doesNotPrintASecretInTheConfig(_ config: String) async throws {
        try await Gateway.run { gateway, _, directory in
            try Self.write(config, to: directory + "/routes.json")
            gateway.process.signal(SIGHUP)
            let log = await Self.log(of: gateway, until: Self.refused)
            let problems = try #require(try await Standing(of: gateway).refused).problems
            #expect(!problems.isEmpty)
            #expect(problems.allSatisfy { problem in log.contains { $0.contains(problem) } }, "\(log)")
            #expect(!(problems + log).contains { $0.contains("asted") }, "\(problems) \(log)")
        }
    }

    @Test func reportsAMissingSecretByItsName() async throws {
        try await Gateway.run { gateway, _, directory in
            let config = #"{ "destinations": { "crm": { "url": "https://a.example/", "secret": "env:NOT_THERE" } } }"#
            try Self.write(config, to: directory + "/routes.json")
            gateway.process.signal(SIGHUP)
            _ = await Self.log(of: gateway, until: Self.refused)
            #expect(
                try await Standing(of: gateway).refused?.problems == [
                    "routes.json:1:69: /destinations/crm/secret: the environment variable NOT_THERE is not set; set it to the value of the option."
                ])
        }
    }

    // MARK: Warnings about the config

    private static func oddConfig(to url: String, unused: String) -> String {
        """
        { "egress": { "allow": ["127.0.0.0/8"] },
          "destinations": {
            "crm": { "url": "\(url)", "secret": "env:WEBHOOK_SECRET" },
            "\(unused)": { "url": "\(url)/hidden-in-a-path", "secret": "env:WEBHOOK_SECRET" } },
          "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
        """
    }

    private static func warning(of name: String) -> String {
        #"problem="routes.json:4:5: warning: /destinations/\#(name): no route delivers to \"\#(name)\"; "#
            + #"name it under \"to\" of a route, or remove it""#
    }

    @Test func logsWarningsAtTheStartAndAfterChanges() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let path = directory + "/routes.json"
                try Self.write(Self.oddConfig(to: receiver.url, unused: "spare"), to: path)
                let process = try binary.start(
                    ["serve", "--listen", "127.0.0.1:0"], in: directory,
                    environment: ["WEBHOOK_SECRET": Gateway.secret])
                let gateway = Gateway(directory: directory, process: process, url: "")
                let start = await Self.log(of: gateway, until: "destinations: ")
                #expect(start.count { $0.contains("warning") } == 1, "\(start)")
                #expect(start.contains { $0.contains(Self.warning(of: "spare")) }, "\(start)")
                // Another file with the same bytes: no warning is logged again, not even after the reload.
                try Self.write(Self.oddConfig(to: receiver.url, unused: "spare"), to: path)
                process.signal(SIGHUP)
                let same = await Self.log(of: gateway, until: Self.inForce)
                try Self.write(Self.oddConfig(to: receiver.url, unused: "other"), to: path)
                process.signal(SIGHUP)
                let changed = await Self.log(of: gateway, until: Self.warning(of: "other"))
                #expect(!(same + changed).contains { $0.contains(Self.warning(of: "spare")) }, "\(same + changed)")
                #expect(!(start + same + changed).contains { $0.contains("hidden-in-a-path") })
                #expect(await gateway.stop() == 0)
            }
        }
    }
}
