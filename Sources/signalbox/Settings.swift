import ArgumentParser
import Foundation
import Logging
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxServer

/// Settings of several commands: flag, else environment, else config file, else default. The environment is read at
/// each use.
struct GatewayOptions: ParsableArguments {
    /// Nil: the environment, then the default. Relative to the working directory.
    @Option(
        name: .shortAndLong, help: "The config file (SIGNALBOX_CONFIG; default: routes.json).",
        completion: .file(extensions: ["json"]))
    var config: String?

    /// Wins over the config, so one config can serve several queues.
    @Option(help: "Data directory with the queue (SIGNALBOX_DATA_DIR; default: data).", completion: .directory)
    var dataDir: String?

    /// Wins over the config. Never has a password: every user of the machine sees the command line.
    @Option(help: "Store: sqlite, or a postgres:// URL without a password (SIGNALBOX_STORE; default: sqlite).")
    var store: String?

    @OptionGroup var log: LogOptions

    /// The file need not exist.
    var configPath: String { config ?? variable("CONFIG") ?? "routes.json" }

    /// True if neither flag nor environment names a config; then the default file need not exist.
    var isConfigImplied: Bool { config == nil && variable("CONFIG") == nil }

    /// True if no config is named and the default file does not exist.
    var isConfigMissing: Bool { isConfigImplied && configPath.lookupError == ENOENT }

    /// `file`: the value of the config, which has the lowest precedence before the default.
    func dataDirectory(file: String?) -> String { dataDir ?? variable("DATA_DIR") ?? file ?? "data" }

    /// The store that flag or environment names; nil if neither does. ``validate()`` has checked the text.
    private var namedStore: GatewayConfig.Store? {
        (store ?? variable("STORE")).flatMap { text in try? GatewayConfig.Store(text: text) }
    }

    /// Whether flag or environment name the store.
    var namesStore: Bool { namedStore != nil }

    /// The store in use. Password and schema of the config also count when flag or environment name the same URL.
    func usedStore(file: GatewayConfig.Store?) -> GatewayConfig.Store {
        guard let named = namedStore, named.url != file?.url else { return file ?? GatewayConfig.Store() }
        return named
    }

    /// The option that chooses the queue, and its value: the URL of the database, or the path of the data directory
    /// without links, which is independent of the working directory.
    func queue(of config: GatewayConfig) -> (option: String, value: String) {
        if let url = usedStore(file: config.gateway.store).url { return ("store", url) }
        let directory = dataDirectory(file: config.gateway.dataDirectory)
        return ("data-dir", URL(fileURLWithPath: directory).resolvingSymlinksInPath().path)
    }

    /// The first of the flag, the environment and the config that is set. Not parsed yet.
    func listenAddress(flag: String?, file: String?) -> String {
        flag ?? variable("LISTEN") ?? file ?? "127.0.0.1:8080"
    }

    /// The settings with their origins. `file`: the config, which may be the empty one.
    func settings(_ file: GatewayConfig) -> [EffectiveConfig.Setting] {
        let listen = file.gateway.listen.http
        return [
            .init("config", config, variable("CONFIG"), nil, else: "routes.json"),
            .init("data-dir", dataDir, variable("DATA_DIR"), file.gateway.dataDirectory, else: "data"),
            .init("store", words(of: store), words(of: variable("STORE")), file.gateway.store?.words, else: "sqlite"),
            .init("listen", nil, variable("LISTEN"), listen, else: "127.0.0.1:8080"),
            .init("log-level", log.logLevel?.rawValue, variable("LOG_LEVEL"), nil, else: "notice"),
            .init("log-format", log.logFormat?.rawValue, variable("LOG_FORMAT"), nil, else: "text"),
        ]
    }

    /// A store without its user.
    private func words(of text: String?) -> String? {
        text.flatMap { text in try? GatewayConfig.Store(text: text) }?.words
    }

    /// ArgumentParser calls it before the command runs.
    func validate() throws {
        for (name, text) in [("--store", store), ("SIGNALBOX_STORE", variable("STORE"))] {
            guard let text else { continue }
            do throws(GatewayConfig.Store.InvalidStore) { _ = try GatewayConfig.Store(text: text) } catch {
                // Without the text, which may have a password.
                throw ValidationError("Invalid \(name): \(error.problem).")
            }
        }
    }
}

/// Settings of the log: flag, else environment, else default. The config has no such settings.
struct LogOptions: ParsableArguments {
    /// The log levels in words.
    private static let levels = "trace, debug, info, notice, warning, error or critical"

    @Option(
        help: "Minimum log level: \(LogOptions.levels) (SIGNALBOX_LOG_LEVEL).",
        transform: argument({ Logger.Level(rawValue: $0) }) { "Unknown log level \($0): write \(LogOptions.levels)." })
    /// Nil: the environment, then notice.
    var logLevel: Logger.Level?

    @Option(
        help: "Form of log lines: text, or json with an object in each line (SIGNALBOX_LOG_FORMAT; default: text).",
        transform: argument({ LogFormat(rawValue: $0) }) { "Unknown log format \($0): write text or json." })
    /// Nil: the environment, then text.
    var logFormat: LogFormat?

    /// ArgumentParser calls it before the command runs.
    func validate() throws {
        if let text = variable("LOG_LEVEL"), Logger.Level(rawValue: text) == nil {
            throw ValidationError("SIGNALBOX_LOG_LEVEL is not a log level: \(text). Set it to \(Self.levels).")
        }
        if let text = variable("LOG_FORMAT"), LogFormat(rawValue: text) == nil {
            throw ValidationError("SIGNALBOX_LOG_FORMAT is not a log format: \(text). Set it to text or json.")
        }
    }

    /// The form of everything that a running command writes on standard error.
    var usedLogFormat: LogFormat { logFormat ?? variable("LOG_FORMAT").flatMap { LogFormat(rawValue: $0) } ?? .text }

    /// Logs on standard error, so that standard output has results only. The default level is notice.
    func makeLogger() -> Logger {
        let format = usedLogFormat
        var logger = Logger(label: "signalbox") { _ in LineLogHandler(format, write: StandardError.write) }
        logger.logLevel = logLevel ?? variable("LOG_LEVEL").flatMap { Logger.Level(rawValue: $0) } ?? .notice
        return logger
    }
}

/// A variable of the environment, by its name without the prefix `SIGNALBOX_`. Nil for one that is not set, or empty.
private func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment["SIGNALBOX_" + name].flatMap { $0.isEmpty ? nil : $0 }
}

/// The transformation of an option: throws a `ValidationError`, which ArgumentParser prints with the usage, for a text
/// that `read` does not accept. `words`: the error for such a text.
func argument<Value>(
    _ read: @escaping @Sendable (String) -> Value?, orElse words: @escaping @Sendable (String) -> String
) -> @Sendable (String) throws -> Value {
    { text in
        guard let value = read(text) else { throw ValidationError(words(text)) }
        return value
    }
}

/// Runs a check of the command line. ArgumentParser prints its sentence with the usage.
func checkUsage(_ check: () throws -> Void) throws {
    do { try check() } catch CommandFailure.refused(let sentence) {
        throw ValidationError(sentence)
    } catch ReplayError.refused(let sentence) {
        throw ValidationError(sentence)
    }
}

/// Rejects a `--limit` below 1, with which a list would look empty. ArgumentParser prints the sentence with the usage.
func checkLimit(_ limit: Int) throws {
    guard limit >= 1 else { throw ValidationError("Invalid --limit \(limit): use 1 or more.") }
}

extension SourceName {
    /// A name from the command line. Throws a `ValidationError` for a name that ``NameRule`` rejects. ArgumentParser
    /// prints the error with the usage.
    init(argument: String) throws {
        guard NameRule.allows(argument) else { throw ValidationError("Invalid name \(argument): \(NameRule.words).") }
        self.init(argument)
    }
}
