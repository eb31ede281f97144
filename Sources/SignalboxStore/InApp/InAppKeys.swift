package import SignalboxInApp
package import SignalboxNotification

/// The rows that a group of decisions reads and locks.
///
/// A decision names its device and its user, or an offer or a device by which they are found. When its changes turn out
/// to concern further rows, they are read too. Keys are compared by their bytes, as rows are.
package struct InAppKeys: Sendable {
    /// Devices with all their offers.
    package var devices: ExactTextSet = []
    /// Users with their leases on other devices.
    package var users: ExactTextSet = []
    /// Offers whose devices and users are among the keys.
    package var offers: ExactTextSet = []
    /// Devices whose last users are among the keys.
    package private(set) var due: ExactTextSet = []
    /// Campaigns whose tallies are read and locked.
    package var tallies: ExactTextSet = []

    package init() {}

    /// The keys of decisions.
    package init(_ decisions: [InAppDecision]) {
        for decision in decisions { add(decision.subject, decision.tallies) }
    }

    package mutating func add(_ subject: InAppSubject, _ campaigns: [MessageID]) {
        switch subject {
        case .device(let device, let user):
            add(device: device)
            if let user { users.insert(user) }
        case .offer(let id): offers.insert(id)
        case .due(let device):
            add(device: device)
            due.insert(device)
        }
        tallies.formUnion(campaigns)
    }

    /// With the anonymous user of the device.
    package mutating func add(device: DeviceID) {
        if devices.insert(device) { users.insert(AnonymousUser.id(on: device)) }
    }

    package mutating func formUnion(_ other: InAppKeys) {
        devices.formUnion(other.devices)
        users.formUnion(other.users)
        offers.formUnion(other.offers)
        due.formUnion(other.due)
        tallies.formUnion(other.tallies)
    }

    /// No key: nothing has to be read again.
    package var isEmpty: Bool {
        devices.isEmpty && users.isEmpty && offers.isEmpty && due.isEmpty && tallies.isEmpty
    }
}

/// A decision concerns rows that its transaction has not read. The transaction wrote nothing; the group is run again
/// with them.
package struct InAppKeysMissing: Error {
    package let keys: InAppKeys

    package init(_ keys: InAppKeys) { self.keys = keys }

    package init(_ add: (inout InAppKeys) -> Void) {
        var keys = InAppKeys()
        add(&keys)
        self.keys = keys
    }
}
