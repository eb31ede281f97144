import ArgumentParser
import SignalboxCommands
import SignalboxGateway
import SignalboxRouting
import SignalboxStore

/// Exits with 1 when deliveries are unaccounted for, or content of the queue cannot be read. The check runs in one
/// snapshot, so a gateway that accepts and delivers meanwhile does not disturb the sums. See ``Audit`` for the
/// checks.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Prove from the queue that no event was lost.",
        discussion: """
            Checks that every accepted delivery is in exactly one state or was removed. Works while the gateway runs.
            """)

    /// Only the data directory is read from the config, which may be missing.
    @OptionGroup var options: GatewayOptions
    /// Replaces the table and the findings.
    @Flag(help: "Print the result as one JSON object.") var json = false

    /// Prints the ledger first and its findings on standard error. Reads every delivery of the queue. Changes neither
    /// the queue nor the files. Throws ``StoreError`` if the queue is missing or cannot be opened; damage that the
    /// audit itself finds is part of its result and ends with 1.
    func run() async throws {
        let audit = try await options.existingQueue(try options.optionalConfig().config).audit()
        if json { print(audit.json) } else { audit.table.forEach { print($0) } }
        for line in json ? [] : audit.findings { StandardError.write("signalbox: \(line)\n") }
        guard audit.isRight else { throw ExitCode.incomplete }
        if !json { print("Ledger consistent.") }
    }
}
