package import Foundation
package import SignalboxModel

/// The right to attempt one delivery, held by one process until it settles it or ends.
package struct Lease: Sendable {
    package let delivery: Int64
    package let event: String
    package let destination: DestinationName
    /// Attempts made before this one.
    package let attempts: Int
    package let body: [UInt8]
    /// The payload as it came, where the destination's format wants it and it was kept.
    package let payload: [UInt8]?

    package init(
        delivery: Int64, event: String, destination: DestinationName, attempts: Int, body: [UInt8],
        payload: [UInt8]? = nil
    ) {
        self.delivery = delivery
        self.event = event
        self.destination = destination
        self.attempts = attempts
        self.body = body
        self.payload = payload
    }
}

/// How an attempt ended.
package enum Outcome: Sendable, Equatable {
    case delivered(status: Int)
    case retry(at: Date, status: Int?, reason: String)
    case dead(status: Int?, reason: String)
    /// No attempt could be made, for a reason of our own: it costs none of the budget.
    case postponed(until: Date, reason: String)
    /// The attempt was cut short by our own stop: the lease goes back as if it had not been taken.
    case returned
}

/// One delivery as the queue keeps it.
package struct DeliveryRecord: Sendable, Equatable {
    package enum State: String, Sendable, CaseIterable {
        case waiting, delivered, dead, expired
    }

    package let id: Int64
    package let event: String
    package let subject: String
    package let destination: DestinationName
    package let state: State
    package let attempts: Int
    /// When the next attempt may be made, for one that waits.
    package let due: Date
    package let acceptedAt: Date
    /// Of the last attempt.
    package let status: Int?
    /// Why the last attempt failed.
    package let reason: String?
}

/// Which deliveries are meant; everything that is set must hold.
package struct DeliveryFilter: Sendable, Equatable {
    package var ids: [Int64]?
    package var state: DeliveryRecord.State?
    package var destination: DestinationName?

    package init(ids: [Int64]? = nil, state: DeliveryRecord.State? = nil, destination: DestinationName? = nil) {
        self.ids = ids
        self.state = state
        self.destination = destination
    }
}
