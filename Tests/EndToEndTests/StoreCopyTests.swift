import Foundation
import SignalboxServerTesting
import SignalboxStoreTesting
import SignalboxTesting
import Testing

/// `store copy` of a queue with many waiting deliveries, and the warning of a queue that was not copied.
@Suite(.serialized, .timeLimit(.minutes(15))) struct StoreCopyTests {
    // MARK: Interruptions and refusals

    /// A directory with a queue of many waiting deliveries.
    private func withBacklog(
        _ count: Int, _ body: (_ directory: String, StoreDatabase) async throws -> Void
    ) async throws {
        try await StoreDatabase.with { database in
            try await withTemporaryDirectory { directory in
                try Data(Gateway.config(to: "http://127.0.0.1:9/").utf8)
                    .write(to: URL(fileURLWithPath: directory + "/routes.json"))
                let payloads = (0..<count).map { #"{"aps":{"alert":"n\#($0)"}}"# }.joined(separator: "\n")
                let environment = ["WEBHOOK_SECRET": Gateway.secret]
                #expect(try await binary.run(["replay"], in: directory, environment: environment).status == 0)
                let paused = try await binary.run(["destinations", "pause", "crm"], in: directory)
                #expect(paused.status == 0, "\(paused.errors)")
                let replay = try await binary.run(
                    ["replay", "--quiet"], input: Data(payloads.utf8), in: directory, environment: environment)
                #expect(replay.errors.contains("\(count) waiting"), "\(replay.errors)")
                try await body(directory, database)
            }
        }
    }

    @Test func continuesAfterItWasKilled() async throws {
        try await withBacklog(3000) { directory, database in
            let proxy = try CuttingProxy(to: try #require(URLComponents(string: database.url)?.port))
            proxy.delay(by: .milliseconds(20))
            let slow = try database.url(port: proxy.port)
            let copy = try binary.start(["store", "copy", "--from", "data", "--to", slow], in: directory)
            try await eventually("a part of the copy") {
                guard try database.number("SELECT (to_regclass('copies') IS NOT NULL)::int::bigint") == 1 else {
                    return false
                }
                return try database.number("SELECT count(*) FROM copies WHERE position IS NOT NULL") == 1
            }
            copy.signal(SIGKILL)
            #expect(await copy.end() == 128 + SIGKILL, "it was killed on its way")
            let part = try database.number("SELECT count(*) FROM deliveries")
            #expect(part < 3000)
            // A gateway would deliver a part of the queue.
            let early = try await database.command("serve --listen 127.0.0.1:0", in: directory)
            #expect(early.status == 2)
            #expect(early.errors.contains("is not complete. Run signalbox store copy again"), "\(early.errors)")

            let rest = try await binary.run(["store", "copy", "--from", "data", "--to", slow], in: directory)
            #expect(rest.status == 0, "\(rest.errors)")
            #expect(rest.errors.hasPrefix("Continuing the copy after its last batch.\n"), "\(rest.errors)")
            #expect(try database.number("SELECT count(*) FROM queue") == 3000)
            let former = try await binary.run(["audit", "--json"], in: directory)
            let audit = try await database.command("audit --json", in: directory)
            #expect(former.status == 0 && audit.status == 0)
            #expect(former.output == audit.output)
            for words in ["deliveries list --json --limit 1000", "events list --json --limit 1000"] {
                let former = try await binary.run(words.split(separator: " ").map(String.init), in: directory)
                #expect(try await database.command(words, in: directory).output == former.output, "\(words)")
            }
        }
    }

    @Test func refusesASourceInUseAndATargetWithContent() async throws {
        try await withBacklog(3) { directory, database in
            func copy(_ words: String = "--from data") async throws -> BuiltBinary.Result {
                let arguments = ["store", "copy"] + words.split(separator: " ").map(String.init)
                return try await binary.run(arguments + ["--to", database.url], in: directory)
            }
            func expectRefusal(_ words: String, _ result: BuiltBinary.Result) {
                #expect(result.status == 2 && result.output.isEmpty, "\(result.output)")
                #expect(result.errors.contains(words), "\(result.errors)")
            }
            let embedded = try await Gateway.start(in: directory)
            expectRefusal("The data directory data is in use by another signalbox", try await copy())
            #expect(await embedded.stop() == 0)
            expectRefusal("There is no queue in elsewhere", try await copy("--from elsewhere"))
            #expect(!FileManager.default.fileExists(atPath: directory + "/elsewhere"))

            let place = directory + "/node"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
            let node = try await Gateway.start(
                in: place, config: Gateway.config(to: "http://127.0.0.1:9/"), arguments: ["--store", database.url])
            expectRefusal("A gateway or a command uses \(database.place). Stop the gateways", try await copy())
            #expect(try await node.post(Data(#"{"aps":{}}"#.utf8)).status == 202)
            #expect(await node.stop() == 0)
            try database.run("UPDATE nodes SET is_live = false")
            expectRefusal("has events or records of its own. Drop its tables", try await copy())
        }
    }

    /// Starts and stops a gateway; returns what it wrote before it listened.
    private func start(in directory: String, _ database: StoreDatabase) async throws -> String {
        let process = try binary.start(
            ["serve", "--listen", "127.0.0.1:0", "--store", database.url], in: directory,
            environment: ["WEBHOOK_SECRET": Gateway.secret])
        var lines = ""
        for await line in process.errors.stream {
            lines += line + "\n"
            if line.contains("queue: ") { break }
        }
        process.signal(SIGTERM)
        #expect(await process.end() == 0)
        return lines
    }

    @Test func aGatewayWarnsOfDeliveriesThatWereNotCopied() async throws {
        try await withBacklog(3) { directory, database in
            let before = try await start(in: directory, database)
            #expect(
                before.contains(
                    "Deliveries wait in the data directory, and are not sent; signalbox store copy moves them. "
                        + "queue=data/queue.db waiting=3"), "\(before)")
            try database.run("UPDATE nodes SET is_live = false")
            let copied = try await binary.run(["store", "copy", "--to", database.url], in: directory)
            #expect(copied.status == 0, "\(copied.errors)")
            let after = try await start(in: directory, database)
            #expect(after.contains("queue: "), "\(after)")
            #expect(!after.contains("Deliveries wait"), "\(after)")
        }
    }
}
