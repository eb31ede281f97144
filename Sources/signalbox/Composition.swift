import Foundation
import Logging
import SignalboxCommands
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxInApp
import SignalboxNotification
import SignalboxPostgres
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore
import Synchronization

/// The composition root of all commands.
extension GatewayOptions {
    /// Reads and checks the config, which may be a pipe: for the start of a command. Throws all errors of the config at
    /// once.
    func loadConfig() throws(ConfigRefusal) -> RoutedConfig { try RoutedConfig(path: configPath, orPipe: true) }

    /// The config; an empty one if the command line names none and the default file does not exist. For commands that
    /// work without a config. Throws for a config that exists and has errors.
    func optionalConfig() throws -> RoutedConfig { isConfigMissing ? RoutedConfig() : try loadConfig() }

    /// Reads the secrets of the config, with the variables of this process.
    var secretResolver: SecretResolver { SecretResolver(path: configPath) }

    /// A normaliser without a queue. `mediaStatus`: of files, which are not downloaded; routing decisions need the
    /// status that they have in the gateway. Creates no key.
    func normalizer(for config: GatewayConfig, mediaStatus: Media.Status = .skipped) throws -> Normalizer {
        // The gateway's own key hashes tokens as the gateway does. Without it, hashes last for this run.
        let key = existingTokenKey(config) ?? randomBytes(TokenKeyFile.size)
        return Normalizer(
            chain: config.vendorChain, gateway: config.gateway.name, tokens: TokenHash(key: key),
            registersMessages: config.inapp.registersPayloads, mediaStatus: mediaStatus, actions: config.actions,
            categories: config.categories.statics)
    }

    /// The key of the database or of the data directory; nil if there is none. Warns of a key that cannot be read.
    private func existingTokenKey(_ config: GatewayConfig) -> [UInt8]? {
        do {
            if let target = try database(of: config) { return try PostgresTables.tokenKey(of: target) }
        } catch {
            let reason = (error as? ConfigRefusal)?.problems.joined(separator: " ") ?? "\(error)"
            StandardError.warn(
                "The gateways' key cannot be read, so hashes of device tokens differ from theirs. \(reason)")
            return nil
        }
        return TokenKeyFile.key(in: dataDirectory(file: config.gateway.dataDirectory))
    }

    /// Opens the queue next to running gateways. Does not lock the data directory. Throws
    /// ``StoreError/missing(path:)`` when there is no queue.
    func existingQueue(_ config: GatewayConfig) throws -> any Store {
        guard let target = try database(of: config) else {
            return try SQLiteQueue.existing(in: dataDirectory(file: config.gateway.dataDirectory))
        }
        return try PostgresStore(target, tables: .current)
    }

    /// The database of the queue; nil for SQLite in the data directory. The only place that chooses the store. Throws
    /// ``ConfigRefusal`` for a password that cannot be read.
    func database(of config: GatewayConfig) throws -> PostgresTarget? {
        let store = usedStore(file: config.gateway.store)
        guard let url = store.url else { return nil }
        let resolver = try secretResolver.reading(config)
        let last = Mutex(try resolver.password(of: store))
        return PostgresTarget(url: url, schema: store.schema) {
            // A file of secrets is read for each connection. While it is replaced, the former password still counts.
            last.withLock { last in
                if let password = try? resolver.password(of: store) { last = password }
                return last
            }
        }
    }
}

/// The parts of a gateway whose store may have to wait for its database.
struct GatewayOpening: Sendable {
    /// Locked while it is alive: each gateway has a data directory of its own, even on a shared database.
    let directory: DataDirectory
    /// Nil for SQLite.
    let database: PostgresTarget?
    private let resolved: ResolvedConfig
    private let asJSON: Bool
    private let logger: Logger

    /// Locks the data directory. The caller keeps ``directory`` alive as long as the gateway runs. Throws
    /// ``StoreError/inUse(path:by:)`` while another process holds the lock, and ``ConfigRefusal`` for secrets that
    /// cannot be read. `asJSON`: the built-in inbox prints events as JSON.
    init(_ options: GatewayOptions, _ loaded: RoutedConfig, asJSON: Bool = false, logger: Logger) throws {
        // A process that was killed keeps the lock until the kernel has freed its memory.
        directory = try DataDirectory(
            path: options.dataDirectory(file: loaded.config.gateway.dataDirectory), patience: .seconds(3))
        database = try options.database(of: loaded.config)
        let secrets = options.secretResolver.locating(in: loaded.files)
        resolved = try ResolvedConfig(loaded, by: secrets.reading(loaded.config))
        (self.asJSON, self.logger) = (asJSON, logger)
    }

    /// Opens the store, and puts a gateway together. Blocks. `acceptsLoss`: opens a queue that is missing, replaced or
    /// behind its record.
    func open(acceptsLoss: Bool) throws -> Gateway {
        if let database {
            let store = try PostgresStore(database)
            reportFormerQueue(database)
            return gateway(store, tokenKey: store.tokenKey)
        }
        // Before the key: a key implies that there was a queue.
        let queue = try SQLiteQueue(of: directory, acceptsLoss: acceptsLoss)
        return gateway(queue, tokenKey: try directory.key("token.key") { randomBytes(32) })
    }

    /// Whether a later start may open the queue although this one failed: the disk was full or failing, or another
    /// process locked the file. False for a database, and for files that this user may not read and write.
    func mayPass(_ error: StoreError) -> Bool {
        guard database == nil, case .unavailable = error else { return false }
        return SQLiteQueue.denial(of: directory.path + "/queue.db") == nil
    }

    /// Warns of deliveries in the data directory, which a gateway on a database does not send, unless they were copied.
    private func reportFormerQueue(_ database: PostgresTarget) {
        let path = directory.path + "/queue.db"
        guard FileManager.default.fileExists(atPath: path) else { return }
        do throws(StoreError) {
            let queue = try SQLiteQueue.existing(in: directory.path)
            let waiting = try queue.waitingCount()
            guard waiting > 0, try !PostgresTables.hasCopy(of: queue.copySource(), in: database) else { return }
            logger.warning(
                "Deliveries wait in the data directory, and are not sent; signalbox store copy moves them.",
                metadata: ["queue": "\(path)", "waiting": "\(waiting)"])
        } catch {
            logger.warning(
                "Reading the former queue failed; its deliveries are not sent.", metadata: ["error": "\(error)"])
        }
    }

    /// Logs when the database can no longer be reached, and when it can be reached again.
    func reportReach() {
        database?.reach.onChange { [logger] reason in
            if let reason {
                logger.error("Database unreachable; answering 503.", metadata: ["error": "\(reason)"])
            } else {
                logger.notice("Database reachable again.")
            }
        }
    }

    /// A gateway that accepts nothing, until the store can be opened. `reason`: a clause.
    func standIn(for database: PostgresTarget, because reason: String) -> Gateway {
        let store = PostgresStore(insteadOf: database, reason: reason)
        // A random key: the stand-in stores nothing, so no hash under it outlasts the process.
        return gateway(store, tokenKey: randomBytes(32))
    }

    /// Of the data directory, or configured. Only gateways on one database share a directory.
    private var media: MediaStore {
        resolved.config.media.directory.map { MediaStore(directory: $0, isShared: database != nil, isRemote: true) }
            ?? MediaStore(directory: directory.path + "/media")
    }

    private func gateway(_ store: any Store, tokenKey: [UInt8]) -> Gateway {
        Gateway(
            store, media: media, tokenKey: tokenKey, resolved,
            version: Version.current, inbox: .terminal(asJSON: asJSON), logger: logger)
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
