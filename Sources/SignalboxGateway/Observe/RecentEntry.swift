package import Foundation
package import SignalboxNotification
import SignalboxStore

/// An occurrence that the live view shows. Its bytes are those that the queue stores or sends; it has no copy of them.
package struct RecentEntry: Sendable {
    /// The kinds of occurrences. Raw values are the words of the API.
    package enum Kind: String, Sendable, CaseIterable {
        case event, delivery, destination
    }

    /// An occurrence, by its kind.
    package enum Item: Sendable {
        case event(RecentEvent)
        case delivery(RecentDelivery)
        case destination(DestinationChange)
    }

    /// Set by the ring.
    package internal(set) var position = RecentPosition()
    package let item: Item

    init(_ item: Item) { self.item = item }

    // Not inlined: within a loop over entries, the optimiser of Swift 6.3.1 ends with an error.
    @inline(never) package var kind: Kind {
        switch item {
        case .event: .event
        case .delivery: .delivery
        case .destination: .destination
        }
    }

    /// The approximate memory.
    var bytes: Int {
        switch item {
        case .event(let event): 400 + event.body.count + (event.payload?.count ?? 0)
        case .delivery(let delivery): 300 + (delivery.reason?.utf8.count ?? 0)
        case .destination(let change): 200 + (change.reason?.utf8.count ?? 0)
        }
    }
}

/// The number of everything that happened up to an occurrence, shown or not.
///
/// Each kind has a number of its own, so that a reader of one kind knows how many of it were not shown.
package struct RecentPosition: Sendable, Equatable {
    /// Accepted events.
    package var events: Int64 = 0
    /// Ended attempts, and deliveries that expired.
    package var deliveries: Int64 = 0
    /// Changes of destinations.
    package var changes: Int64 = 0

    /// Grows with every occurrence.
    var order: Int64 { events + deliveries + changes }

    /// The number of one kind.
    subscript(kind: RecentEntry.Kind) -> Int64 {
        get {
            switch kind {
            case .event: events
            case .delivery: deliveries
            case .destination: changes
            }
        }
        set {
            switch kind {
            case .event: events = newValue
            case .delivery: deliveries = newValue
            case .destination: changes = newValue
            }
        }
    }
}

/// An accepted event among the recent ones.
package struct RecentEvent: Sendable {
    package let id: EventID
    package let source: SourceName
    package let vendor: VendorID
    package let kind: PushNotification.Kind
    package let warnings: [String]
    package let routes: [String]
    /// Structured CloudEvents JSON: the bytes that the queue stores.
    package let body: [UInt8]
    /// The payload as received; nil for events of the gateway's own and for large payloads.
    package let payload: [UInt8]?

    init(_ routed: RoutedEvent, payload: [UInt8]?) {
        let event = routed.event
        (id, source, vendor, kind) = (event.id, event.source, event.vendor, event.kind)
        (warnings, routes, body) = (event.warnings, routed.routes, event.body)
        self.payload = payload
    }
}

/// The end of an attempt, or of a delivery without one.
package struct RecentDelivery: Sendable, Equatable {
    /// The results. Raw values are the words of the API.
    package enum Outcome: String, Sendable, CaseIterable {
        case delivered
        /// Failed, and attempted again later.
        case retry
        case dead, expired
    }

    package let at: Date
    /// The id of the event.
    package let event: String
    package let destination: DestinationName
    /// The number of the attempt, from 1.
    package let attempt: Int
    package let outcome: Outcome
    /// The HTTP status of the answer.
    package let status: Int?
    /// A short word for a failure without an answer.
    package let error: String?
    /// Why it failed, for people.
    package let reason: String?
    /// Milliseconds of the request.
    package let duration: Int?
}

/// A destination that began to accept deliveries, or stopped.
package struct DestinationChange: Sendable, Equatable {
    package let at: Date
    package let name: DestinationName
    /// A word of `DestinationStatus.words`.
    package let state: String
    /// Why, for people.
    package let reason: String?
}

extension RecentDelivery {
    /// Nil for deliveries that were returned or postponed: no attempt was made.
    init?(_ settlement: Settlement, at: Date) {
        let (outcome, status, reason): (Outcome, Int?, String?)
        switch settlement.outcome {
        case .delivered(let answer): (outcome, status, reason) = (.delivered, answer, nil)
        case .retry(_, let answer, let why): (outcome, status, reason) = (.retry, answer, why)
        case .dead(let answer, let why): (outcome, status, reason) = (.dead, answer, why)
        case .expired: (outcome, status, reason) = (.expired, nil, nil)
        case .postponed, .returned: return nil
        }
        let lease = settlement.lease
        self.init(
            at: at, event: lease.event, destination: lease.destination, attempt: lease.earlier + 1, outcome: outcome,
            status: status, error: settlement.attempt?.error, reason: reason,
            duration: settlement.attempt.map { Int($0.duration / .milliseconds(1)) })
    }
}
