import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// A command whose output cannot be written has failed.
@Suite(.timeLimit(.minutes(15))) struct OutputTests {
    private static let commands = [
        ["--help"], ["--version"], ["help", "serve"], ["deliveries", "--help"], ["help", "deliveries", "list"],
        ["--generate-completion-script", "bash"], ["--experimental-dump-help"], ["vendors"], ["vendors", "--markdown"],
        ["schema", "notification"], ["routes", "schema"], ["routes", "check"], ["keys", "new"],
        ["normalize", "push.json"],
        ["explain", "push.json"], ["replay", "--dry-run", "push.json"], ["deliveries", "list"],
        ["deliveries", "list", "--json"], ["deliveries", "show", "1"], ["deliveries", "retry", "1"],
        ["deliveries", "purge", "--state", "dead"], ["destinations", "list"], ["destinations", "pause", "inbox"],
        ["destinations", "resume", "inbox"], ["destinations", "ping", "inbox"], ["media", "list"],
        ["media", "verify"], ["audit"], ["completion", "bash"], ["config", "show"], ["config", "show", "--json"],
        ["send", "braze", "--dry-run"], ["send", "--list"], ["events", "list"],
    ]

    /// `redirection`: of standard output, in shell syntax.
    @Test(arguments: [">/dev/full", ">&-"]) func aCommandThatCannotPrintFails(redirection: String) async throws {
        try await withTemporaryDirectory { directory in
            try Data(#"{"aps":{"alert":"Hi"}}"#.utf8).write(to: URL(fileURLWithPath: directory + "/push.json"))
            let config = #"""
                { "destinations": { "inbox": { "builtin": "inbox" } },
                  "routes": [ { "name": "everything", "match": {}, "to": ["inbox"] } ] }
                """#
            let gateway = try await Gateway.start(in: directory, config: config)
            #expect(try await gateway.post(Data(#"{"aps":{"alert":"Hi"}}"#.utf8)).status == 202)
            while try await !gateway.get("/v1/deliveries").text.contains("delivered") { await Task.yield() }
            #expect(await gateway.stop() == 0)
            for command in Self.commands {
                let printed = try await binary.run(command, in: directory)
                #expect(!printed.output.isEmpty, "\(command): \(printed.errors)")
                let failed = try await binary.run(
                    command, in: directory, behind: ["sh", "-c", "exec \"$0\" \"$@\" \(redirection)"])
                #expect(failed.status == 2, "\(command): \(failed.errors)")
                #expect(failed.errors.contains("cannot write standard output"), "\(command): \(failed.errors)")
            }
            #expect(try await binary.run(["audit"], in: directory).status == 0, "nothing was printed into the queue")
        }
    }

    /// The exit handlers of a library must not run while the workers of the command use it. Repeated, because a
    /// crash needs a worker that uses the library at that moment.
    @Test func aCommandWithWorkersReportsAFullOutputAndDoesNotCrash() async throws {
        try await withTemporaryDirectory { directory in
            let line = #"{"message":{"token":"abc","data":{"a":"b"}}}"# + "\n"
            try Data(String(repeating: line, count: 100_000).utf8)
                .write(to: URL(fileURLWithPath: directory + "/many.ndjson"))
            for _ in 0..<10 {
                let failed = try await binary.run(
                    ["normalize", "many.ndjson"], in: directory,
                    behind: ["sh", "-c", "exec \"$0\" \"$@\" >/dev/full"])
                #expect(failed.status == 2, "\(failed.errors)")
                #expect(failed.errors.contains("cannot write standard output"), "\(failed.errors)")
            }
        }
    }

    /// The gateway neither waits for a reader nor claims to have shown everything.
    @Test func aGatewayWhoseOutputIsNotReadReportsTheLoss() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"""
                { "destinations": { "inbox": { "builtin": "inbox" } },
                  "routes": [ { "name": "everything", "match": {}, "to": ["inbox"] } ] }
                """#
            let gateway = try await Gateway.start(
                in: directory, config: config,
                behind: ["sh", "-c", "mkfifo unread && exec 3<>unread && exec \"$0\" \"$@\" >&3"])
            let payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: 100))"}}"# + "\n"
            for _ in 0..<4 {
                #expect(try await gateway.post(Data(String(repeating: payload, count: 500).utf8)).status == 202)
            }
            while try await !gateway.get("/v1/ledger").text.contains(#""delivered":2000"#) { await Task.yield() }
            #expect(await gateway.stop() == 2)
            #expect(await gateway.process.errors.text().contains("nothing reads it; some of it is lost"))
        }
    }

    /// An event of more than 1 MiB, and one after it: programs read each line as JSON.
    @Test func aReplayPrintsEventsOfAnySize() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"""
                { "destinations": { "inbox": { "builtin": "inbox" } },
                  "routes": [ { "name": "everything", "match": {}, "to": ["inbox"] } ] }
                """#
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            let payloads = [String(repeating: "x", count: 1_200_000), "x"].map { #"{"aps":{"alert":"\#($0)"}}"# + "\n" }
            let result = try await binary.run(["replay", "--json"], input: Data(payloads.joined().utf8), in: directory)
            #expect(result.status == 0, "\(result.errors)")
            let lines = result.output.split(separator: "\n")
            #expect(lines.count == 2)
            #expect(lines.allSatisfy { $0.hasPrefix(#"{"specversion":"#) }, "\(lines.map { $0.prefix(80) })")
        }
    }

    /// Long-running commands continue: their output is lost, and the exit code reports it.
    @Test func continuesWhenTheInboxCannotBePrintedAndReportsIt() async throws {
        try await withTemporaryDirectory { directory in
            let config = #"""
                { "destinations": { "inbox": { "builtin": "inbox" } },
                  "routes": [ { "name": "everything", "match": {}, "to": ["inbox"] } ] }
                """#
            let gateway = try await Gateway.start(
                in: directory, config: config, behind: ["sh", "-c", "exec \"$0\" \"$@\" >/dev/full"])
            #expect(try await gateway.post(Data(#"{"aps":{"alert":"Hi"}}"#.utf8)).status == 202)
            while try await !gateway.get("/v1/deliveries").text.contains("delivered") { await Task.yield() }
            #expect(await gateway.stop() == 2)
            #expect(await gateway.process.errors.text().contains("cannot write standard output: No space left"))
        }
    }
}
