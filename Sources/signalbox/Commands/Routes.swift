import ArgumentParser
import SignalboxRouting

struct Routes: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look after the config.", subcommands: [Check.self], defaultSubcommand: Check.self)

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say what is wrong in a config, each mistake with its line.")

        @Argument(help: "The config file.", completion: .file(extensions: ["json"]))
        var file = "routes.json"

        func run() throws {
            let config = try ConfigFile.load(file)
            _ = try ConfigFile.chain(config)
            print(
                "\(file): \(config.routes.routes.count) routes, \(config.destinations.count) destinations, "
                    + "\(config.sources.count) sources: nothing wrong")
        }
    }
}
