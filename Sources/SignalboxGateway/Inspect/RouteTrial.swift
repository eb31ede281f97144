package import Foundation
package import SignalboxNotification
package import SignalboxRouting

/// The routing of one event, without storing or sending it.
package struct RouteTrial: Sendable {
    /// CloudEvents' `subject`; nil for an event without one.
    package let subject: String?
    /// All routes, in order.
    package let routes: [Entry]
    /// In the order in which the matching routes name them; the destinations of the fallback if none matches.
    package let destinations: [DestinationName]
    /// True if no route matches and the event goes to the fallback.
    package let usesFallback: Bool

    /// A route with its verdict on the event.
    package struct Entry: Sendable, Equatable {
        /// `name`: unique in the config.
        package let name: String
        /// Every destination that the route names, even if it does not match.
        package let destinations: [DestinationName]
        /// Whether the route matches the event; otherwise the first check that failed.
        package let verdict: RouteVerdict
    }

    /// Names of the routes that match. In the order of the config.
    package var taken: [String] { routes.filter { $0.verdict == .taken }.map(\.name) }
}

/// Routes payloads and events without a queue, with the same normalizer and routes as a gateway. Safe to use from any
/// task: it has no mutable state and makes a parser for each trial. One value serves all requests of a config.
package struct RouteTrials: Sendable {
    private let normalizer: Normalizer
    private let routes: RouteTable
    /// Empty if no source has a fixed vendor.
    private let vendors: [SourceName: VendorID]

    /// `vendors`: the vendors of the sources that send payloads of one vendor only. The same arguments as for the
    /// gateway's own intake, so that a trial decides as the gateway would.
    package init(normalizer: Normalizer, routes: RouteTable, vendors: [SourceName: VendorID]) {
        self.normalizer = normalizer.forPreviews
        (self.routes, self.vendors) = (routes, vendors)
    }

    /// `text`: a payload, or an event in structured CloudEvents JSON, which is used unchanged. `source`, `time`: source
    /// and time of a payload. Throws if the gateway would reject the payload, or if routing takes too much work. An
    /// event is matched unchanged, without a check of its source or id. A payload becomes an event with a new id at
    /// each call.
    package func trial(of text: [UInt8], from source: SourceName, at time: Date) throws(Rejection) -> RouteTrial {
        if text.count <= Normalizer.payloadLimit, let event = EventDocument(text), event.isCloudEvent {
            return try trial(of: event)
        }
        let event = try text.withUnsafeBufferPointer { (bytes) throws(Rejection) in
            try normalizer.event(
                bytes, as: Reception(from: source, at: time, vendor: vendors[source]), at: PayloadPosition(),
                with: Normalizer.makeParser())
        }
        guard let document = EventDocument(event.body) else { throw .eventTooLarge(at: PayloadPosition()) }
        return try trial(of: document)
    }

    /// Names of the routes that match a stored event; nil if evaluating them takes too much work, and for bytes that
    /// are not an event.
    package func routes(of event: [UInt8]) -> [String]? {
        guard let document = EventDocument(event) else { return nil }
        return document.withRoot { root, _ in
            // Routes are an addition to a list, which must not fail for one costly event.
            do throws(RoutingTooCostly) {
                return try routes.decide(root, isOperational: OperationalEvent.isOperational(root)).routes
            } catch { return nil }
        }
    }

    /// Evaluates the routes twice: once by the index, once for the reasons. Both evaluations count against the limit
    /// of work separately, so an event that is accepted may still fail to be explained.
    private func trial(of event: EventDocument) throws(Rejection) -> RouteTrial {
        try event.withRoot { (root, _) throws(Rejection) in
            do throws(RoutingTooCostly) {
                let isOperational = OperationalEvent.isOperational(root)
                let decision = try routes.decide(root, isOperational: isOperational)
                let entries = try routes.verdicts(on: root, isOperational: isOperational).map {
                    RouteTrial.Entry(name: $0.route.name, destinations: $0.route.destinations, verdict: $0.verdict)
                }
                return RouteTrial(
                    subject: event.text("subject"), routes: entries, destinations: decision.destinations,
                    usesFallback: decision.routes.isEmpty && !isOperational && !routes.fallback.isEmpty)
            } catch { throw .tooCostly(at: PayloadPosition()) }
        }
    }
}
