import ArgumentParser
import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting

/// Split from `Routes.swift` for its size.
extension Routes {
    /// Exits with 1 when a case fails. Opens no queue. Each case runs through the gateway's own pipeline up to the
    /// decision. A failed case prints the expected and the actual routes.
    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Test which routes match payloads.",
            discussion: """
                CASES is a JSON array of objects: "name"; "payload", "event" or "file"; optionally "source" and "time"; \
                "expect", the names of the matching routes; optionally "expectDestinations". Sampling is ignored: a route \
                with a sample matches every event that it could.
                """)

        /// Files that cases name are relative to its folder. Bounded like a config file; its mistakes are reported
        /// with line and caret like those of a config.
        @Argument(help: "The file of cases.", completion: .file(extensions: ["json"]))
        var cases: String

        /// A config is required. Its secrets are not read.
        @OptionGroup var options: GatewayOptions

        /// For programs; the exit code is the same.
        @Flag(help: "Print one JSON object instead of lines.")
        var json = false

        /// Runs every case, also after a failed one. Exits with 2 when a file of a case cannot be read. The order of
        /// the results is that of the cases. Cases without a `time` share the time of the run.
        func run() throws {
            let loaded = try options.loadConfig()
            let config = loaded.config
            let normalizer = try options.normalizer(for: config)
            let trials = RouteTrials(
                normalizer: normalizer, routes: loaded.routes.withoutSampling, vendors: config.sourceVendors)
            let folder = cases.parentPath
            let results = try read(for: config).map { item in
                guard let result = RouteCaseResult(running: item, from: folder, by: trials, at: Date()) else {
                    throw refuse("\(cases): cannot read the file of the case \"\(item.name)\".")
                }
                return result
            }
            let failed = results.count { !$0.passed }
            if json {
                StandardOutput.print(String(decoding: RouteCaseResult.json(results), as: UTF8.self))
            } else {
                for result in results {
                    StandardOutput.print(result.text(hasColor: StandardOutput.hasColor), terminator: "")
                }
                StandardOutput.print("\(results.count) cases: \(results.count - failed) passed, \(failed) failed")
            }
            if failed > 0 { throw ExitCode.incomplete }
        }

        /// Throws all errors of the cases. `config`: the only routes and destinations that cases may expect.
        private func read(for config: GatewayConfig) throws -> [RouteCase] {
            guard let bytes = ConfigText.beginning(of: cases, upTo: ConfigBounds.bytes + 1, orPipe: true) else {
                throw refuse("Cannot read \(cases): it must hold a JSON array of cases.")
            }
            let text = ConfigText(name: cases, bytes: bytes)
            do throws(InvalidConfig) { return try RouteCase.read(text, for: config) } catch {
                throw ConfigRefusal(error, in: [text])
            }
        }
    }

    /// The same text as docs/reference/routes.schema.json.
    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the JSON Schema of the config.",
            discussion:
                "Store it as routes.schema.json next to the config, which names it as its \"$schema\", for editors.")

        /// Reads no config.
        func run() { StandardOutput.print(ConfigSchema.text, terminator: "") }
    }
}
