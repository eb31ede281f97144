package import Foundation
package import SignalboxNotification

/// The result of an audit. The ledger is consistent when every delivery ever made is stored or was removed, once.
package struct Audit: Sendable, Equatable {
    /// The deliveries to one destination.
    package struct Account: Sendable, Equatable {
        /// The destination of these deliveries.
        package let destination: DestinationName
        /// Deliveries ever made.
        package let accepted: Int
        /// Stored deliveries, by state.
        package let present: [DeliveryRecord.State: Int]
        /// Removed deliveries, by their last state.
        package let removed: [DeliveryRecord.State: Int]
        /// The ledger's own numbers of stored deliveries; nil for a destination without an entry.
        package let counted: [DeliveryRecord.State: Int]?
        /// When the first waiting delivery was removed; nil when none was, or when an earlier version removed it.
        package let undeliveredSince: Date?

        /// Takes the counts of one snapshot.
        package init(
            destination: DestinationName, accepted: Int, present: [DeliveryRecord.State: Int],
            removed: [DeliveryRecord.State: Int], counted: [DeliveryRecord.State: Int]? = nil,
            undeliveredSince: Date? = nil
        ) {
            (self.destination, self.accepted, self.undeliveredSince) = (destination, accepted, undeliveredSince)
            (self.present, self.removed, self.counted) = (present, removed, counted)
        }

        /// The states whose number in the ledger differs from the stored deliveries.
        package var miscounted: [DeliveryRecord.State] {
            guard let counted else { return [] }
            return DeliveryRecord.State.allCases.filter { (counted[$0] ?? 0) != (present[$0] ?? 0) }
        }

        /// Deliveries removed before they were delivered.
        package var undelivered: Int { removed[.waiting] ?? 0 }

        /// Deliveries that were made and are unaccounted for; negative when there are more than were made.
        package var missing: Int { accepted - present.values.reduce(0, +) - removed.values.reduce(0, +) }
    }

    /// One account for each destination that ever had a delivery.
    package let accounts: [Account]
    /// Deliveries without their event.
    package let orphans: Int
    /// Waits for files without their delivery.
    package let strayWaits: Int
    /// Defects of the store, and content that cannot be read.
    package let damage: [String]
    /// The contradiction between the store and the record of its numbers; nil for none.
    package let loss: String?

    /// Takes the findings of one snapshot.
    package init(accounts: [Account], orphans: Int, strayWaits: Int, damage: [String], loss: String?) {
        (self.accounts, self.orphans, self.strayWaits) = (accounts, orphans, strayWaits)
        (self.damage, self.loss) = (damage, loss)
    }

    /// Whether the audit found neither loss nor damage.
    package var isRight: Bool {
        orphans == 0 && strayWaits == 0 && damage.isEmpty && loss == nil
            && accounts.allSatisfy { $0.missing == 0 && $0.miscounted.isEmpty }
    }
}
