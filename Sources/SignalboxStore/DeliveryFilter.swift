package import Foundation
package import SignalboxNotification

/// Selects deliveries that meet every condition that is set.
package struct DeliveryFilter: Sendable, Equatable {
    /// Selects these deliveries.
    package var ids: [Int64]?
    /// Selects deliveries in this state.
    package var state: DeliveryRecord.State?
    /// Selects deliveries to this destination.
    package var destination: DestinationName?
    /// Selects deliveries of events accepted then or later.
    package var acceptedSince: Date?
    /// Selects deliveries of events accepted before then.
    package var acceptedBefore: Date?
    /// The id of the event.
    package var event: String?
    /// Selects deliveries of events of this vendor: the part of the subject before the slash.
    package var vendor: String?
    /// Selects deliveries whose last attempt was answered with one of these HTTP statuses.
    package var status: ClosedRange<Int>?
    /// Selects deliveries whose last attempt failed without an answer, for this reason, such as `timeout-reply`.
    package var error: String?
    /// Selects smaller ids: the next page.
    package var before: Int64?
    /// Selects this id and smaller ones.
    package var through: Int64?
    /// Leaves out deliveries that ended then or later, by the clock of the store.
    package var endedBefore: Date?

    /// Without arguments, selects every delivery.
    package init(
        ids: [Int64]? = nil, state: DeliveryRecord.State? = nil, destination: DestinationName? = nil,
        acceptedBefore: Date? = nil, event: String? = nil
    ) {
        (self.ids, self.state, self.destination) = (ids, state, destination)
        (self.acceptedBefore, self.event) = (acceptedBefore, event)
    }
}
