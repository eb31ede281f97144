import ArgumentParser
import SignalboxGateway
import SignalboxRouting
import SignalboxStore

/// Exits with 1 when deliveries are unaccounted for, or content of the queue cannot be read.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Prove from the queue that no event was lost.",
        discussion: """
            Every accepted delivery must be in exactly one state, or have been removed in one. Also while the gateway \
            runs.
            """)

    @OptionGroup var options: GatewayOptions

    /// Prints the ledger first and its findings on standard error. Reads every delivery of the queue.
    func run() async throws {
        let audit = try await options.existingQueue(try options.optionalConfig().config).audit()
        for line in audit.table { print(line) }
        for line in audit.findings { StandardError.write("signalbox: \(line)\n") }
        guard audit.isRight else { throw ExitCode.incomplete }
        print("Ledger consistent.")
    }
}
