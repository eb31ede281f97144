package import Foundation
package import SignalboxInApp
package import SignalboxJSON

/// An event as the gateway stores, signs and sends it: a CloudEvents envelope whose bytes are written once.
package struct Event: Sendable {
    /// CloudEvents' `id`.
    package let id: EventID
    /// The source of the config through which the payload came.
    package let source: SourceName
    /// The time of the gateway's clock; CloudEvents' `time`.
    package let acceptedAt: Date
    /// The vendor as which the payload was read; `unknown` for a payload without a vendor.
    package let vendor: VendorID
    /// The purpose of the push.
    package let kind: PushNotification.Kind
    /// The codes of its warnings.
    package let warnings: [String]
    /// Set for events that are not about a notification.
    private let ownSubject: String?
    /// Structured CloudEvents JSON, UTF-8.
    package let body: [UInt8]
    /// The payload as received, if a destination or an operator asks for it.
    package var payload: [UInt8]?
    /// How long the payload is kept for operators; nil if it is not.
    package var keeping: PayloadKeeping?
    /// The APNs payload as the device should show it, if requested.
    package var shown: JSONText?
    /// The category that the payload defines, for the registry.
    package var category: DefinedCategory?
    /// Earliest time of delivery.
    package var notBefore: Date?
    /// End of the delivery period, exclusive.
    package var notAfter: Date?
    /// The in-app messages that the payload brings, each id once.
    package var messages: [InAppRegistration]
    /// Whether operators see the event among the recent events.
    package var sampling: Sampling

    /// Whether the live view of operators has an event. Decided when the payload is read, because its bytes are gone
    /// afterwards.
    package enum Sampling: Sendable {
        /// Decided after the commit.
        case undecided
        /// Counted, and not shown.
        case passed
        /// Shown. `payload`: as received; nil if it is too large.
        case shown(payload: [UInt8]?)
    }

    /// `subject`: nil for `vendor/kind`. The event of a notification is made with all its values at once, because the
    /// compiler copies a large value that is changed after it has been made.
    package init(
        id: EventID, source: SourceName, acceptedAt: Date, vendor: VendorID, kind: PushNotification.Kind,
        warnings: [String], subject: String? = nil, body: [UInt8], payload: [UInt8]? = nil,
        keeping: PayloadKeeping? = nil, shown: JSONText? = nil,
        category: DefinedCategory? = nil, notBefore: Date? = nil, notAfter: Date? = nil,
        messages: [InAppRegistration] = [], sampling: Sampling = .undecided
    ) {
        self.id = id
        self.source = source
        self.acceptedAt = acceptedAt
        self.vendor = vendor
        self.kind = kind
        self.warnings = warnings
        ownSubject = subject
        self.body = body
        self.payload = payload
        self.keeping = keeping
        self.shown = shown
        self.category = category
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.messages = messages
        self.sampling = sampling
    }

    /// Whether the event is that of a payload. Others are about a tap, an in-app message or a delivery.
    package var isOfPayload: Bool { ownSubject == nil }

    /// CloudEvents' `subject`, `vendor/kind` for a notification. Allocates on each call.
    package var subject: String { ownSubject ?? "\(vendor.name)/\(kind.rawValue)" }
}

/// How long a payload is kept for operators if no destination receives it.
package enum PayloadKeeping: Sendable {
    /// Until all deliveries of its event have been delivered or have expired; not at all without a delivery.
    case untilDelivered
    /// As long as its event.
    case withEvent
}

/// An event with the deliveries that the routes order: the unit that the queue appends.
///
/// A class although it is immutable: copying its fields from stage to stage took about a twentieth of the processor
/// time of a batch.
package final class RoutedEvent: Sendable {
    /// The event in its stored form.
    package let event: Event
    /// Names of the routes that matched, in the config's order.
    package let routes: [String]
    /// At most one for each destination.
    package let deliveries: [DeliveryOrder]
    /// The payload as received, if one of the destinations requires it.
    package let payload: [UInt8]?
    /// Other forms of the event, for destinations that do not receive it in its stored form.
    package let variants: [[UInt8]]
    /// The files for which the deliveries with a ``DeliveryOrder/mediaUntil`` wait; nil if none waits.
    package let media: MediaWait?
    /// Stored files that the event refers to.
    package let files: [MediaFile]
    /// The rule by which the event counts as a repeat; nil if it never does.
    package let dedupe: Dedupe?
    /// True when the id is derived from the event's origin, so that an event with the same id is a repeat. Other ids
    /// are always new.
    package let hasLastingID: Bool
    /// Events that are appended in the same transaction, or dropped with this one if it is a repeat.
    package let followers: [RoutedEvent]
    /// The in-app messages that the payload brings, each id once. They are registered in this order in the same
    /// transaction, unless the event is a repeat.
    package let messages: [InAppRegistration]
    /// The id of the event that this one reports on, such as a tap on a notification; nil for none.
    package let about: String?

    /// `deliveries`: at most one for each destination. `followers`: appended or dropped together with this event.
    package init(
        event: Event, routes: [String], deliveries: [DeliveryOrder], payload: [UInt8]? = nil, variants: [[UInt8]] = [],
        media: MediaWait? = nil, files: [MediaFile] = [], dedupe: Dedupe? = nil, hasLastingID: Bool = false,
        followers: [RoutedEvent] = [], messages: [InAppRegistration] = [], about: String? = nil
    ) {
        self.event = event
        self.routes = routes
        self.deliveries = deliveries
        self.payload = payload
        self.variants = variants
        self.media = media
        self.files = files
        self.dedupe = dedupe
        self.hasLastingID = hasLastingID
        self.followers = followers
        self.messages = messages
        self.about = about
    }

    /// The deliveries of the event and of its followers.
    package var deliveryCount: Int { deliveries.count + followers.deliveryCount }

    /// The same event with other deliveries.
    package func with(deliveries: [DeliveryOrder]) -> RoutedEvent {
        RoutedEvent(
            event: event, routes: routes, deliveries: deliveries, payload: payload, variants: variants, media: media,
            files: files, dedupe: dedupe, hasLastingID: hasLastingID, followers: followers,
            messages: messages, about: about)
    }

    /// The destinations of the deliveries, in their order.
    package var destinations: [DestinationName] { deliveries.map(\.destination) }

    /// An event is a repeat if the scope has an event with the same key that was accepted at `since` or later.
    package struct Dedupe: Sendable, Equatable {
        /// Compared exactly with the keys of earlier events.
        package let key: String
        /// The beginning of the window, by the gateway's clock.
        package let since: Date
        /// The events with which the key is compared.
        package let scope: Scope

        /// The events that share a set of keys.
        package enum Scope: Sendable, Equatable {
            /// Events of the same source.
            case source
            /// Events of all sources that use this scope.
            case all
        }

        /// `since`: earlier events with the key do not count.
        package init(key: String, since: Date, scope: Scope = .source) {
            (self.key, self.since, self.scope) = (key, since, scope)
        }
    }
}

/// The order to deliver an event to one destination.
package struct DeliveryOrder: Sendable, Equatable {
    /// A destination of the config.
    package let destination: DestinationName
    /// Earliest time of the first attempt.
    package var notBefore: Date?
    /// End of the delivery period, exclusive.
    package var notAfter: Date?
    /// Deliveries to one destination with equal keys are sent one after the other; nil for no order.
    package var orderKey: String?
    /// Position of the destination's form of the event in ``RoutedEvent/variants``; nil for the stored form.
    package var variant: Int?
    /// Until this time the delivery waits for the event's files; nil if it does not wait.
    package var mediaUntil: Date?
    /// The route whose transformation the gateway applies once the files are stored; nil for none.
    package var transformRoute: String?

    /// An order of the stored form, without a wait for files. Set the other properties afterwards.
    package init(
        to destination: DestinationName, notBefore: Date? = nil, notAfter: Date? = nil, orderKey: String? = nil
    ) {
        (self.destination, self.notBefore) = (destination, notBefore)
        (self.notAfter, self.orderKey) = (notAfter, orderKey)
    }
}

extension [RoutedEvent] {
    /// The deliveries of all events and of their followers.
    package var deliveryCount: Int { reduce(0) { $0 + $1.deliveryCount } }
}
