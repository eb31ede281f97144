import ArgumentParser
import Foundation
import SignalboxNotification
import SignalboxStore

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Prove from the queue that nothing was lost.",
        discussion: """
            Every delivery that was ever made must be in exactly one state, or have been removed in one. Also while the \
            gateway runs.
            """)

    @OptionGroup var options: GatewayOptions

    func run() async throws {
        let queue = try Deliveries.queue(options)
        let audit = try await Deliveries.orRefuse { () throws(StoreError) in try await queue.audit() }
        print(Self.heading)
        for account in audit.accounts { print(account.row) }
        for account in audit.accounts where account.undelivered > 0 { print(account.removal) }
        for line in audit.findings { StandardError.write("signalbox: \(line)\n") }
        guard audit.isRight else { throw ExitCode.incomplete }
        print("The books add up.")
    }

    private static let heading = AuditCommand.row([
        "DESTINATION", "ACCEPTED", "DELIVERED", "DEAD", "EXPIRED", "WAITING", "REMOVED", "MISSING",
    ])

    fileprivate static func row(_ cells: [String]) -> String {
        cells.enumerated().map { position, cell in
            cell.padding(toLength: max(position == 0 ? 20 : 10, cell.count), withPad: " ", startingAt: 0)
        }.joined(separator: " ")
    }
}

extension Audit {
    /// What does not add up, in words.
    fileprivate var findings: [String] {
        var lines: [String] = []
        for account in accounts where account.missing != 0 {
            lines.append(
                account.missing > 0
                    ? "\(account.missing) deliveries to \(account.destination) were made and are nowhere."
                    : "There are \(-account.missing) more deliveries to \(account.destination) than were made.")
        }
        if orphans > 0 { lines.append("\(orphans) deliveries belong to no event.") }
        if strayWaits > 0 { lines.append("\(strayWaits) waits for files belong to no delivery.") }
        if let loss { lines.append("The queue lost events: \(loss).") }
        lines += damage.map { "The file is damaged: \($0)." }
        if !damage.isEmpty { lines.append("Deliveries on damaged pages are not made. Restore a backup.") }
        return lines
    }
}

extension Audit.Account {
    /// Deliveries to it that were removed undelivered, in words.
    fileprivate var removal: String {
        let since = undeliveredSince.map { "first at \(Timestamp($0).text)" } ?? "by an earlier version"
        return "Removed before delivery: \(undelivered) deliveries to \(destination), \(since)."
    }

    fileprivate var row: String {
        let states: [DeliveryRecord.State] = [.delivered, .dead, .expired, .waiting]
        return AuditCommand.row(
            [destination.name, String(accepted)] + states.map { String(present[$0] ?? 0) }
                + [String(removed.values.reduce(0, +)), String(missing)])
    }
}
