/// How the destinations of a route have the files that an event points to.
package enum RouteMedia: Sendable, Equatable {
    /// Not at all: the event comes without them.
    case none
    /// As the vendor's links; nothing is downloaded for them.
    case link
    /// Downloaded, with links to the gateway's copies. Deliveries wait this long; what is missing then is left out.
    case stored(wait: Duration)

    /// How long deliveries wait unless the route says otherwise.
    static let defaultWait: Duration = .seconds(30)
}
