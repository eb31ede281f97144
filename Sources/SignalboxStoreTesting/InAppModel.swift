import SignalboxInApp
import SignalboxTesting

/// A model of the store's in-app tables. Checks apply the same changes to it and to a store, and compare the rows that
/// both return.
struct InAppModel {
    private var rows = MemoryRows()

    /// Offers in every state.
    var offers: [OfferID: Offer] { rows.offers }

    /// One change, as a commit writes it. Removing an unknown row has no effect. A tally never falls below zero.
    mutating func apply(_ change: RowChange) {
        rows.apply([change])
        guard case .tally(let message, _, _) = change, let tally = rows.tallies[message] else { return }
        rows.tallies[message] = Tally(committed: max(tally.committed, 0), reserved: max(tally.reserved, 0))
    }

    /// The rows of a decision, with the tallies of all messages. `id`: the device. `user`: a user of its own, or an
    /// anonymous one. Rows that were never written have their defaults. Offers are those of the device, and those
    /// that the user's other devices hold.
    func state(of id: DeviceID, _ user: UserID) -> InAppState { rows.load(device: id, user: user) }
}
