package import SignalboxNotification

/// Shows operators the stored events, and sends one of them again on their behalf.
package protocol EventStore: StoreStatus {
    /// A page of events, newest first: at most `limit`, from at most `rows` that the store examines.
    ///
    /// A page that ends because of `rows`, after ``StoreLimits/longestScan`` or after ``StoreLimits/eventPageBytes``
    /// is not complete, and may be empty.
    func eventPage(_ filter: EventFilter, limit: Int, examining rows: Int) async throws(StoreError)
        -> StorePage<EventRecord>

    /// One event; nil when it is unknown or was removed.
    func eventRecord(_ id: String) async throws(StoreError) -> EventRecord?

    /// Events that report on another one, such as taps on it: the oldest first, at most `limit`. An index finds them.
    func reports(onEvent id: String, limit: Int) async throws(StoreError) -> [EventRecord]

    /// The payload of an event as received; nil unless it was kept.
    func payload(ofEvent id: String) async throws(StoreError) -> [UInt8]?

    /// The downloads of these URLs; unknown ones are missing. One lookup for each URL.
    func mediaURLs(named urls: [String]) async throws(StoreError) -> [MediaURLRecord]

    /// Makes one more delivery of a stored event, due now. Durable when it returns; the action is recorded in the same
    /// transaction, unless no delivery was made.
    func send(_ order: ManualDelivery, as action: OperatorAction?) async throws(StoreError) -> ManualResult
}

extension StoreLimits {
    /// The most bytes of events on a page of a list.
    package static let eventPageBytes = 16 << 20
}

/// An order to send a stored event to a destination once more.
package struct ManualDelivery: Sendable, Equatable {
    /// The id of the event.
    package let event: String
    /// A destination of the config.
    package let destination: DestinationName
    /// Deliveries with equal keys are sent one after the other; nil for no order.
    package var orderKey: String?
    /// Whether the destination receives the payload as it arrived.
    package var needsPayload = false
    /// The form of the event for this destination; nil for the stored one. A destination that had a delivery of the
    /// event receives the form of that delivery instead.
    package var variant: [UInt8]?

    /// An order of the stored form, without an order key.
    package init(_ event: String, to destination: DestinationName) {
        (self.event, self.destination) = (event, destination)
    }
}

/// The result of a ``ManualDelivery``.
package enum ManualResult: Sendable, Equatable {
    /// The number of the new delivery.
    case ordered(Int64)
    case unknownEvent
    /// A delivery of the event to the destination waits for files; its form is not final.
    case awaitsMedia
    /// The destination receives payloads, and this one was not kept.
    case payloadGone
}
