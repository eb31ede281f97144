import ArgumentParser
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxPostgres
import SignalboxRouting
import SignalboxStore

/// Groups the commands about the store as a whole.
struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Check the store, and prepare it for this version.",
        subcommands: [Check.self, Migrate.self])

    /// Exits with 1 for a ledger that is not consistent, and with 2 for a store that this version cannot use.
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check that the store can be used, and that its ledger is consistent.",
            discussion: "Changes nothing. Also while gateways run.")

        /// Names the store. The config is optional.
        @OptionGroup var options: GatewayOptions

        /// One line for the tables, one for the ledger. Prints the findings of the audit on standard error.
        func run() async throws {
            let config = try options.optionalConfig().config
            if let target = try options.database(of: config) {
                let report = try PostgresTables.report(target)
                print("Tables of \(report.place): \(report.words).")
            }
            let audit = try await options.existingQueue(config).audit()
            for line in audit.findings { StandardError.write("signalbox: \(line)\n") }
            guard audit.isRight else { throw ExitCode.incomplete }
            print("Ledger consistent.")
        }
    }

    /// Gateways of the former version continue with migrated tables.
    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make or update the tables of the store.",
            discussion: """
                A gateway does this at its start, if its role may create tables. Gateways of the former version may run \
                meanwhile.
                """)

        /// Names the store. The config is optional.
        @OptionGroup var options: GatewayOptions

        /// Prints the migrations that were applied.
        func run() async throws {
            let config = try options.optionalConfig().config
            guard let target = try options.database(of: config) else {
                throw CommandFailure.refused(
                    "The store is SQLite, whose tables the next start of signalbox serve updates. Name a database with "
                        + "--store, SIGNALBOX_STORE or gateway.store.")
            }
            let applied = try PostgresTables.migrate(target)
            print(applied.isEmpty ? "Tables are current." : "Applied migrations: \(applied.joined(separator: ", ")).")
        }
    }
}

extension PostgresTables.Report {
    /// A clause.
    fileprivate var words: String {
        if isTooNew { return "of a newer version, which this version may not write" }
        if !pending.isEmpty { return "\(pending.count) migrations pending; run: signalbox store migrate" }
        return unknown.isEmpty ? "current" : "current, with migrations of a later version"
    }
}
