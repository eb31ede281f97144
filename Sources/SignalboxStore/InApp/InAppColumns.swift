package import SignalboxInApp

/// The owner of a ledger, as the tables of displays and totals name it. The numbers of kinds are part of the file
/// format.
extension RowChange.Subject {
    /// The columns `kind` and `owner`.
    package var key: (kind: Int, owner: String) {
        switch self {
        case .user(let id): (0, id)
        case .device(let id): (1, id)
        }
    }
}

extension Ledger.Key {
    /// The inverse of ``columns``. Nil for an unknown kind.
    package init?(what: Int64, name: String) {
        switch what {
        case 0: self = .message(name)
        case 1: self = .vendor(name)
        case 2: self = .scope
        case 3: self = .named(name)
        default: return nil
        }
    }
}

/// An address is one of two columns; both are NULL for a message that is for all devices.
extension InAppRegistration.Address {
    /// Nil for the address of a device.
    package var user: UserID? { if case .user(let id) = self { id } else { nil } }
    /// Nil for the address of a user.
    package var device: DeviceID? { if case .device(let id) = self { id } else { nil } }
}
