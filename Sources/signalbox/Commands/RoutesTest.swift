import ArgumentParser
import Foundation
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxRouting

/// Split from `Routes.swift` for its size.
extension Routes {
    /// Exits with 1 when a case fails. Opens no queue. Each case runs through the gateway's own pipeline up to the
    /// decision. A failed case prints the expected and the actual routes.
    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test", abstract: "Test which routes match payloads.",
            discussion: """
                CASES is a JSON array of objects: "name"; "payload", "event" or "file"; optionally "source" and "time"; \
                "expect", the names of the matching routes; optionally "expectDestinations". Sampling is ignored: a route \
                with a sample matches every event that it could.
                """)

        /// Files that cases name are relative to its folder. Bounded like a config file; its mistakes are reported
        /// with line and caret like those of a config.
        @Argument(help: "The file of cases; - is standard input.", completion: .file(extensions: ["json"]))
        var cases: String

        /// A config is required. Its secrets are not read.
        @OptionGroup var options: GatewayOptions

        /// For programs; the exit code is the same.
        @Flag(help: "Print one JSON object instead of lines.")
        var json = false

        /// Runs every case, even after a failed one. Exits with 2 when a file of a case cannot be read. The order of
        /// the results is that of the cases. Cases without a `time` share the time of the run.
        func run() throws {
            let loaded = try options.loadConfig()
            let config = loaded.config
            let normalizer = try options.normalizer(for: config)
            let trials = RouteTrials(
                normalizer: normalizer, routes: loaded.routes.withoutSampling, vendors: config.sourceVendors)
            let run = try RouteTestRun(cases, for: config, by: trials, at: Date())
            try run.report(asJSON: json, hasColor: StandardOutput.hasColor) { print($0, terminator: "") }
        }
    }

    /// The same text as docs/reference/routes.schema.json.
    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema", abstract: "Print the JSON Schema of the config.",
            discussion:
                "Store it as routes.schema.json next to the config, which names it as its \"$schema\", for editors.")

        /// Reads no config.
        func run() { StandardOutput.print(ConfigSchema.text, terminator: "") }
    }
}
