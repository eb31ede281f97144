package import Foundation
import SignalboxJSON
package import SignalboxNotification
package import SignalboxRouting

/// The routing of one event, without storing or sending it.
package struct RouteTrial: Sendable {
    package let subject: String?
    /// All routes, in order.
    package let routes: [Entry]
    package let destinations: [DestinationName]
    /// True if no route matches and the event goes to the fallback.
    package let usesFallback: Bool

    package struct Entry: Sendable, Equatable {
        package let name: String
        package let destinations: [DestinationName]
        package let verdict: RouteVerdict
    }

    /// Names of the routes that match.
    package var taken: [String] { routes.filter { $0.verdict == .taken }.map(\.name) }
}

/// Routes payloads and events without a queue.
package struct RouteTrials: Sendable {
    private let normalizer: Normalizer
    private let routes: RouteTable
    private let vendors: [SourceName: VendorID]
    private let payloadParsers = ParserPool.forPayloads()
    private let eventParsers = ParserPool.forEvents()

    /// `vendors`: of the sources that send payloads of one vendor only.
    package init(normalizer: Normalizer, routes: RouteTable, vendors: [SourceName: VendorID]) {
        self.normalizer = normalizer
        self.routes = routes
        self.vendors = vendors
    }

    /// `text`: a payload, or an event in structured CloudEvents JSON, which is used unchanged. `source`, `time`:
    /// source and time of a payload.
    package func trial(
        of text: [UInt8], from source: SourceName, at time: Date
    ) throws(Rejection) -> RouteTrial {
        try payloadParsers.withParser { (parser) throws(Rejection) in
            try text.withUnsafeBufferPointer { (bytes) throws(Rejection) in
                if let value = try? parser.parse(bytes), value.isEvent { return try trial(of: value) }
                parser.reset()
                let reception = Reception(from: source, at: time, vendor: vendors[source])
                let event = try normalizer.event(bytes, as: reception, at: Place(), with: parser)
                return try eventParsers.withParser { (parser) throws(Rejection) in
                    try trial(of: try parser.read(event, at: Place()))
                }
            }
        }
    }

    private func trial(of event: JSONValue) throws(Rejection) -> RouteTrial {
        do throws(RoutingTooCostly) {
            let decision = try routes.decide(event)
            let entries = try routes.verdicts(on: event).map {
                RouteTrial.Entry(name: $0.route.name, destinations: $0.route.destinations, verdict: $0.verdict)
            }
            return RouteTrial(
                subject: event["subject"]?.string, routes: entries, destinations: decision.destinations,
                usesFallback: decision.routes.isEmpty && !routes.fallback.isEmpty)
        } catch {
            throw .tooCostly(at: Place())
        }
    }
}

extension JSONValue {
    /// True if the value has the required attributes of a CloudEvent, which no payload has.
    fileprivate var isEvent: Bool {
        ["specversion", "id", "source", "type"].allSatisfy { member($0)?.isString ?? false }
    }
}
