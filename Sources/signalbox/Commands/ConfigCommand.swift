import ArgumentParser
import SignalboxCommands
import SignalboxRouting

/// Groups the commands that describe the config.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show the effective settings and config.", subcommands: [Show.self])

    /// Reads no secrets and opens no queue.
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show each setting and option with its origin; secrets are hidden.",
            discussion: """
                References such as env:NAME are shown, secrets are not. Each value of routes.json and routes.d has its \
                JSON Pointer; options that no file sets follow with their defaults.
                """)

        @OptionGroup var options: GatewayOptions
        @Flag(help: "Print one JSON object.") var json = false

        /// Exits with 2 for a config with errors, which it reports as `routes check` does.
        func run() throws {
            let loaded = try options.optionalConfig()
            let config = EffectiveConfig(options.settings(loaded.config), loaded.files)
            if json { return print(config.json) }
            for line in config.lines { print(line) }
        }
    }
}
