package import Foundation
import GRDB
package import SignalboxModel

/// Whether the queue's books add up: every delivery that was ever made is in exactly one state, or was removed in one.
package struct Audit: Sendable, Equatable {
    package struct Account: Sendable, Equatable {
        package let destination: DestinationName
        /// Deliveries ever made.
        package let accepted: Int
        /// Those that are there, by state.
        package let present: [DeliveryRecord.State: Int]
        /// Those that were removed, by the state in which they were.
        package let removed: [DeliveryRecord.State: Int]
        /// When the first of those that were removed while they waited was removed; nil when there are none, or an earlier
        /// version removed them.
        package var undeliveredSince: Date?

        /// Those that were removed before they were delivered.
        package var undelivered: Int { removed[.waiting] ?? 0 }

        /// Deliveries made of which nothing is known; fewer than none when there are more than were made.
        package var missing: Int {
            accepted - present.values.reduce(0, +) - removed.values.reduce(0, +)
        }
    }

    package let accounts: [Account]
    /// Deliveries whose event is gone.
    package let orphans: Int
    /// Waits for files whose delivery is gone.
    package let strayWaits: Int
    /// What SQLite finds wrong with the file itself.
    package let damage: [String]

    package var isRight: Bool {
        orphans == 0 && strayWaits == 0 && damage.isEmpty && accounts.allSatisfy { $0.missing == 0 }
    }
}

extension SQLiteQueue {
    /// Counts everything, at one instant; takes as long as reading the file does.
    package func audit() async throws(StoreError) -> Audit {
        try await read { db in
            var present: [DestinationName: [DeliveryRecord.State: Int]] = [:]
            for row in try Row.fetchAll(
                db, sql: "SELECT destination, state, count(*) FROM deliveries GROUP BY destination, state")
            {
                guard let state = DeliveryRecord.State(rawValue: row[1]) else { continue }
                present[DestinationName(row[0]), default: [:]][state] = row[2]
            }
            var accounts: [Audit.Account] = []
            for row in try Row.fetchAll(db, sql: "SELECT * FROM ledger ORDER BY destination") {
                let name = DestinationName(row["destination"])
                var removed: [DeliveryRecord.State: Int] = [:]
                for state in DeliveryRecord.State.allCases { removed[state] = row[state.rawValue] }
                accounts.append(
                    Audit.Account(
                        destination: name, accepted: row["accepted"], present: present[name] ?? [:], removed: removed,
                        undeliveredSince: (row["undelivered_since"] as Int64?).map { Date(milliseconds: $0) }))
                present[name] = nil
            }
            for (name, states) in present.sorted(by: { $0.key < $1.key }) {
                accounts.append(Audit.Account(destination: name, accepted: 0, present: states, removed: [:]))
            }
            let orphans = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM deliveries WHERE NOT EXISTS (SELECT 1 FROM events WHERE seq = event)")
            let waits = try Int.fetchOne(
                db,
                sql: "SELECT count(*) FROM media_waits WHERE NOT EXISTS (SELECT 1 FROM deliveries WHERE id = delivery)")
            let findings = try String.fetchAll(db, sql: "PRAGMA quick_check(20)")
            return Audit(
                accounts: accounts, orphans: orphans ?? 0, strayWaits: waits ?? 0,
                damage: findings.filter { $0 != "ok" })
        }
    }
}
