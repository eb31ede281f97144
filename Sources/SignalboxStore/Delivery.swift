package import Foundation
package import SignalboxNotification

/// The right to attempt one delivery, held by one process until it settles it or ends. A lease carries the bytes to
/// send, so that an attempt reads nothing from the store.
package struct Lease: Sendable {
    /// The store's number of the delivery.
    package let delivery: Int64
    /// The id of the event.
    package let event: String
    /// The destination to send to.
    package let destination: DestinationName
    /// Attempts made before this one that count against the budget.
    package let attempts: Int
    /// All attempts made before this one.
    package let earlier: Int
    /// The event in the form that the destination receives.
    package var body: [UInt8]
    /// The payload as received, if the destination wants it.
    package let payload: [UInt8]?
    /// When the delivery expires; may be ``Foundation/Date/afterFirstAttempt``.
    package let notAfter: Date?
    /// Deliveries with equal keys are sent one after another.
    package let orderKey: String?
    /// When it could be sent first: when its event was accepted, or later by its schedule. Nil if that is not known.
    package var readyAt: Date?
    /// Tells it from earlier and later leases of the same delivery by the same process.
    private let number: Int
    private let holder: UInt64

    /// `number`: of the lease, from 1; nil for the number of the attempt, which a store may use that always knows how a
    /// commit ended. `holder`: names the process that leased it.
    package init(
        delivery: Int64, event: String, destination: DestinationName, attempts: Int, earlier: Int? = nil,
        body: [UInt8], payload: [UInt8]? = nil, notAfter: Date? = nil, orderKey: String? = nil, number: Int? = nil,
        holder: UInt64 = 0
    ) {
        (self.delivery, self.event, self.destination) = (delivery, event, destination)
        (self.attempts, self.earlier) = (attempts, earlier ?? attempts)
        (self.body, self.payload, self.notAfter, self.orderKey) = (body, payload, notAfter, orderKey)
        (self.number, self.holder) = (number ?? self.earlier + 1, holder)
    }

    /// Tells a lease from later leases of the same delivery. A settlement whose fence is not the current one is lost.
    package struct Fence: Sendable, Equatable {
        /// The process that leased the delivery.
        package let holder: UInt64
        /// The number of the lease, from 1.
        package let number: Int
    }

    /// The fence of settlements of this lease.
    package var fence: Fence { Fence(holder: holder, number: number) }

    /// Bytes of the event that it keeps in memory.
    package var bytes: Int { body.count + (payload?.count ?? 0) }
}

/// A stored delivery.
package struct DeliveryRecord: Sendable, Equatable {
    /// The state of a delivery. `delivered` and `expired` are final; an operator can make a `dead` delivery wait
    /// again. Raw values are those of the API.
    package enum State: String, Sendable, CaseIterable {
        case waiting, delivered, dead, expired
    }

    /// The store's number of the delivery.
    package let id: Int64
    /// The id of the event.
    package let event: String
    /// CloudEvents' `subject` of the event.
    package let subject: String
    /// The destination of the delivery. The config may no longer have it.
    package let destination: DestinationName
    /// The state at the time of the read.
    package let state: State
    /// Attempts that were made.
    package let attempts: Int
    /// When the next attempt may be made, for a waiting delivery.
    package let due: Date
    /// The time before which it is not sent; nil for none.
    package let notBefore: Date?
    /// When it expires; nil for never.
    package let notAfter: Date?
    /// When the gateway accepted the event.
    package let acceptedAt: Date
    /// The last attempt; nil before the first.
    package let last: AttemptRecord?
    /// Whether an attempt has begun and its end is not recorded. In another process, such as a command next to the
    /// gateway, also true while the delivery waits in the memory of the gateway.
    package var isInProgress = false
    /// Whether this process has claimed it, so that its attempt is in progress or about to begin.
    package var isClaimed = false
    /// The latest time until which it waits for files; nil when it does not wait.
    package var mediaUntil: Date?
    /// The waiting delivery that goes first, if deliveries are ordered.
    package var predecessor: Int64?
    /// Whether an operator ordered it for an event that was stored already.
    package var isManual = false
    /// The HTTP status of the last attempt.
    package var status: Int? { last?.status }
    /// The reason why the last attempt failed.
    package var reason: String? { last?.reason }

    /// Takes the values of the delivery's own row; the store sets the other ones afterwards.
    package init(
        id: Int64, event: String, subject: String, destination: DestinationName, state: State, attempts: Int,
        due: Date, notBefore: Date?, notAfter: Date?, acceptedAt: Date, last: AttemptRecord?
    ) {
        (self.id, self.event, self.subject, self.destination) = (id, event, subject, destination)
        (self.state, self.attempts, self.due) = (state, attempts, due)
        (self.notBefore, self.notAfter, self.acceptedAt, self.last) = (notBefore, notAfter, acceptedAt, last)
    }
}

/// A recorded attempt. Unknown values are nil, such as all values of an attempt that a crash interrupted.
package struct AttemptRecord: Sendable, Equatable {
    /// From 1.
    package let number: Int
    /// When the request began.
    package let startedAt: Date?
    /// Milliseconds.
    package let duration: Int?
    /// HTTP.
    package let status: Int?
    /// A short stable word for a failure without a reply, such as `dns` or `refused`.
    package let error: String?
    /// The reason of a failure, for people.
    package let reason: String?
    /// The address and port that were connected to.
    package let remote: String?
    /// At most the first kilobyte of the reply's body.
    package let excerpt: [UInt8]
    /// See ``Attempt/exchange``. Nil in lists.
    package let exchange: [UInt8]?

    /// Takes the values as the store recorded them.
    package init(
        number: Int, startedAt: Date?, duration: Int?, status: Int?, error: String?, reason: String?, remote: String?,
        excerpt: [UInt8], exchange: [UInt8]? = nil
    ) {
        self.exchange = exchange
        (self.number, self.startedAt, self.duration, self.status) = (number, startedAt, duration, status)
        (self.error, self.reason, self.remote, self.excerpt) = (error, reason, remote, excerpt)
    }
}

/// A stored event.
package struct StoredEvent: Sendable, Equatable {
    /// The source through which the payload came.
    package let source: SourceName
    /// CloudEvents' `subject`.
    package let subject: String
    /// The event as it was accepted: structured CloudEvents JSON, UTF-8.
    package let body: [UInt8]
    /// The payload as received, if a destination wanted it.
    package let payload: [UInt8]?
    /// The bodies that some destinations receive instead. Without variants that differ in their media only.
    package let variants: [[UInt8]]

    /// Takes the values as the store recorded them.
    package init(source: SourceName, subject: String, body: [UInt8], payload: [UInt8]?, variants: [[UInt8]]) {
        (self.source, self.subject, self.body) = (source, subject, body)
        (self.payload, self.variants) = (payload, variants)
    }
}

/// The body of a stored event.
package struct EventBody: Sendable, Equatable {
    package let id: String
    /// When the gateway accepted it.
    package let acceptedAt: Date
    /// Structured CloudEvents JSON, UTF-8.
    package let body: [UInt8]

    package init(id: String, acceptedAt: Date, body: [UInt8]) {
        (self.id, self.acceptedAt, self.body) = (id, acceptedAt, body)
    }
}

/// Counts of a destination's deliveries.
package struct DestinationGauges: Sendable, Equatable {
    /// All deliveries ever made.
    package var accepted = 0
    /// Stored deliveries that have not ended, due or not.
    package var waiting = 0
    /// Stored deliveries that were moved to dead letters.
    package var dead = 0
    /// When the oldest due delivery became due; nil when none is due.
    package var oldestDue: Date?

    /// The gauges of a destination without deliveries.
    package init() {}
}
