package import SignalboxJSON
import SignalboxNotification
package import SignalboxStore

/// The audit in words. Its values are in SignalboxStore.
extension Audit {
    /// The accounts as a table, and a line for each destination with deliveries that were removed undelivered.
    /// `signalbox audit` prints it. The destinations have the order of ``Audit/accounts``. The first line is the
    /// heading. `REMOVED` has the removals in every state, `MISSING` the deliveries that are unaccounted for.
    package var table: [String] {
        [row(["DESTINATION", "ACCEPTED", "DELIVERED", "DEAD", "EXPIRED", "WAITING", "REMOVED", "MISSING"])]
            + accounts.map { account in
                let states: [DeliveryRecord.State] = [.delivered, .dead, .expired, .waiting]
                return row(
                    [account.destination.name, String(account.accepted)]
                        + states.map { String(account.present[$0] ?? 0) }
                        + [String(account.removed.values.reduce(0, +)), String(account.missing)])
            }
            + accounts.filter { $0.undelivered > 0 }.map { account in
                let since =
                    account.undeliveredSince.map { "first at \(Timestamp($0).text)" } ?? "by an earlier version"
                let count = Counted.words(account.undelivered, "delivery")
                return "Removed before delivery: \(count) to \(account.destination), \(since)."
            }
    }

    /// The first column has 20 characters, the others 10; longer values shift the rest of their row. `cells`: eight
    /// of them. Names are not cut.
    private func row(_ cells: [String]) -> String {
        TextTable.row(cells, widths: [20] + Array(repeating: 10, count: 7), separator: " ")
    }

    /// One line of JSON: `consistent`, `destinations` with their sums, and `findings` as sentences.
    package var json: String {
        JSONText.members { json in
            json.member("consistent", isRight)
            json.array("destinations", of: accounts) { $0.account($1) }
            json.member("findings", findings)
        }
    }

    /// A sentence for each inconsistency; empty if the ledger is consistent. The command prints them on standard
    /// error. Each ends with a full stop, in the order of the checks: accounts, counts, orphans, waits, loss, damage.
    package var findings: [String] {
        var lines: [String] = []
        for account in accounts where account.missing != 0 {
            lines.append(
                account.missing > 0
                    ? "Missing: \(Counted.words(account.missing, "delivery")) to \(account.destination)."
                    : "There are \(-account.missing) more deliveries to \(account.destination) than were accepted.")
        }
        for account in accounts {
            for state in account.miscounted {
                lines.append(
                    "The ledger counts \(account.counted?[state] ?? 0) \(state.rawValue) deliveries to "
                        + "\(account.destination), and \(account.present[state] ?? 0) are stored.")
            }
        }
        if orphans > 0 { lines.append("Without an event: \(Counted.words(orphans, "delivery")).") }
        if strayWaits > 0 { lines.append("Without a delivery: \(Counted.words(strayWaits, "wait")) for files.") }
        if let loss { lines.append("The queue lost events: \(loss).") }
        lines += damage.map { "The store is damaged: \($0)." }
        if !damage.isEmpty { lines.append("Deliveries that cannot be read are not sent. Restore a backup.") }
        return lines
    }
}

extension JSONWriter {
    /// The sums of one destination. Removed deliveries count in their last state, so the states and `missing` sum up
    /// to `accepted`.
    package mutating func account(_ account: Audit.Account) {
        let states: [(StaticString, DeliveryRecord.State)] = [
            ("delivered", .delivered), ("dead", .dead), ("expired", .expired), ("waiting", .waiting),
        ]
        beginObject()
        member("destination", account.destination.name)
        member("accepted", account.accepted)
        for (name, state) in states { member(name, (account.present[state] ?? 0) + (account.removed[state] ?? 0)) }
        object("removed") { json in
            for (name, state) in states { json.member(name, account.removed[state] ?? 0) }
        }
        member("missing", account.missing)
        endObject()
    }
}
