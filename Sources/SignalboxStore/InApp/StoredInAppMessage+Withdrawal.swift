package import Foundation
import SignalboxInApp

/// Changes of a stored message.
extension StoredInAppMessage {
    /// Whether upkeep may have withdrawn the message: it withdraws those for one user or device without an end.
    package var isWithdrawnByUpkeep: Bool { registration.address != nil && registration.end == nil }

    /// The same revision, withdrawn.
    package func withdrawn(at date: Date) -> StoredInAppMessage {
        StoredInAppMessage(
            registration, revision: revision, registeredAt: registeredAt, withdrawnAt: date.milliseconds)
    }
}
