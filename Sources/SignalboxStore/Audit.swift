package import Foundation
package import SignalboxNotification

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
        /// When the first waiting delivery was removed; nil when none was, or when an earlier version removed it.
        package let undeliveredSince: Date?

        package init(
            destination: DestinationName, accepted: Int, present: [DeliveryRecord.State: Int],
            removed: [DeliveryRecord.State: Int], undeliveredSince: Date? = nil
        ) {
            self.destination = destination
            self.accepted = accepted
            self.present = present
            self.removed = removed
            self.undeliveredSince = undeliveredSince
        }

        /// Deliveries removed before they were delivered.
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
    /// Defects of the file that SQLite finds, and content that cannot be read.
    package let damage: [String]
    /// How the file contradicts the data directory's record of its queue; nil when it does not.
    package let loss: String?

    package init(accounts: [Account], orphans: Int, strayWaits: Int, damage: [String], loss: String?) {
        self.accounts = accounts
        self.orphans = orphans
        self.strayWaits = strayWaits
        self.damage = damage
        self.loss = loss
    }

    package var isRight: Bool {
        orphans == 0 && strayWaits == 0 && damage.isEmpty && loss == nil && accounts.allSatisfy { $0.missing == 0 }
    }
}
