import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Synchronization
import Testing

/// A config that changes while the built binary runs.
@Suite(.timeLimit(.minutes(15))) struct ReloadTests {
    private static let payload = Data(#"{"aps":{"alert":"x"}}"#.utf8)
    private static let inForce = "Config reloaded."
    private static let refused = "Config rejected; the previous one stays active."

    /// Replaces a file atomically, as an editor does.
    private static func write(_ config: String, in directory: String) throws {
        try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"), options: .atomic)
    }

    /// The log up to and including a line with this text.
    private static func log(of gateway: Gateway, until words: String) async -> [String] {
        var lines: [String] = []
        for await line in gateway.process.errors.stream {
            lines.append(line)
            if line.contains(words) { break }
        }
        return lines
    }

    private func run(_ body: @escaping @Sendable (Gateway, ReceivingServer) async throws -> Void) async throws {
        try await Gateway.run { gateway, receiver, _ in try await body(gateway, receiver) }
    }

    @Test func reloadsAChangedFile() async throws {
        try await run { gateway, receiver in
            try Self.write(Gateway.config(to: receiver.url + "/new"), in: gateway.directory)
            _ = await Self.log(of: gateway, until: Self.inForce)
            #expect(try await gateway.post(Self.payload).status == 202)
            #expect(await receiver.next().first?.path == "/hooks/new")
        }
    }

    @Test func aDestinationThatLeavesTheConfigWithDeliveriesIsNotUp() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(answer: { _ in 503 }) { receiver in
                let config = Gateway.config(to: receiver.url)
                    .replacing(#""1ms""#, with: #""1d""#).replacing(#""20ms""#, with: #""1d""#)
                let gateway = try await Gateway.start(in: directory, config: config)
                #expect(try await gateway.post(Self.payload).status == 202)
                _ = await receiver.next()
                try Self.write(config.replacing("crm", with: "erp"), in: directory)
                _ = await Self.log(of: gateway, until: Self.inForce)
                let state = #"signalbox_destination_state{destination="crm",state="#
                while try await !gateway.metrics().contains(#"\#(state)"unknown"} 1"#) {}
                let page = try await gateway.metrics()
                #expect(page.contains(#"signalbox_destination_up{destination="crm"} 0"#))
                #expect(page.contains(#"\#(state)"active"} 0"#))
                #expect(page.contains(#"signalbox_destination_up{destination="erp"} 1"#))
                #expect(await gateway.stop() == 0)
            }
        }
    }

    @Test func reloadsOnASignalAndChecksTheTokensOfNewSources() async throws {
        try await run { gateway, receiver in
            let sources = #""sources": { "mobile": { "auth": { "bearer": ["env:WEBHOOK_SECRET"] } } },"#
            try Self.write(Gateway.config(to: receiver.url, more: sources), in: gateway.directory)
            gateway.process.signal(SIGHUP)
            _ = await Self.log(of: gateway, until: Self.inForce)
            #expect(try await gateway.post(Self.payload).status == 401)
            let answer = try await gateway.post(
                Self.payload, headers: [("authorization", "Bearer \(Gateway.secret)")])
            #expect(answer.status == 202)
            #expect(await receiver.next().count == 1)
        }
    }

    @Test(arguments: [
        ("{ \"routes\": [ }", "routes.json:1:"),
        (#"{ "routes": [ { "name": "a", "match": {}, "to": ["nobody"] } ] }"#, "there is no destination"),
        (
            #"{ "destinations": { "crm": { "url": "https://a.example/", "secret": "env:NOT_SET_ANYWHERE" } } }"#,
            "NOT_SET_ANYWHERE"
        ),
        (
            #"{ "routes": [ { "name": "a", "match": { "a": { "b": [1] }, "a": ["x"] }, "to": [] } ] }"#,
            "/routes/0/match/a: this field is listed twice"
        ),
        (
            #"{ "routes": [ { "name": "a", "match": \#(String(repeating: #"{"a":"#, count: 300)), "to": [] } ] }"#,
            "routes.json:1:"
        ),
    ])
    func rejectsABadFileWithItsPositionAndKeepsTheActiveConfig(_ config: String, _ words: String) async throws {
        try await run { gateway, receiver in
            try Self.write(config, in: gateway.directory)
            gateway.process.signal(SIGHUP)
            let lines = await Self.log(of: gateway, until: Self.refused)
            #expect(lines.contains { $0.contains(words) }, "\(lines)")
            #expect(try await gateway.post(Self.payload).status == 202)
            #expect(await receiver.next().first?.path == "/hooks")
        }
    }

    @Test func asksForARestartOnlyIfTheConfigDiffersFromThatOfTheStart() async throws {
        try await run { gateway, receiver in
            let config = Gateway.config(to: receiver.url)
            let other = config.replacing("\"name\": \"test\"", with: "\"name\": \"test\", \"dataDir\": \"elsewhere\"")
            for (text, asks) in [(other, true), (config, false)] {
                try Self.write(text, in: gateway.directory)
                let lines = await Self.log(of: gateway, until: Self.inForce)
                #expect(lines.contains { $0.contains("restart the gateway to apply it") } == asks, "\(lines)")
            }
        }
    }

    /// The stop cancels the search for stranded deliveries; that is not an error of the queue.
    @Test func reportsNoErrorIfItStopsDuringAReload() async throws {
        try await withTemporaryDirectory { directory in
            let config = Gateway.config(to: "http://127.0.0.1:1")
            for _ in 0..<5 {
                let gateway = try await Gateway.start(in: directory, config: config)
                gateway.process.signal(SIGHUP)
                #expect(await gateway.stop() == 0)
                var lines: [String] = []
                for await line in gateway.process.errors.stream { lines.append(line) }
                #expect(!lines.contains { $0.contains("Cannot search for stranded deliveries") }, "\(lines)")
            }
        }
    }

    /// A pipe without a writer would block the reload, all later reloads, and the end of the process.
    @Test func aNamedPipeInPlaceOfTheConfigIsRejectedAndBlocksNoReload() async throws {
        try await run { gateway, receiver in
            let path = gateway.directory + "/routes.json"
            // Renamed: the config is never missing, so the first rejection is that of the pipe.
            try #require(mkfifo(path + ".new", 0o600) == 0 && rename(path + ".new", path) == 0)
            gateway.process.signal(SIGHUP)
            let lines = await Self.log(of: gateway, until: Self.refused)
            #expect(lines.contains { $0.contains("routes.json cannot be read") }, "\(lines)")
            try Data(Gateway.config(to: receiver.url + "/new").utf8).write(to: URL(fileURLWithPath: path + ".new"))
            try #require(rename(path + ".new", path) == 0)
            gateway.process.signal(SIGHUP)
            _ = await Self.log(of: gateway, until: Self.inForce)
            #expect(try await gateway.post(Self.payload).status == 202)
            #expect(await receiver.next().first?.path == "/hooks/new")
        }
    }

    /// One alternative of the pattern requires a value and a field below it.
    @Test func acceptsAValueInAdditionToFieldsBelowIt() async throws {
        try await run { gateway, receiver in
            let match = #"{ "data": { "custom": { "a": { "b": ["y"] }, "$or": [ { "a": ["x"] }, { "c": ["x"] } ] } } }"#
            let config = Gateway.config(to: receiver.url + "/new").replacing(
                #""match": {}"#, with: "\"match\": \(match)")
            try Self.write(config, in: gateway.directory)
            _ = await Self.log(of: gateway, until: Self.inForce)
            let neither = try await gateway.post(Data(#"{"aps":{"alert":"x"},"a":{"b":"y"}}"#.utf8))
            #expect(neither.json["routes"] as? [String] == [])
            let both = try await gateway.post(Data(#"{"aps":{"alert":"x"},"a":["x",{"b":"y"}]}"#.utf8))
            #expect(both.json["routes"] as? [String] == ["everything"])
            #expect(await receiver.next().first?.path == "/hooks/new")
        }
    }

    @Test func reloadsWhenAFileIsAddedNextToTheConfig() async throws {
        try await run { gateway, receiver in
            let folder = gateway.directory + "/routes.d"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let part = """
                { "destinations": { "more": { "url": "\(receiver.url)/more", "secret": "env:WEBHOOK_SECRET" } },
                  "routes": [ { "name": "more", "match": {}, "to": ["more"] } ] }
                """
            try Data(part.utf8).write(to: URL(fileURLWithPath: folder + "/more.json"), options: .atomic)
            _ = await Self.log(of: gateway, until: Self.inForce)
            #expect(try await gateway.post(Self.payload).status == 202)
            #expect(Set(await receiver.next(2).map(\.path)) == ["/hooks", "/hooks/more"])
        }
    }

    @Test func reloadsWhenItsEnvironmentFileChanges() async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let file = directory + "/env"
                func write(_ path: String) throws {
                    try Data("HOOK_URL=\"\(receiver.url)/\(path)\"\n".utf8)
                        .write(to: URL(fileURLWithPath: file), options: .atomic)
                }
                try write("old")
                let config = Gateway.config(to: "env:HOOK_URL")
                    .replacing(#""name": "test""#, with: #""name": "test", "environmentFile": "\#(file)""#)
                let gateway = try await Gateway.start(in: directory, config: config)
                #expect(try await gateway.post(Self.payload).status == 202)
                #expect(await receiver.next().first?.path == "/hooks/old")
                try write("new")
                _ = await Self.log(of: gateway, until: Self.inForce)
                #expect(try await gateway.post(Self.payload).status == 202)
                #expect(await receiver.next().first?.path == "/hooks/new")
                #expect(await gateway.stop() == 0)
            }
        }
    }

    /// How often each id arrived. A class because connections and the test share it.
    private final class Arrivals: Sendable {
        private let counts = Mutex<[String: Int]>([:])
        var all: [String: Int] { counts.withLock { $0 } }
        private let over = Mutex(false)
        /// True once the senders must stop.
        var isOver: Bool { over.withLock { $0 } }
        func end() { over.withLock { $0 = true } }
        func note(_ id: String) { counts.withLock { $0[id, default: 0] += 1 } }
    }

    /// A reload neither loses nor repeats an event.
    @Test func deliversOnceDuringReloadsUnderLoad() async throws {
        let arrivals = Arrivals()
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run(answer: { message in
                arrivals.note(message.id ?? "none")
                return 204
            }) { receiver in
                let gateway = try await Gateway.start(in: directory, config: Gateway.config(to: receiver.url))
                let accepted = try await withThrowingTaskGroup(of: Set<String>.self) { group in
                    for _ in 0..<3 {
                        group.addTask {
                            var ids: Set<String> = []
                            while !arrivals.isOver {
                                let answer = try await gateway.post(Self.payload)
                                #expect(answer.status == 202)
                                if let id = answer.json["id"] as? String { ids.insert(id) }
                            }
                            return ids
                        }
                    }
                    for round in 0..<20 {
                        let config = Gateway.config(to: "\(receiver.url)/\(round % 3)", attempts: 5 + round % 2)
                        try Self.write(config, in: directory)
                        gateway.process.signal(SIGHUP)
                        _ = await Self.log(of: gateway, until: Self.inForce)
                    }
                    arrivals.end()
                    return try await group.reduce(into: Set<String>()) { $0.formUnion($1) }
                }
                while !accepted.isSubset(of: arrivals.all.keys) { await Task.yield() }
                #expect(await gateway.stop() == 0)
                #expect(arrivals.all.values.allSatisfy { $0 == 1 }, "each once")
                #expect(Set(arrivals.all.keys) == accepted && !accepted.isEmpty)
            }
        }
    }
}
