import ArgumentParser
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway

/// None of the subcommands opens the queue. `check` is the default, so `signalbox routes` checks the config.
struct Routes: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes",
        abstract: "Check, test and describe the configuration.", subcommands: [Check.self, Test.self, Schema.self],
        defaultSubcommand: Check.self)

    /// Reads no secrets, so it works without the environment of the gateway. Exits with 2 when the config cannot be
    /// used, and with `--strict` also for warnings.
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check a config and report each error with its line.",
            discussion: "Includes the files in the folder \(ConfigFiles.folderName) next to it.")

        /// Nil: the file of `--config`.
        @Argument(help: "The config file, instead of --config.", completion: .file(extensions: ["json"]))
        var file: String?

        /// Names the config unless the argument does. No other setting is used.
        @OptionGroup var options: GatewayOptions

        /// Changes the exit code only.
        @Flag(help: "Treat warnings as errors.")
        var strict = false
        /// Replaces the report on standard error.
        @Flag(help: "Print the mistakes and the counts as one JSON object.") var json = false

        /// Rejects two names of the config.
        func validate() throws {
            if let file, let config = options.config {
                throw ValidationError("The config is named twice, as \(file) and as \(config): leave one of them out.")
            }
        }

        /// Prints all mistakes at once, then one line with counts if the config can be used. The report and the
        /// warnings are on standard error, the counts on standard output. Throws ``ExitCode/unusable`` for a config
        /// that cannot be used.
        func run() throws {
            let file = file ?? options.configPath
            let check = ConfigCheck(try ConfigFiles(file, orPipe: true).texts)
            if json {
                print(Results.check(check))
            } else {
                StandardError.write(check.report(hasColor: StandardError.hasColor))
            }
            guard check.config != nil, !strict || check.mistakes.isEmpty else { throw ExitCode.unusable }
            if !json { print("\(file): \(check.words)") }
        }
    }
}
