package import Foundation

/// An event as it will be stored, signed and sent: a CloudEvents envelope whose bytes are written once.
package struct Event: Sendable {
    package let id: EventID
    package let source: SourceName
    package let acceptedAt: Date
    package let vendor: VendorID
    package let kind: PushNotification.Kind
    /// Codes of the warnings it carries.
    package let warnings: [String]
    /// Structured CloudEvents JSON, UTF-8.
    package let body: [UInt8]

    package init(
        id: EventID, source: SourceName, acceptedAt: Date, vendor: VendorID, kind: PushNotification.Kind,
        warnings: [String], body: [UInt8]
    ) {
        self.id = id
        self.source = source
        self.acceptedAt = acceptedAt
        self.vendor = vendor
        self.kind = kind
        self.warnings = warnings
        self.body = body
    }

    /// `vendor/kind`, CloudEvents' `subject`.
    package var subject: String { "\(vendor.name)/\(kind.rawValue)" }
}

/// An event with the destinations that the routes gave it: what the queue takes.
package struct RoutedEvent: Sendable {
    package let event: Event
    /// Names of the routes that matched, in the config's order.
    package let routes: [String]
    /// Each destination once.
    package let destinations: [DestinationName]

    package init(event: Event, routes: [String], destinations: [DestinationName]) {
        self.event = event
        self.routes = routes
        self.destinations = destinations
    }
}

/// A name under `destinations` of the config.
package struct DestinationName: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let name: String
    package init(_ name: String) { self.name = name }
    package var description: String { name }
    package static func < (left: DestinationName, right: DestinationName) -> Bool { left.name < right.name }
}
