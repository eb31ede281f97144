package import Foundation
package import SignalboxJSON

/// An event as it will be stored, signed and sent: a CloudEvents envelope whose bytes are written once.
package struct Event: Sendable {
    package let id: EventID
    package let source: SourceName
    package let acceptedAt: Date
    package let vendor: VendorID
    package let kind: PushNotification.Kind
    /// Codes of the warnings it carries.
    package let warnings: [String]
    private let ownSubject: String?
    /// Structured CloudEvents JSON, UTF-8.
    package let body: [UInt8]
    /// The payload as it came, where somebody wants it.
    package var payload: [UInt8]?
    /// The APNs payload as it should be shown, where somebody wants it.
    package var shown: JSONText?
    /// What the registry is to know of the buttons that the payload defines.
    package var category: DefinedCategory?
    /// Until then it is not to be delivered.
    package var notBefore: Date?
    /// From then on it is not to be delivered any more.
    package var notAfter: Date?

    package init(
        id: EventID, source: SourceName, acceptedAt: Date, vendor: VendorID, kind: PushNotification.Kind,
        warnings: [String], subject: String? = nil, body: [UInt8]
    ) {
        self.id = id
        self.source = source
        self.acceptedAt = acceptedAt
        self.vendor = vendor
        self.kind = kind
        self.warnings = warnings
        ownSubject = subject
        self.body = body
    }

    /// CloudEvents' `subject`: `vendor/kind` of a notification. Made when asked for.
    package var subject: String { ownSubject ?? "\(vendor.name)/\(kind.rawValue)" }
}

/// An event with the deliveries that the routes gave it: what the queue takes.
///
/// A class although it is a value, and nothing in it changes: it is handed on from stage to stage, and copying all that it
/// holds took about a twentieth of the processor time of a batch.
package final class RoutedEvent: Sendable {
    package let event: Event
    /// Names of the routes that matched, in the config's order.
    package let routes: [String]
    /// One for each destination.
    package let deliveries: [DeliveryOrder]
    /// The payload as it came, where one of the destinations wants it.
    package let payload: [UInt8]?
    /// The event as some destinations get it, where that is not as it is stored.
    package let variants: [[UInt8]]
    /// The files that those deliveries wait for which say so; nil where none does.
    package let media: MediaWait?
    /// Files that are kept already and that it points to.
    package let files: [MediaFile]
    /// What makes it the same as another one, and since when others count.
    package let dedupe: Dedupe?
    /// Whether its id says where it comes from, so that an event of the same id that is there already is this one. All
    /// other ids are new.
    package let hasLastingID: Bool
    /// Events that are taken with this one, or not at all where it is a repeat.
    package let followers: [RoutedEvent]

    package init(
        event: Event, routes: [String], deliveries: [DeliveryOrder], payload: [UInt8]? = nil, variants: [[UInt8]] = [],
        media: MediaWait? = nil, files: [MediaFile] = [], dedupe: Dedupe? = nil, hasLastingID: Bool = false,
        followers: [RoutedEvent] = []
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
    }

    /// The same event with other deliveries.
    package func with(deliveries: [DeliveryOrder]) -> RoutedEvent {
        RoutedEvent(
            event: event, routes: routes, deliveries: deliveries, payload: payload, variants: variants, media: media,
            files: files, dedupe: dedupe, hasLastingID: hasLastingID, followers: followers)
    }

    package var destinations: [DestinationName] { deliveries.map(\.destination) }

    package struct Dedupe: Sendable, Equatable {
        package let key: String
        package let since: Date
        /// Among whom it is the same.
        package let scope: Scope

        package enum Scope: Sendable, Equatable {
            /// Events of the same source.
            case source
            /// Events of all sources that have this scope too.
            case all
        }

        package init(key: String, since: Date, scope: Scope = .source) {
            self.key = key
            self.since = since
            self.scope = scope
        }
    }
}

/// That an event is to go to a destination, and when.
package struct DeliveryOrder: Sendable, Equatable {
    package let destination: DestinationName
    /// Until then it waits.
    package var notBefore: Date?
    /// From then on it is not sent any more.
    package var notAfter: Date?
    /// Among deliveries to this destination with an equal key one is sent after the other; nil for no order.
    package var orderKey: String?
    /// Position of the variant of the event that the destination gets; nil for the event as it is stored.
    package var variant: Int?
    /// Until then it waits for the event's files; nil for one that does not.
    package var mediaUntil: Date?
    /// The route whose transformation the event gets when its files are there; nil where there is nothing left to do.
    package var shape: String?

    package init(
        to destination: DestinationName, notBefore: Date? = nil, notAfter: Date? = nil, orderKey: String? = nil
    ) {
        self.destination = destination
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.orderKey = orderKey
    }
}

/// A name under `destinations` of the config.
package struct DestinationName: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let name: String
    package init(_ name: String) { self.name = name }
    package var description: String { name }
    package static func < (left: DestinationName, right: DestinationName) -> Bool { left.name < right.name }
}
