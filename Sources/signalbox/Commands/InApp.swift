import ArgumentParser
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxRouting

/// Groups the commands about in-app messages.
struct InApp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inapp", abstract: "Simulate in-app decisions without a gateway.", subcommands: [Simulate.self])

    /// Opens no queue and no connection. Prints nothing of a timeline that has a mistake. Decides with the same code
    /// as the gateway, under the policy `inapp` of the config. Time comes from the timeline only, so a run does not
    /// depend on the clock.
    struct Simulate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "simulate",
            abstract: "Simulate the decisions on a timeline of messages, triggers and outcomes.",
            discussion: """
                TIMELINE is NDJSON. Each line has \"at\", an RFC 3339 time, and one of \"message\" (with \"id\"), \
                \"withdraw\", \"trigger\", \"outcome\", \"slots\" and \"policy\". \"as\" names the offers of a trigger, an \
                outcome or slots; a later outcome selects them by \"offer\": that name, or \"last\". Equal timelines \
                give equal results.
                """)

        /// At most ``Timeline/Bounds/bytes`` and ``Timeline/Bounds/lines``; a longer timeline is a mistake.
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
            let timeline = try InputTexts.timeline(timeline, try options.optionalConfig().config.inapp)
            var output = StandardOutput()
            defer { output.flush() }
            var steps: [SimulationStep] = []
            Simulation.run(timeline) { step in
                guard json else { return steps.append(step.brief) }
                if step.isDecision { output.write(step.json + [UInt8(ascii: "\n")]) }
            }
            if !json { output.write(Array(SimulationStep.table(steps).utf8)) }
        }
    }
}
