package import Foundation
package import SignalboxNotification

/// A stored event as lists show it.
package struct EventRecord: Sendable, Equatable {
    /// The store's number of the event; later events have larger ones.
    package let number: Int64
    /// CloudEvents' `id`.
    package let id: String
    /// The source through which the payload came.
    package let source: SourceName
    /// CloudEvents' `subject`: `vendor/kind` for a notification.
    package let subject: String
    /// CloudEvents' `time`.
    package let acceptedAt: Date
    /// The event as it was accepted: structured CloudEvents JSON, UTF-8.
    package let body: [UInt8]
    /// The number of its stored deliveries in each state; empty for an event without a delivery.
    package let deliveries: [DeliveryRecord.State: Int]
    /// Whether the payload is stored as it was received.
    package let hasPayload: Bool

    /// Takes the values as the store recorded them.
    package init(
        number: Int64, id: String, source: SourceName, subject: String, acceptedAt: Date, body: [UInt8],
        deliveries: [DeliveryRecord.State: Int], hasPayload: Bool
    ) {
        (self.number, self.id, self.source, self.subject) = (number, id, source, subject)
        (self.acceptedAt, self.body) = (acceptedAt, body)
        (self.deliveries, self.hasPayload) = (deliveries, hasPayload)
    }
}

/// Selects events that meet every condition that is set.
package struct EventFilter: Sendable {
    /// The part of the subject before its first slash.
    package var vendor: String?
    /// The part of the subject after its first slash.
    package var kind: String?
    /// Selects events of this source.
    package var source: SourceName?
    /// Selects events without a delivery.
    package var isUnrouted = false
    /// Selects events accepted then or later.
    package var acceptedSince: Date?
    /// Selects events accepted before then.
    package var acceptedBefore: Date?
    /// Selects events whose body passes. Called after the other conditions, on a thread of the store; its time counts
    /// towards ``StoreLimits/longestScan``.
    package var matches: (@Sendable (_ body: [UInt8]) -> Bool)?
    /// Selects smaller numbers: the next page.
    package var before: Int64?

    /// Selects every event.
    package init() {}
}
