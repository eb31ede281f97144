import ArgumentParser
import SignalboxConfig
import SignalboxRouting

struct Routes: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look after the config.", subcommands: [Check.self, Test.self, Schema.self],
        defaultSubcommand: Check.self)

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say what is wrong in a config, each mistake with its line.",
            discussion: "Files in the folder \(ConfigFile.folder) beside it are checked with it.")

        @Argument(help: "The config file, in place of --config.", completion: .file(extensions: ["json"]))
        var file: String?

        @OptionGroup var options: GatewayOptions

        @Flag(help: "Take warnings for errors.")
        var strict = false

        func validate() throws {
            if let file, let config = options.config {
                throw ValidationError("The config is named twice, as \(file) and as \(config): leave one of them out.")
            }
        }

        func run() throws {
            let file = file ?? options.configPath
            let texts = try orRefuse { () throws(ConfigRefusal) in try ConfigFile.texts(file) }
            let report = ConfigReport(of: texts, hasColor: StandardError.hasColor)
            let found: (config: GatewayConfig?, mistakes: [ConfigMistake])
            do throws(InvalidConfig) {
                let config = try ConfigFile.read(texts, from: file).config
                found = (config, config.warnings)
            } catch {
                found = (nil, error.mistakes)
            }
            if !found.mistakes.isEmpty {
                StandardError.write(report.text(of: found.mistakes) + report.summary(of: found.mistakes))
            }
            guard let config = found.config, !strict || found.mistakes.isEmpty else { throw ExitCode.unusable }
            _ = try orRefuse { () throws(ConfigRefusal) in try ConfigFile.chain(config) }
            StandardOutput.print(
                "\(file): \(config.routes.count) routes, \(config.destinations.count) destinations, "
                    + "\(config.sources.count) sources: \(found.mistakes.isEmpty ? "nothing wrong" : "can be used")")
        }
    }
}
