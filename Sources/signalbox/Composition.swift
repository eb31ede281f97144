import ArgumentParser
import Foundation
import Logging
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore

/// The composition root of all commands.
extension GatewayOptions {
    /// Reads and checks the config.
    func loadConfig() throws(ConfigRefusal) -> RoutedConfig { try RoutedConfig(path: configPath) }

    /// The config; an empty one if the command line names none and the default file does not exist.
    func optionalConfig() throws -> RoutedConfig {
        let isMissing = isConfigImplied && !FileManager.default.fileExists(atPath: configPath)
        return isMissing ? RoutedConfig() : try loadConfig()
    }

    /// Reads the secrets of the config.
    var secretResolver: SecretResolver { SecretResolver(path: configPath) }

    /// A normaliser without a queue. `mediaStatus`: of files, which are not downloaded; routing decisions need the
    /// status that they have in the gateway.
    func normalizer(for config: GatewayConfig, mediaStatus: Media.Status = .skipped) throws -> Normalizer {
        let file = dataDirectory(file: config.gateway.dataDirectory) + "/token.key"
        // The gateway's own key hashes tokens as the gateway does. Without it, hashes last for this run.
        let key = FileManager.default.contents(atPath: file).map { Array($0) } ?? randomBytes(32)
        return Normalizer(
            chain: config.vendorChain, gateway: config.gateway.name, tokens: TokenHash(key: key),
            mediaStatus: mediaStatus, actions: config.actions, categories: config.categories.statics)
    }

    /// Opens the queue next to a running gateway.
    func existingQueue(_ config: GatewayConfig) throws(StoreError) -> any Store {
        try SQLiteQueue.existing(in: dataDirectory(file: config.gateway.dataDirectory))
    }

    /// The queue that the options name, next to a running gateway.
    func queue() throws -> any Store { try existingQueue(try optionalConfig().config) }

    /// Opens the data directory and puts a gateway together. The directory holds the lock while it is alive.
    func open(
        _ loaded: RoutedConfig, acceptsLoss: Bool = false, logger: Logger
    ) throws -> (DataDirectory, Gateway) {
        let directory = try DataDirectory(path: dataDirectory(file: loaded.config.gateway.dataDirectory))
        // Before the key: a key implies that there was a queue.
        let queue = try SQLiteQueue(of: directory, acceptsLoss: acceptsLoss)
        let key = try directory.key("token.key") { randomBytes(32) }
        let gateway = Gateway(
            queue, media: MediaStore(directory: directory.path + "/media"), tokenKey: key,
            try ResolvedConfig(loaded, by: secretResolver), version: Version.current, inbox: .terminal, logger: logger
        )
        return (directory, gateway)
    }
}

extension InboxSender {
    /// Shows events on standard output, and never waits for it.
    static var terminal: InboxSender { InboxSender(color: StandardOutput.hasColor) { Terminal.show($0) } }
}

extension Diagnostics {
    static let standardError = Diagnostics(canRedraw: StandardError.canRedraw) { StandardError.write($0) }
}
