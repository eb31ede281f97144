import Foundation
import SignalboxInApp
import SignalboxNotification
import SignalboxRouting

/// Turns the records of decisions into events with their deliveries. Runs within the store's transaction, so it is a
/// function of its input and its work is bounded.
/// An event has the deliveries that the routes of the active config give it, and is committed with the rows of its
/// decision: an event without its transition, or a transition without its event, does not exist.
struct InAppEvents: Sendable {
    /// Work of the routes for one event: decisions of all devices wait for it.
    private static let workLimit = Intake.directWork

    /// The name of the gateway, for `source`.
    private let gateway: String
    /// With ``workLimit`` instead of their own limit.
    private let routes: RouteTable
    let variants: EventVariants
    /// Set if the routes decide the same for every event: events then need not be parsed.
    private let uniform: UniformRouting?

    /// `variants`: counts the routes that match, after the commit.
    init(gateway: String, routes: RouteTable, variants: EventVariants) {
        self.gateway = gateway
        var routes = routes
        routes.workLimit = min(routes.workLimit, Self.workLimit)
        (self.routes, self.variants) = (routes, variants)
        // Destinations that want the payload do not receive in-app events, so this decision does not apply to them.
        uniform = routes.uniformDecision.flatMap { $0.wantsPayload ? nil : UniformRouting($0) }
    }

    /// The events of one decision.
    /// Committed with the rows of the decision.
    struct Routed: Sendable {
        var events: [RoutedEvent] = []
        /// Events for which the routes took too much work. The fallback's destinations receive them.
        var costly = 0
    }

    /// Events in the order of the records. `source`: the source of the request; the default one for a transition that
    /// time caused. `random`: makes the ids; equal numbers give equal ids.
    func route(_ decision: Decision, from source: SourceName, random: (UInt64, UInt64)) -> Routed {
        var routed = Routed()
        let time = Date(decision.now)
        let user = decision.state.user.id
        let origin = InAppEvent.Origin(
            gateway: gateway, source: source, device: decision.state.device.id,
            user: AnonymousUser.contains(user) ? nil : user)
        for (position, record) in decision.records.enumerated() {
            let event = InAppEvent.event(
                record, from: origin, id: InAppEvent.id(position, at: time, random: random), acceptedAt: time)
            routed.events.append(route(event, &routed.costly))
        }
        return routed
    }

    /// Adds one to `costly` if the routes take too much work. The in-app decision is final; only the fallback's
    /// destinations receive its event then.
    private func route(_ event: Event, _ costly: inout Int) -> RoutedEvent {
        if let uniform, case .success(let routed) = uniform.route(.success(event)) { return routed }
        let (routed, isCostly) = routes.route(own: event, variants: variants)
        if isCostly { costly += 1 }
        return routed
    }
}

/// The engine's times, in milliseconds since 1970.
extension Date {
    /// Exact for all times that a form accepts.
    init(_ instant: Instant) { self.init(timeIntervalSince1970: Double(instant) / 1000) }

    /// Milliseconds since 1970, rounded down.
    var instant: Instant { Instant((timeIntervalSince1970 * 1000).rounded(.down)) }
}
