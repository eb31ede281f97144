import ArgumentParser
import SignalboxConfig
import SignalboxGateway
import SignalboxInApp
import SignalboxRouting

/// Groups the commands about in-app messages.
struct InApp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inapp", abstract: "Decide in-app messages without a gateway.", subcommands: [Simulate.self])

    /// Opens no queue and no connection. Prints nothing of a timeline that has a mistake. Decides with the same code
    /// as the gateway, under the policy `inapp` of the config. Time comes from the timeline only, so a run does not
    /// depend on the clock.
    struct Simulate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Decide a timeline of messages, triggers and outcomes.",
            discussion: """
                TIMELINE is NDJSON. Each line has \"at\", an RFC 3339 time, and one of \"message\" (with \"id\"), \
                \"withdraw\", \"trigger\", \"outcome\", \"slots\" and \"policy\". \"as\" names the offers of a trigger, an \
                outcome or slots; \"offer\" of an outcome is such a name, or \"last\". Equal timelines give equal \
                results.
                """)

        /// At most ``Timeline/Bounds/bytes`` and ``Timeline/Bounds/lines``; a longer one is a mistake.
        @Argument(help: "The timeline; - is standard input.", completion: .file(extensions: ["ndjson"]))
        var timeline: String

        /// Only `inapp` of the config applies. Without a config, the defaults do.
        @OptionGroup var options: GatewayOptions

        /// Steps that decide nothing, such as a registration, are left out.
        @Flag(help: "Print one JSON object per decision instead of a table.")
        var json = false

        /// Exits with 2 for a timeline with mistakes. The table needs all steps to size its columns; JSON is written
        /// step by step.
        func run() throws {
            let policy = try options.optionalConfig().config.inapp
            let timeline = try read(policy)
            var output = StandardOutput()
            defer { output.flush() }
            var steps: [SimulationStep] = []
            Simulation.run(timeline) { step in
                guard json else { return steps.append(step.brief) }
                if step.isDecision { output.write(step.json + [UInt8(ascii: "\n")]) }
            }
            if !json { output.write(Array(SimulationStep.table(steps).utf8)) }
        }

        /// Writes every mistake of the timeline on standard error and throws ``ExitCode/unusable``.
        private func read(_ policy: Policy) throws -> Timeline {
            let files = InputFiles([timeline])
            var bytes: [UInt8] = []
            var input = try files.open(0)
            while try input.read({ bytes.append(contentsOf: $0) }), bytes.count <= Timeline.Bounds.bytes {}
            do throws(InvalidTimeline) {
                return try Timeline(bytes, policy: policy)
            } catch {
                let lines = error.faults.map { $0.text(in: files.name(of: 0)) + "\n" }.joined()
                StandardError.write(lines + (error.more > 0 ? "and \(error.more) more\n" : ""))
                throw ExitCode.unusable
            }
        }
    }
}
