import ArgumentParser
import Configuration
import Foundation
import Logging
import SignalboxNotification

/// What several commands can be told: by flag, else by environment, else by the config file, else by default.
struct GatewayOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: "The config file (SIGNALBOX_CONFIG; default: routes.json).",
        completion: .file(extensions: ["json"]))
    var config: String?

    @Option(help: "Where the queue is kept (SIGNALBOX_DATA_DIR; default: data).", completion: .directory)
    var dataDir: String?

    @Option(
        help: "Least severe messages to log: trace, debug, info, notice, warning, error (SIGNALBOX_LOG_LEVEL).",
        transform: { text in
            guard let level = Logger.Level(rawValue: text) else {
                throw ValidationError("There is no log level \(text).")
            }
            return level
        })
    var logLevel: Logger.Level?

    private var environment: ConfigReader {
        ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "signalbox")
    }

    /// A setting of the environment; one that is empty counts as not set.
    private func variable(_ key: ConfigKey) -> String? {
        environment.string(forKey: key).flatMap { $0.isEmpty ? nil : $0 }
    }

    var configPath: String { config ?? variable("config") ?? "routes.json" }

    /// True when nobody said which config to use, so that none need exist.
    var isConfigImplied: Bool { config == nil && variable("config") == nil }

    func dataDirectory(file: String?) -> String { dataDir ?? variable("dataDir") ?? file ?? "data" }

    func listenAddress(flag: String?, file: String?) -> String {
        flag ?? variable("listen") ?? file ?? "127.0.0.1:8080"
    }

    func validate() throws {
        guard let text = variable("logLevel"), Logger.Level(rawValue: text) == nil else { return }
        throw ValidationError("SIGNALBOX_LOG_LEVEL is \(text), which is no log level.")
    }

    func makeLogger() -> Logger {
        var logger = Logger(label: "signalbox") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel =
            logLevel ?? variable("logLevel").flatMap { Logger.Level(rawValue: $0) } ?? .notice
        return logger
    }
}

extension SourceName {
    /// A name from the command line.
    init(argument: String) throws {
        guard NameRule.allows(argument) else { throw ValidationError("\(argument) is no name: \(NameRule.words).") }
        self.init(argument)
    }
}
