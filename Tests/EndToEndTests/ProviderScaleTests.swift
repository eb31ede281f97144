import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Provider endpoints with many pushes or connections, or over minutes. `make test` runs small numbers of them,
/// `make providers-long` the full ones.
@Suite(.timeLimit(.minutes(15))) struct ProviderScaleTests {
    private static func size(_ small: Int, _ full: Int) -> Int { isLong ? full : small }

    /// A gateway whose port stays the same over restarts.
    private struct Setting {
        let directory: String
        let port: Int

        /// The config with an inbox for every event.
        static func config(port: Int) -> String {
            """
            { "gateway": { "name": "test", "listen": { "apns": "127.0.0.1:\(port)",
                "tls": { "certificate": "file:certs/server.crt", "key": "file:certs/server.key" } } },
              "sources": { "mobile": { "apns": { "keys": [
                { "team": "TEAM000001", "key": "KEY0000001", "publicKey": "file:key.pem" } ],
                "secrets": ["env:PATH_SECRET"] } } },
              "destinations": { "inbox": { "builtin": "inbox" } },
              "routes": [ { "name": "everything", "match": {}, "to": ["inbox"] } ] }
            """
        }

        func start() async throws -> Gateway {
            let gateway = try await Gateway.start(
                in: directory, config: Self.config(port: port), environment: ["PATH_SECRET": "secret"])
            _ = await gateway.process.providerURL()
            return gateway
        }

        /// Lets the system choose the port, and stops the gateway.
        func firstStart() async throws -> Int {
            let gateway = try await Gateway.start(
                in: directory, config: Self.config(port: port), environment: ["PATH_SECRET": "secret"])
            let url = try #require(await gateway.process.providerURL())
            #expect(await gateway.stop() == 0)
            return try #require(url.split(separator: ":").last.flatMap { Int($0) })
        }

        /// The number of stored events.
        func events() async throws -> Int {
            let audit = try await binary.run(["audit"], in: directory)
            #expect(audit.status == 0)
            let row = audit.output.split(separator: "\n").first { $0.hasPrefix("inbox") }
            return Int(row?.split(separator: " ")[1] ?? "0") ?? -1
        }

        /// Starts a client of `apns-clients.py`.
        func client(_ name: String, _ more: [String]) throws -> RunningBinary {
            let process = try RunningBinary(
                URL(fileURLWithPath: ClientLibraries.python),
                [ClientLibraries.path("apns-clients.py"), name, "localhost", String(port), "certs/ca.crt"]
                    + [
                        "--key", "key.p8", "--team", "TEAM000001", "--kid", "KEY0000001", "--timeout",
                        isLong ? "400" : "40",
                    ] + more,
                in: directory)
            process.send(Data())
            return process
        }

        /// Starts a play of `frames.py`.
        func play(_ name: String) throws -> RunningBinary {
            let process = try RunningBinary(
                URL(fileURLWithPath: ClientLibraries.python),
                [ClientLibraries.path("frames.py"), name, String(port), directory + "/certs/ca.crt"])
            process.send(Data())
            return process
        }
    }

    private func run(_ body: @escaping @Sendable (Setting) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            #expect(try await binary.run(["certs", "new"], in: directory).status == 0)
            _ = try await ClientLibraries.run("apns-clients.py", ["identity", directory])
            // The system chooses a free port; the config names it from then on.
            let chosen = try await Setting(directory: directory, port: 0).firstStart()
            try await body(Setting(directory: directory, port: chosen))
        }
    }

    /// The results of a client, which must end well.
    private func results(of client: RunningBinary) async throws -> [ClientResult] {
        let output = await client.output.text()
        let errors = await client.errors.text()
        #expect(await client.end() == 0, "\(errors)")
        return try output.split(separator: "\n").map {
            try JSONDecoder().decode(ClientResult.self, from: Data($0.utf8))
        }
    }

    private struct ClientResult: Decodable {
        var status: String?
        var reason: String?
        var id: String?
    }

    // MARK: Many pushes

    /// aioapns never extends the window of its connection, and the bodies of errors use up several windows. The test
    /// runs the unchanged library, so a push that fails in the library fails the test.
    @Test func losesNoErrorOfAnAioapnsConnection() async throws {
        try await run { setting in
            let gateway = try await setting.start()
            let memory = ProcessUsage(of: gateway.process.identifier)
            let count = Self.size(2000, 3000)
            let before = try memory.residentKiB
            let answers = try await results(of: setting.client("aioapns", ["--count", "1", "--bad", String(count)]))
            #expect(answers.filter { $0.reason == "BadDeviceToken" }.count == count)
            #expect(answers.filter { $0.status == "200" }.count == 1)
            #expect(try memory.residentKiB - before < 64 * 1024)
            #expect(await gateway.stop() == 0)
        }
    }

    /// A connection and a token for each push.
    @Test func keepsNoDescriptorOfAClosedConnection() async throws {
        try await run { setting in
            let gateway = try await setting.start()
            let usage = ProcessUsage(of: gateway.process.identifier)
            let before = try usage.descriptors
            let count = Self.size(20, 200)
            let answers = try await results(of: setting.client("kalyke", ["--count", String(count)]))
            #expect(answers.filter { $0.status == "200" }.count == count)
            // The API's connection of this test, and one that is still closing.
            #expect(try usage.descriptors <= before + 2)
            #expect(try await setting.events() == count)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/h2load")))
    func everyAnswerOfALoadIsAnEvent() async throws {
        try await run { setting in
            let gateway = try await setting.start()
            let count = Self.size(2000, 100_000)
            try Data(#"{"aps":{"alert":"Hello"}}"#.utf8).write(to: URL(fileURLWithPath: setting.directory + "/push"))
            let load = try RunningBinary(
                URL(fileURLWithPath: "/usr/bin/h2load"),
                [
                    "-n", String(count), "-c", "2", "-m", "1000", "-d", "push", "-H", "apns-topic: com.example.app",
                    "https://127.0.0.1:\(setting.port)/s/secret/3/device/" + String(repeating: "0a", count: 32),
                ], in: setting.directory)
            load.send(Data())
            let output = await load.output.text()
            #expect(await load.end() == 0)
            #expect(output.contains("status codes: \(count) 2xx, 0 3xx, 0 4xx, 0 5xx"), "\(output)")
            #expect(try await setting.events() == count)
            #expect(await gateway.stop() == 0)
        }
    }

    /// Node.js opens as many streams as the server announces; its other requests wait.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/node")))
    func nodeWaitsForAStream() async throws {
        try await run { setting in
            let gateway = try await setting.start()
            let process = try RunningBinary(
                URL(fileURLWithPath: "/usr/bin/node"),
                [
                    ClientLibraries.path("node-client.mjs"), "https://localhost:\(setting.port)", "certs/ca.crt",
                    "1500",
                    "", "/s/secret",
                ], in: setting.directory)
            process.send(Data())
            let errors = await process.errors.text()
            #expect(await process.output.text() == "{\"200\":1500}\n", "\(errors)")
            #expect(try await setting.events() == 1500)
            #expect(await gateway.stop() == 0)
        }
    }

    // MARK: Stops

    /// The gateway stops or is killed while aioapns pushes; aioapns repeats what was not answered, and each
    /// push is one event.
    @Test(arguments: [SIGTERM, SIGKILL]) func repeatedPushesAreOneEvent(signal: Int32) async throws {
        try await run { setting in
            var gateway = try await setting.start()
            let count = Self.size(1000, 3000)
            let client = try setting.client("aioapns", ["--count", String(count), "--attempts", "1000", "--restarts"])
            var (lines, rounds): ([String], Int) = ([], Self.size(2, 5))
            // After some answers, hundreds of pushes are on their way: not read, not committed, or not answered.
            for await line in client.output.stream {
                lines.append(line)
                guard rounds > 0, lines.count % 20 == 0 else { continue }
                rounds -= 1
                gateway.process.signal(signal)
                _ = await gateway.process.end()
                gateway = try await setting.start()
            }
            let errors = await client.errors.text()
            #expect(await client.end() == 0, "\(errors)")
            let answers = try lines.map { try JSONDecoder().decode(ClientResult.self, from: Data($0.utf8)) }
            #expect(answers.filter { $0.status == "200" }.count == count)
            #expect(Set(answers.compactMap(\.id)).count == count)
            #expect(try await setting.events() == count)
            #expect(await gateway.stop() == 0)
        }
    }

    /// Every push that the stopping gateway took is answered, and no other is an event.
    @Test func answersAcceptedRequestsBeforeAStop() async throws {
        try await run { setting in
            let gateway = try await setting.start()
            let client = try setting.play("pushes_until_goaway")
            var last = ""
            for await line in client.output.stream {
                last = line
                if line.contains("ready") { gateway.process.signal(SIGTERM) }
            }
            #expect(await client.end() == 0)
            #expect(await gateway.process.end() == 0)
            let result = try JSONDecoder().decode(Stopped.self, from: Data(last.utf8))
            #expect(result.aways == 2 && result.answered >= 200)
            #expect(result.answered + result.untaken == result.sent)
            #expect(try await setting.events() == result.answered)
        }
    }

    private struct Stopped: Decodable {
        let sent: Int
        let aways: Int
        let answered: Int
        let untaken: Int
    }

    /// Runs for five minutes.
    @Test(.enabled(if: isLong)) func staysOpenForPingsOfFiveMinutes() async throws {
        try await run { setting in
            let gateway = try await setting.start()
            let client = try setting.play("slow_pings")
            let output = await client.output.text()
            #expect(await client.end() == 0)
            #expect(output.contains(#"{"answers": {"1": [200, ""]}}"#), "\(output)")
            #expect(await gateway.stop() == 0)
        }
    }
}

private let isLong = ProcessInfo.processInfo.environment["SIGNALBOX_PROVIDERS_LONG"] == "1"

/// The current resources of a process, from `/proc`.
private struct ProcessUsage {
    private let directory: String

    init(of process: Int32) { directory = "/proc/\(process)" }

    /// Resident memory.
    var residentKiB: Int {
        get throws {
            let status = try String(contentsOfFile: directory + "/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            return try #require(line?.split { !$0.isNumber }.first.flatMap { Int($0) })
        }
    }

    /// Open files and connections.
    var descriptors: Int { get throws { try FileManager.default.contentsOfDirectory(atPath: directory + "/fd").count } }
}
