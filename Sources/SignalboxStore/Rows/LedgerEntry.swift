import Foundation
package import SignalboxNotification

/// The numbers of one destination in the ledger, of all nodes together.
package struct LedgerEntry: Sendable {
    /// In the order of the columns.
    private static let states = DeliveryRecord.State.allCases
    /// The columns after the first three, in the order in which ``init(_:)`` reads them: removed deliveries by the
    /// state that each one had, then stored ones by state.
    package static let columns = states.map(\.rawValue) + states.map { $0.rawValue + "_now" }

    private let destination: DestinationName
    /// Every delivery that was ever made, stored or not.
    private let accepted: Int
    /// Nil while no waiting delivery was ever removed.
    private let undeliveredSince: Date?
    /// By the state that each delivery had when it was removed.
    private let removed: [DeliveryRecord.State: Int]
    /// Of stored deliveries; negative only in a store that was edited.
    private let counted: [DeliveryRecord.State: Int]

    /// Reads, in this order: destination, number of accepted deliveries, time of the first removal of a waiting one,
    /// and ``columns``.
    package init(_ row: some RecordRow) throws {
        destination = DestinationName(try row.text(0))
        (accepted, undeliveredSince) = (try row.count(1), try row.optionalDate(2))
        var (removed, counted): ([DeliveryRecord.State: Int], [DeliveryRecord.State: Int]) = ([:], [:])
        for (position, state) in Self.states.enumerated() {
            removed[state] = try row.count(3 + position)
            counted[state] = Int(try row.number(3 + Self.states.count + position))
        }
        (self.removed, self.counted) = (removed, counted)
    }

    /// By the numbers of the ledger alone.
    package var account: Audit.Account { account(of: counted.filter { $0.value != 0 }) }

    /// `present`: the deliveries that are stored.
    private func account(of present: [DeliveryRecord.State: Int]) -> Audit.Account {
        Audit.Account(
            destination: destination, accepted: accepted, present: present, removed: removed, counted: counted,
            undeliveredSince: undeliveredSince)
    }

    /// One account for each destination that the ledger or a delivery names. `present`: all stored deliveries.
    /// `ledger`: in the order of names; destinations without an entry follow. A destination with deliveries but no
    /// entry has `accepted` 0, so its deliveries count as too many.
    package static func accounts(
        of present: [DestinationName: [DeliveryRecord.State: Int]], by ledger: [LedgerEntry]
    ) -> [Audit.Account] {
        var present = present
        var accounts = ledger.map { $0.account(of: present.removeValue(forKey: $0.destination) ?? [:]) }
        for (name, states) in present.sorted(by: { $0.key < $1.key }) {
            accounts.append(Audit.Account(destination: name, accepted: 0, present: states, removed: [:]))
        }
        return accounts
    }
}
