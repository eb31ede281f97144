package import Foundation
package import SignalboxNotification

/// The right to attempt one delivery, held by one process until it settles it or ends.
package struct Lease: Sendable {
    package let delivery: Int64
    package let event: String
    package let destination: DestinationName
    /// Attempts made before this one that count against the budget.
    package let attempts: Int
    /// All attempts made before this one.
    package let earlier: Int
    package let body: [UInt8]
    /// The payload as it came, where the destination wants it.
    package let payload: [UInt8]?
    /// From then on it is not sent any more.
    package let notAfter: Date?
    /// Deliveries with the same key are sent one after the other.
    package let orderKey: String?

    package init(
        delivery: Int64, event: String, destination: DestinationName, attempts: Int, earlier: Int? = nil,
        body: [UInt8], payload: [UInt8]? = nil, notAfter: Date? = nil, orderKey: String? = nil
    ) {
        self.delivery = delivery
        self.event = event
        self.destination = destination
        self.attempts = attempts
        self.earlier = earlier ?? attempts
        self.body = body
        self.payload = payload
        self.notAfter = notAfter
        self.orderKey = orderKey
    }

    /// Of what it keeps in memory.
    package var bytes: Int { body.count + (payload?.count ?? 0) }
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
    /// Until then it waits; nil where it does not.
    package let notBefore: Date?
    /// From then on it is not sent any more.
    package let notAfter: Date?
    package let acceptedAt: Date
    /// Of the last attempt; nil before the first.
    package let last: AttemptRecord?
    /// Whether an attempt has begun and its end is not recorded.
    package var isInProgress = false
    /// The latest time until which it waits for files; nil when it does not wait.
    package var mediaUntil: Date?
    /// The waiting delivery that goes first, if deliveries are ordered.
    package var predecessor: Int64?
    /// Of the last attempt.
    package var status: Int? { last?.status }
    /// Why the last attempt failed.
    package var reason: String? { last?.reason }

    package init(
        id: Int64, event: String, subject: String, destination: DestinationName, state: State, attempts: Int,
        due: Date, notBefore: Date?, notAfter: Date?, acceptedAt: Date, last: AttemptRecord?
    ) {
        self.id = id
        self.event = event
        self.subject = subject
        self.destination = destination
        self.state = state
        self.attempts = attempts
        self.due = due
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.acceptedAt = acceptedAt
        self.last = last
    }
}

/// One attempt as the log keeps it. What is not known is nil: of one that a crash cut short nothing is.
package struct AttemptRecord: Sendable, Equatable {
    /// From 1.
    package let number: Int
    package let startedAt: Date?
    /// Milliseconds.
    package let duration: Int?
    /// HTTP.
    package let status: Int?
    /// A short stable word for what went wrong where there was no answer, such as `dns` or `refused`.
    package let error: String?
    package let reason: String?
    /// Address and port that were connected to.
    package let remote: String?
    /// At most the first kilobyte of the reply's body.
    package let excerpt: [UInt8]

    package init(
        number: Int, startedAt: Date?, duration: Int?, status: Int?, error: String?, reason: String?, remote: String?,
        excerpt: [UInt8]
    ) {
        self.number = number
        self.startedAt = startedAt
        self.duration = duration
        self.status = status
        self.error = error
        self.reason = reason
        self.remote = remote
        self.excerpt = excerpt
    }
}

/// Which deliveries are meant; everything that is set must hold.
package struct DeliveryFilter: Sendable, Equatable {
    package var ids: [Int64]?
    package var state: DeliveryRecord.State?
    package var destination: DestinationName?
    /// Of events accepted before then.
    package var acceptedBefore: Date?
    /// Id of the event.
    package var event: String?
    /// Those with smaller numbers: the next page.
    package var before: Int64?

    package init(
        ids: [Int64]? = nil, state: DeliveryRecord.State? = nil, destination: DestinationName? = nil,
        acceptedBefore: Date? = nil, event: String? = nil
    ) {
        self.ids = ids
        self.state = state
        self.destination = destination
        self.acceptedBefore = acceptedBefore
        self.event = event
    }
}

/// An event as the queue keeps it.
package struct StoredEvent: Sendable, Equatable {
    package let source: SourceName
    package let subject: String
    package let body: [UInt8]
    /// The payload as it came, where some destination wanted it.
    package let payload: [UInt8]?
    /// The event as some destinations get it, where that says more than what is stored; other media alone do not.
    package let variants: [[UInt8]]

    package init(source: SourceName, subject: String, body: [UInt8], payload: [UInt8]?, variants: [[UInt8]]) {
        self.source = source
        self.subject = subject
        self.body = body
        self.payload = payload
        self.variants = variants
    }
}
