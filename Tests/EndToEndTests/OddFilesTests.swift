import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Commands with files that are missing, have other contents, or are named by two options.
@Suite(.timeLimit(.minutes(15))) struct OddFilesTests {
    private static let payload = #"{"aps":{"alert":"x"}}"#
    private static let config = """
        { "destinations": { "inbox": { "builtin": "inbox" } },
          "routes": [ { "name": "all", "match": {}, "to": ["inbox"] } ] }
        """

    /// A directory with a config and `in.ndjson`, which holds two payloads.
    private func run(_ body: (_ directory: String) async throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            try Data(Self.config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json"))
            try Data((Self.payload + "\n" + Self.payload + "\n").utf8)
                .write(to: URL(fileURLWithPath: directory + "/in.ndjson"))
            try await body(directory)
        }
    }

    private static func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    // MARK: Files that are named for two things

    @Test(arguments: [
        ["normalize", "--rejects", "in.ndjson", "in.ndjson"], ["normalize", "--rejects", "./in.ndjson", "in.ndjson"],
        ["normalize", "--rejects", "link", "in.ndjson"], ["normalize", "--rejects", "in.ndjson", "link"],
        ["normalize", "--rejects", "hard", "in.ndjson"],
        ["replay", "--dry-run", "--rejects", "./in.ndjson", "in.ndjson"], ["replay", "--rejects", "hard", "in.ndjson"],
        ["replay", "--resume", "link", "in.ndjson"],
    ])
    func neverOverwritesAnInput(_ arguments: [String]) async throws {
        try await run { directory in
            let files = FileManager.default
            try files.createSymbolicLink(atPath: directory + "/link", withDestinationPath: "in.ndjson")
            try files.linkItem(atPath: directory + "/in.ndjson", toPath: directory + "/hard")
            let before = try Self.text(directory + "/in.ndjson")
            let result = try await binary.run(arguments, in: directory)
            #expect(result.status == 64)
            #expect(result.errors.contains("names one of the inputs."), "\(result.errors)")
            #expect(try Self.text(directory + "/in.ndjson") == before)
        }
    }

    @Test(arguments: [["normalize"], ["replay", "--dry-run"], ["replay", "--to", "http://127.0.0.1:1"]])
    func neverOverwritesTheConfig(_ command: [String]) async throws {
        try await run { directory in
            let result = try await binary.run(
                command + ["--rejects", "./routes.json", "in.ndjson"], in: directory)
            #expect(result.status == 64)
            #expect(result.errors.contains("--rejects names the config."), "\(result.errors)")
            #expect(try Self.text(directory + "/routes.json") == Self.config)
        }
    }

    @Test func doesNotOverwriteStandardInput() async throws {
        try await run { directory in
            let before = try Self.text(directory + "/in.ndjson")
            let command = ["sh", "-c", #"exec "$0" "$@" < in.ndjson"#]
            let result = try await binary.run(
                ["normalize", "--rejects", "in.ndjson"], in: directory, behind: command)
            #expect(result.status == 64)
            #expect(try Self.text(directory + "/in.ndjson") == before)
        }
    }

    @Test func oneFileIsNotForResumingAndRejectsByAnotherSpelling() async throws {
        try await run { directory in
            let result = try await binary.run(
                ["replay", "--resume", "state", "--rejects", "./state", "in.ndjson"], in: directory)
            #expect(result.status == 64)
            #expect(result.errors.contains("--resume and --rejects name the same file."), "\(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: directory + "/state"))
        }
    }

    // MARK: Files that are not there

    @Test(arguments: [[], ["--dry-run"], ["--resume", "state"]])
    func replaySendsNoEventIfAnInputIsMissing(_ options: [String]) async throws {
        try await run { directory in
            let result = try await binary.run(["replay"] + options + ["in.ndjson", "missing"], in: directory)
            #expect(result.status == 2)
            #expect(result.output.isEmpty)
            #expect(
                result.errors
                    == "signalbox: Cannot open missing: No such file or directory. No payload was replayed.\n")
        }
    }

    @Test func refusesADirectoryAsInput() async throws {
        try await run { directory in
            let result = try await binary.run(["replay", "in.ndjson", "."], in: directory)
            #expect(result.status == 2)
            #expect(result.output.isEmpty)
            #expect(result.errors == "signalbox: Cannot read .: Is a directory. No payload was replayed.\n")
        }
    }

    // MARK: Outputs that take nothing

    @Test(arguments: [
        ["explain", "one.json"], ["routes", "check"], ["routes", "schema"], ["normalize", "in.ndjson"],
        ["replay", "--dry-run", "in.ndjson"],
    ])
    func failsWhenTheOutputIsFull(_ arguments: [String]) async throws {
        try await run { directory in
            try Data(Self.payload.utf8).write(to: URL(fileURLWithPath: directory + "/one.json"))
            let command = ["sh", "-c", #"exec "$0" "$@" > /dev/full"#]
            let result = try await binary.run(arguments, in: directory, behind: command)
            #expect(result.status == 2)
            #expect(
                result.errors.contains("signalbox: cannot write standard output: No space left on device.\n"),
                "\(result.errors)")
        }
    }

    @Test func reportsAFullRejectsFileInOneSentence() async throws {
        let result = try await binary.run(
            ["normalize", "--rejects", "/dev/full"], input: Data("7".utf8), in: NSTemporaryDirectory())
        #expect(result.status == 2)
        #expect(
            result.errors.contains("signalbox: Cannot write the file of rejections: No space left on device.\n"),
            "\(result.errors)")
    }

    // MARK: Selections of nothing, and misspelled names

    @Test(arguments: [
        ("2026-11-20T00:00:00Z", "2026-11-20T00:00:00Z"), ("2026-11-20T00:00:01Z", "2026-11-20T00:00:00Z"),
        ("1h", "2h"),
    ])
    func sinceIsBeforeUntil(_ since: String, _ until: String) async throws {
        let result = try await binary.run(
            ["replay", "--time-at", "/t", "--since", since, "--until", until], in: NSTemporaryDirectory())
        #expect(result.status == 64)
        #expect(result.errors.contains("--since is not before --until"), "\(result.errors)")
    }

    @Test(
        arguments: [
            ("Braze", "Did you mean \"braze\"?"), ("nosuch", "Run `signalbox vendors` for the list."),
        ], [["--dry-run"], ["--resume", "state"], ["--to", "http://127.0.0.1:1"]])
    func rejectsAnUnknownVendorAtTheStart(_ name: (String, String), _ options: [String]) async throws {
        try await run { directory in
            let result = try await binary.run(
                ["replay", "--vendor", name.0] + options + ["in.ndjson"], in: directory)
            #expect(result.status == 2)
            #expect(result.errors.hasPrefix("signalbox: Unknown vendor \"\(name.0)\". \(name.1)\n"))
            #expect(!FileManager.default.fileExists(atPath: directory + "/state"))
        }
    }

    @Test func selectsUnknownAndCustomVendors() async throws {
        try await run { directory in
            let config = #"""
                { "detectors": { "custom": [ { "vendor": "acme", "markers": [{ "strength": "signature", "at": "/acme" }] } ] } }
                """#
            try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/own.json"))
            for vendor in ["unknown", "acme"] {
                let result = try await binary.run(
                    ["replay", "--dry-run", "-c", "own.json", "--vendor", vendor, "in.ndjson"], in: directory)
                #expect(result.status == 0, "\(result.errors)")
                #expect(result.errors.contains(vendor == "unknown" ? "2 events" : "0 events"))
            }
        }
    }

    @Test(arguments: [
        "\(payload)\n\(payload)\n", "\(payload)\(payload)", "[\(payload),\(payload)]", "[\(payload)]",
    ])
    func explainRejectsSeveralPayloads(_ input: String) async throws {
        let result = try await binary.run(["explain"], input: Data(input.utf8), in: NSTemporaryDirectory())
        #expect(result.status == 1)
        #expect(
            result.errors
                == "signalbox: standard input holds several payloads; explain takes one, an object by itself.\n"
        )
    }

    @Test(arguments: ["{\"aps\":{}}}", "{\"aps\":", "7", "nope"])
    func explainReportsAnInvalidPayload(_ input: String) async throws {
        let result = try await binary.run(["explain"], input: Data(input.utf8), in: NSTemporaryDirectory())
        #expect(result.status == 1)
        #expect(!result.errors.contains("several"), "\(result.errors)")
    }

    @Test func checkUsesTheSettingsOfServe() async throws {
        try await run { directory in
            try FileManager.default.moveItem(atPath: directory + "/routes.json", toPath: directory + "/other.json")
            let ways: [([String], [String: String])] = [
                (["check", "other.json"], [:]), (["check", "--config", "other.json"], [:]),
                (["check"], ["SIGNALBOX_CONFIG": "other.json"]), (["-c", "other.json"], [:]),
                (["check", "other.json"], ["SIGNALBOX_CONFIG": "missing.json"]),
            ]
            for (arguments, environment) in ways {
                let result = try await binary.run(["routes"] + arguments, in: directory, environment: environment)
                #expect(result.status == 0, "\(arguments), \(environment): \(result.errors)")
                #expect(result.output.hasPrefix("other.json: 1 route,"))
            }
            let both = try await binary.run(["routes", "check", "-c", "a.json", "b.json"], in: directory)
            #expect(both.status == 64)
            #expect(both.errors.contains("The config is named twice"), "\(both.errors)")
        }
    }

    @Test(arguments: ["", " \n"]) func reportsAnEmptyFileOfCases(_ text: String) async throws {
        try await run { directory in
            try Data(text.utf8).write(to: URL(fileURLWithPath: directory + "/cases.json"))
            let result = try await binary.run(["routes", "test", "cases.json"], in: directory)
            #expect(result.status == 2)
            #expect(result.errors.contains("it should contain a JSON array of cases"), "\(result.errors)")
        }
    }
}
