import Foundation
import SignalboxServer
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Every reason not to start is one sentence and exit code 2.
@Suite(.timeLimit(.minutes(15))) struct StartTests {
    private func refusal(
        _ arguments: [String], in directory: String, environment: [String: String] = [:]
    ) async throws -> String {
        let result = try await binary.run(arguments, in: directory, environment: environment)
        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        return result.errors
    }

    private func write(_ config: String, in directory: String) throws {
        try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
    }

    private let inbox = #"{ "destinations": { "inbox": { "builtin": "inbox" } }, "routes": [] }"#

    /// Without `/proc`, Swift's runtime has no arguments.
    @Test(.enabled("needs user namespaces") { await Namespace.isAllowed }, arguments: ["serve", "health", "audit"])
    func reportsAMissingProc(_ command: String) async throws {
        let result = try await binary.run([command], behind: Namespace.withoutProc)
        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("Mount /proc"))
    }

    /// In a user namespace without its identity, root has the rights of any owner.
    @Test(.enabled("needs user namespaces") { await Namespace.isAllowed })
    func reportsADirectoryThatItMayNotWrite() async throws {
        try await withTemporaryDirectory { directory in
            try write(inbox, in: directory)
            try FileManager.default.createDirectory(
                atPath: directory + "/data", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o500])
            let result = try await binary.run(["serve"], in: directory, behind: ["unshare", "-U"])
            #expect(result.status == 2 && result.output.isEmpty)
            let reason = "The data directory data cannot be used: Permission denied."
            #expect(result.errors == "signalbox: \(reason) Correct that, or choose another with --data-dir.\n")
        }
    }

    /// As after a restoration by root. A supervisor must not start the gateway again and again.
    @Test(
        .enabled("needs user namespaces") { await Namespace.isAllowed },
        arguments: ["queue.db", "queue.db-wal", "queue.db-shm"])
    func reportsAFileThatItMayNotOpen(_ name: String) async throws {
        try await withTemporaryDirectory { directory in
            let gateway = try await Gateway.start(in: directory, config: inbox)
            #expect(await gateway.stop() == 0)
            let file = open(directory + "/data/" + name, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            try #require(file >= 0)
            defer { close(file) }
            try #require(fchmod(file, 0) == 0)
            let result = try await binary.run(
                ["serve", "--listen", "127.0.0.1:0"], in: directory, behind: ["unshare", "-U"])
            #expect(result.status == 2)
            let sentence = "The queue cannot be used: data/\(name) cannot be opened: Permission denied."
            #expect(result.errors == "signalbox: \(sentence)\n")
        }
    }

    /// Without the check, the gateway crashes.
    @Test func reportsTooFewDescriptors() async throws {
        try await withTemporaryDirectory { directory in
            try write(inbox, in: directory)
            let result = try await binary.run(["serve"], in: directory, behind: ["prlimit", "--nofile=24:24"])
            #expect(result.status == 2)
            #expect(result.output.isEmpty)
            #expect(result.errors.hasPrefix("signalbox: serve needs at least "))
            #expect(result.errors.contains("the limit is 24. Raise it with ulimit -n"))
        }
    }

    @Test func reportsAMissingConfig() async throws {
        try await withTemporaryDirectory { directory in
            let sentence = try await refusal(["serve"], in: directory)
            #expect(sentence.hasPrefix("signalbox: routes.json: there is no such file."))
        }
    }

    /// The second command works without a config, but not with one that it cannot read.
    @Test(arguments: [["serve"], ["events", "list"]])
    func reportsAConfigThatCannotBeRead(_ command: [String]) async throws {
        try await withTemporaryDirectory { directory in
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/routes.json", withDestinationPath: "routes.json")
            #expect(
                try await refusal(command, in: directory)
                    == "signalbox: routes.json cannot be read: Too many levels of symbolic links. Correct that, or name "
                    + "another file with --config.\n")
        }
    }

    @Test func reportsAConfigErrorWithItsPosition() async throws {
        try await withTemporaryDirectory { directory in
            try write(
                "{\n  \"routes\": [\n    { \"name\": \"a\", \"match\": {}, \"to\": [\"crm\"] }\n  ]\n}", in: directory)
            let sentence = try await refusal(["serve"], in: directory)
            #expect(
                sentence
                    == """
                    routes.json:3:40: error: /routes/0/to/0: there is no destination "crm"
                       3 |     { "name": "a", "match": {}, "to": ["crm"] }
                         |                                        ^~~~~
                      hint: add one under "destinations"
                    routes.json: 1 error

                    """
            )
        }
    }

    @Test func reportsAMissingSecret() async throws {
        try await withTemporaryDirectory { directory in
            try write(Gateway.config(to: "https://crm.example.com/"), in: directory)
            let sentence = try await refusal(["serve"], in: directory, environment: ["WEBHOOK_SECRET": ""])
            #expect(sentence.contains("/destinations/crm/secret: the environment variable WEBHOOK_SECRET is empty"))
        }
    }

    @Test func doesNotPrintAnInvalidSecret() async throws {
        try await withTemporaryDirectory { directory in
            try write(Gateway.config(to: "https://crm.example.com/"), in: directory)
            let sentence = try await refusal(["serve"], in: directory, environment: ["WEBHOOK_SECRET": "hunter2"])
            #expect(sentence.contains("/destinations/crm/secret"))
            #expect(!sentence.contains("hunter2"))
        }
    }

    @Test func refusesOpenAccessBeyondLoopback() async throws {
        try await withTemporaryDirectory { directory in
            try write(inbox, in: directory)
            let sentence = try await refusal(["serve", "--listen", "0.0.0.0:0"], in: directory)
            #expect(sentence.contains("has no sources"))
        }
    }

    @Test func reportsAPortInUse() async throws {
        try await withTemporaryDirectory { directory in
            try write(inbox, in: directory)
            try await ReceivingServer.run { other in
                let sentence = try await refusal(["serve", "--listen", "\(other.address)"], in: directory)
                #expect(
                    sentence
                        == "signalbox: Cannot listen on \(other.address): Address already in use. Choose another address with --listen.\n"
                )
            }
        }
    }

    /// The listener of the provider endpoints, which is ready first, must not keep the process.
    @Test func reportsAPortInUseNextToProviderEndpoints() async throws {
        try await withTemporaryDirectory { directory in
            let listen = #"{ "gateway": { "listen": { "apns": "127.0.0.1:0" } }, "dest"#
            let config = inbox.replacing("{ \"dest", with: listen)
            try write(config, in: directory)
            try await ReceivingServer.run { other in
                let sentence = try await refusal(["serve", "--listen", "\(other.address)"], in: directory)
                #expect(sentence.hasPrefix("signalbox: Cannot listen on \(other.address): Address already in use."))
            }
        }
    }

    @Test func reportsAHostThatIsNotFound() async throws {
        try await withTemporaryDirectory { directory in
            let sources = #"{ "sources": { "a": { "auth": { "bearer": ["env:TOKEN"] } } }, "dest"#
            try write(inbox.replacing("{ \"dest", with: sources), in: directory)
            let sentence = try await refusal(
                ["serve", "--listen", "host.invalid:0"], in: directory, environment: ["TOKEN": "t"])
            #expect(sentence.hasPrefix("signalbox: Cannot listen on host.invalid:0: "))
        }
    }

    @Test func refusesADataDirectoryInUse() async throws {
        try await withTemporaryDirectory { directory in
            let gateway = try await Gateway.start(in: directory, config: inbox)
            let sentence = try await refusal(["serve", "--listen", "127.0.0.1:0"], in: directory)
            #expect(sentence.contains("The data directory data is in use by another signalbox (process"))
            let replay = try await binary.run(["replay"], in: directory)
            #expect(replay.status == 2)
            #expect(await gateway.stop() == 0)
        }
    }

    @Test func refusesAnImpossibleDataDirectory() async throws {
        try await withTemporaryDirectory { directory in
            try write(inbox, in: directory)
            let sentence = try await refusal(["serve", "--data-dir", "routes.json/data"], in: directory)
            #expect(sentence.contains("The data directory routes.json/data cannot be used"))
        }
    }

    @Test func reportsAQueueThatIsNotADatabase() async throws {
        try await withTemporaryDirectory { directory in
            try write(inbox, in: directory)
            try FileManager.default.createDirectory(atPath: directory + "/data", withIntermediateDirectories: true)
            try Data("not a database, certainly".utf8).write(to: URL(fileURLWithPath: directory + "/data/queue.db"))
            let sentence = try await refusal(["serve"], in: directory)
            #expect(sentence.contains("cannot be read: file is not a database"))
        }
    }

    @Test func reportsAnUnknownFlag() async throws {
        let result = try await binary.run(["serve", "--prot", "1"])
        #expect(result.status == 64)
        #expect(result.errors.contains("Unknown option '--prot'"))
    }

    /// A shared queue loses nothing with a data directory, and its record of actions must not say so.
    @Test func refusesToAcceptALossOfAQueueInADatabase() async throws {
        try await withTemporaryDirectory { directory in
            try write(inbox, in: directory)
            let store = "postgres://signalbox@127.0.0.1:1/signalbox"
            let result = try await binary.run(["serve", "--store", store, "--accept-queue-loss"], in: directory)
            #expect(result.status == 64)
            #expect(result.errors.contains("Leave out --accept-queue-loss"))
        }
    }

    @Test func printsVersionAndHelp() async throws {
        #expect(try await binary.run(["--version"]).output == "0.1.0\n")
        for command in [
            "serve", "normalize", "replay", "explain", "listen", "deliveries", "routes", "vendors", "schema", "inapp",
            "init", "config", "send", "tail", "health", "completion", "events", "capture", "store",
        ] {
            let result = try await binary.run([command, "--help"])
            #expect(result.status == 0)
            #expect(result.output.contains("OVERVIEW"), "\(command)")
        }
    }
}
