package import SignalboxInApp

/// A user or a device: the owner of a ledger.
package protocol InAppOwner: Sendable {
    /// Its displays and totals.
    var ledger: Ledger { get set }
    /// As changes name it.
    var subject: RowChange.Subject { get }
}

extension UserState: InAppOwner {
    package var subject: RowChange.Subject { .user(id) }
}

extension DeviceState: InAppOwner {
    package var subject: RowChange.Subject { .device(id) }
}
