import ArgumentParser
import SignalboxCommands
import SignalboxConfig
import SignalboxEgress
import SignalboxPostgres
import SignalboxRouting
import SignalboxSQLite
import SignalboxStore

/// Groups the commands about the store as a whole.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Check, migrate and copy the store.",
        subcommands: [Check.self, Migrate.self, Copy.self])

    /// Exits with 1 when the tables are of another version, or the audit found something. Works while gateways run.
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check that the tables fit this version, and audit the store.",
            discussion: "Writes nothing. The audit is that of \"signalbox audit\".")

        /// Only the location of the store is read from the config, which may be missing.
        @OptionGroup var options: GatewayOptions
        @Flag(help: "Print the result as one JSON object.") var json = false

        /// Throws ``StoreError`` if the store is missing or cannot be reached.
        func run() async throws {
            let config = try options.optionalConfig().config
            let target = try options.database(of: config)
            let directory = options.dataDirectory(file: config.gateway.dataDirectory)
            let tables = try target.map(PostgresTables.status(of:)) ?? SQLiteQueue.tables(in: directory)
            let audit = tables.fits ? try await options.existingQueue(config).audit() : nil
            let check = StoreCheck(tables, audit)
            if json { print(check.json) } else { check.lines.forEach { print($0) } }
            for line in json ? [] : check.findings { StandardError.warn(line) }
            guard check.isRight else { throw ExitCode.incomplete }
            if !json { print("Ledger consistent.") }
        }
    }

    /// Needs the lock of the data directory for SQLite. Gateways on PostgreSQL may continue meanwhile.
    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "migrate", abstract: "Apply the migrations that this version needs.",
            discussion: """
                With PostgreSQL, gateways may run meanwhile. With SQLite, stop the gateway of the data directory first.
                """)

        /// Only the location of the store is read from the config, which may be missing.
        @OptionGroup var options: GatewayOptions
        @Flag(help: "Print the names of applied migrations as one JSON object.") var json = false

        /// Throws ``StoreError/inUse(path:by:)`` for the data directory of a running gateway.
        func run() async throws {
            let config = try options.optionalConfig().config
            let applied: [String]
            if let target = try options.database(of: config) {
                applied = try PostgresTables.migrate(target)
            } else {
                let path = options.dataDirectory(file: config.gateway.dataDirectory)
                // Before the lock, which would make a missing directory.
                _ = try SQLiteQueue.tables(in: path)
                applied = try SQLiteQueue.migrate(try DataDirectory(path: path))
            }
            print(StoreCheck.migrated(applied, asJSON: json))
        }
    }

    /// Holds the lock of the data directory, so that no gateway starts on the queue meanwhile. Does not change the
    /// queue. A copy that was interrupted continues when the command is run again.
    struct Copy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "copy", abstract: "Copy the queue of a data directory into an empty PostgreSQL database.",
            discussion: """
                Stop the gateway first. Run the command again after an interruption: it continues. The password of the \
                database is that of gateway.store, PGPASSWORD or PGPASSFILE. Copy DIR/media to media.directory yourself.
                """)

        /// Gives the password of the database.
        @OptionGroup var options: GatewayOptions
        @Option(
            name: .customLong("from"), help: "Data directory with the queue (default: --data-dir).",
            completion: .directory)
        var source: String?
        @Option(
            name: .customLong("to"), help: "postgres:// URL of the database, without a password (default: --store).")
        var target: String?

        /// ArgumentParser calls it before the command runs.
        func validate() throws {
            guard let target else { return }
            do throws(GatewayConfig.Store.InvalidStore) { _ = try GatewayConfig.Store(text: target) } catch {
                // Without the text, which may have a password.
                throw ValidationError("Invalid --to: \(error.problem).")
            }
        }

        /// Exits with 1 when the audits differ or found something. Throws ``StoreError`` for each refusal.
        func run() async throws {
            var options = options
            options.store = target ?? options.store
            let config = try options.optionalConfig().config
            guard let target = try options.database(of: config) else {
                throw CommandFailure.refused(
                    "No database is named. Name one with --to postgres://… or in gateway.store.")
            }
            let path = source ?? options.dataDirectory(file: config.gateway.dataDirectory)
            // Before the lock, which would make a missing directory.
            _ = try SQLiteQueue.tables(in: path)
            let directory = try DataDirectory(path: path)
            defer { withExtendedLifetime(directory) {} }
            let queue = try SQLiteQueue.existing(in: path)
            let origin = try queue.copySource()
            let copy = try PostgresCopy(target, of: origin)
            var progress = CopyProgress(isResumed: copy.isResumed) { StandardError.write($0) }
            try copy.run(read: queue.copiedRows) { progress.show($0, $1) }
            progress.end()
            try copy.finish(tokenKey: try directory.key("token.key") { randomBytes(32) })
            let result = StoreCopyResult(source: try await queue.audit(), target: try await copy.audit())
            result.findings.forEach(StandardError.warn)
            guard try queue.copySource() == origin, result.isEqual else {
                throw CommandFailure.incomplete(result.refusal)
            }
            try copy.complete()
            result.lines.forEach { print($0) }
            print("Copied. Do not start a gateway on \(path) again: it would deliver the same events.")
            guard result.isRight else { throw ExitCode.incomplete }
        }
    }
}
