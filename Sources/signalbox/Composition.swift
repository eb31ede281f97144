import ArgumentParser
import Foundation
import Logging
import SignalboxCommands
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxInApp
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore

/// The composition root of all commands.
extension GatewayOptions {
    /// Reads and checks the config. Throws all errors of the config at once.
    func loadConfig() throws(ConfigRefusal) -> RoutedConfig { try RoutedConfig(path: configPath) }

    /// The config; an empty one if the command line names none and the default file does not exist. For commands that
    /// work without a config. Throws for a config that exists and has errors.
    func optionalConfig() throws -> RoutedConfig {
        isConfigMissing ? RoutedConfig() : try loadConfig()
    }

    /// Reads the secrets of the config, with the variables of this process.
    var secretResolver: SecretResolver { SecretResolver(path: configPath) }

    /// A normaliser without a queue. `mediaStatus`: of files, which are not downloaded; routing decisions need the
    /// status that they have in the gateway. Reads the key of the data directory, and creates none.
    func normalizer(for config: GatewayConfig, mediaStatus: Media.Status = .skipped) throws -> Normalizer {
        let file = dataDirectory(file: config.gateway.dataDirectory) + "/token.key"
        // The gateway's own key hashes tokens as the gateway does. Without it, hashes last for this run.
        let key = FileManager.default.contents(atPath: file).map { Array($0) } ?? randomBytes(32)
        return Normalizer(
            chain: config.vendorChain, gateway: config.gateway.name, tokens: TokenHash(key: key),
            registersMessages: config.inapp.registersPayloads, mediaStatus: mediaStatus, actions: config.actions,
            categories: config.categories.statics)
    }

    /// Opens the queue next to a running gateway. Does not lock the data directory. Throws
    /// ``StoreError/missing(path:)`` when there is no queue.
    func existingQueue(_ config: GatewayConfig) throws(StoreError) -> any Store {
        try SQLiteQueue.existing(in: dataDirectory(file: config.gateway.dataDirectory))
    }

    /// The queue that the options name, next to a running gateway. For commands that need no value of the config other
    /// than the data directory.
    func queue() throws -> any Store { try existingQueue(try optionalConfig().config) }

    /// Opens the data directory and puts a gateway together. The directory holds the lock while it is alive. Throws
    /// ``StoreError/inUse(path:by:)`` while another process holds the lock, and ``ConfigRefusal`` for secrets that
    /// cannot be read. The caller keeps the directory alive as long as the gateway runs. `acceptsLoss`: opens a
    /// queue that is missing, replaced or behind its record. `asJSON`: the built-in inbox prints events as JSON.
    func open(
        _ loaded: RoutedConfig, acceptsLoss: Bool = false, asJSON: Bool = false, logger: Logger
    ) throws -> (DataDirectory, Gateway) {
        // A process that was killed keeps the lock until the kernel has freed its memory.
        let directory = try DataDirectory(
            path: dataDirectory(file: loaded.config.gateway.dataDirectory), patience: .seconds(3))
        // Before the key: a key implies that there was a queue.
        let queue = try SQLiteQueue(of: directory, acceptsLoss: acceptsLoss)
        let key = try directory.key("token.key") { randomBytes(32) }
        let gateway = Gateway(
            queue, media: MediaStore(directory: directory.path + "/media"), tokenKey: key,
            try ResolvedConfig(loaded, by: secretResolver.reading(loaded.config)), version: Version.current,
            inbox: .terminal(asJSON: asJSON), logger: logger
        )
        return (directory, gateway)
    }
}

extension InboxSender {
    /// Shows events on standard output, and never waits for it. Used by the inbox of `serve` and `replay`.
    /// `Terminal.finish()` writes the rest before the command ends.
    static func terminal(asJSON: Bool) -> InboxSender {
        InboxSender(color: StandardOutput.hasColor, asJSON: asJSON) { Terminal.show($0) }
    }
}

extension Diagnostics {
    /// Redraws its progress line on a terminal only. Each text is written as a whole.
    static let standardError = Diagnostics(canRedraw: StandardError.canRedraw) { StandardError.write($0) }
}
