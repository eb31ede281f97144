import SignalboxConfig
package import SignalboxJSON
import SignalboxNotification

/// Whether a route takes an event, and why not. The checks run in the order of the cases, except that an earlier
/// `stop` precedes the pattern.
package enum RouteVerdict: Sendable, Equatable {
    /// Pattern, window and sample accept the event.
    case taken
    /// The config has `"enabled": false`.
    case disabled
    /// The first field of the pattern that the event does not match, and the event's value there; see
    /// ``longestFound``.
    case mismatch(pointer: String, found: JSONText?)
    /// The event's time is outside the route's window.
    case outsideWindow
    /// The route takes a share of events, and not this one.
    case notInSample
    /// An earlier route with `stop` took the event.
    case stopped(by: String)

    /// The most bytes of a value that was found, because each of many routes may hold it. A longer value is a string
    /// with its beginning and `…`.
    package static let longestFound = 500

    /// A stable identifier for programs. Programs depend on it, so it does not change.
    package var code: String {
        switch self {
        case .taken: "taken"
        case .disabled: "disabled"
        case .mismatch: "mismatch"
        case .outsideWindow: "outside-window"
        case .notInSample: "not-in-sample"
        case .stopped: "stopped"
        }
    }

    /// For people, to follow the name of the route and a colon.
    package var words: String {
        switch self {
        case .taken: "yes"
        case .disabled: "no; it is disabled"
        case .mismatch(let pointer, let found): "no; \(pointer) is \(found?.string ?? "absent")"
        case .outsideWindow: "no; the event's time is outside its window"
        case .notInSample: "no; the event is not in its sample"
        case .stopped(let route): "not evaluated, because \(route) has \"stop\""
        }
    }
}

extension RouteVerdict {
    /// The value as a verdict holds it. Spends the bytes that are read.
    fileprivate static func found(_ value: JSONValue, work: inout MatchWork) -> JSONText {
        if let text = value.utf8, text.count > longestFound { return beginning(of: text.prefix(longestFound)) }
        let text = JSONText(value)
        work.spend(text.bytes.count)
        guard !value.isString, text.bytes.count > longestFound else { return text }
        return beginning(of: text.bytes.prefix(longestFound))
    }

    /// A string of these bytes and `…`, without the last character, which may be cut.
    private static func beginning(of bytes: some BidirectionalCollection<UInt8>) -> JSONText {
        let lead = bytes.lastIndex { $0 & 0xC0 != 0x80 } ?? bytes.startIndex
        var json = JSONWriter()
        json.string(String(decoding: bytes[..<lead], as: UTF8.self) + "…")
        return JSONText(json)
    }
}

extension RouteTable {
    /// The verdict of every route on an event, in order, disabled routes included. Evaluates every pattern by itself,
    /// for explanations and tests; the intake uses the index. `isOperational`: for an event about the gateway itself,
    /// a pattern that does not name the `type` is a mismatch. Throws if that takes more than 16 times the work limit of
    /// a decision.
    package func verdicts(
        on event: JSONValue, isOperational: Bool = false
    ) throws(RoutingTooCostly) -> [(route: Route, verdict: RouteVerdict)] {
        // Explaining each route by itself takes more work than deciding by the index.
        var work = MatchWork(limit: 16 * workLimit)
        var stopper: String?
        var verdicts: [(route: Route, verdict: RouteVerdict)] = []
        for route in routes {
            var verdict = RouteVerdict.disabled
            if route.isEnabled {
                if let stopper {
                    verdict = .stopped(by: stopper)
                } else {
                    verdict = try route.verdict(on: event, isOperational: isOperational, &work)
                }
            }
            if verdict == .taken, route.stop { stopper = route.name }
            verdicts.append((route, verdict))
        }
        return verdicts
    }

    /// The same table with samples that include every event: for tests of routes. Compiles the patterns again.
    package var withoutSampling: RouteTable {
        var table = self
        table.routes = routes.map { route in
            var route = route
            route.sample = nil
            return route
        }
        return table
    }
}

/// Checks that follow the pattern.
extension Route {
    /// Why the route takes an event or not, regardless of other routes.
    fileprivate func verdict(
        on event: JSONValue, isOperational: Bool, _ work: inout MatchWork
    ) throws(RoutingTooCostly) -> RouteVerdict {
        if let mismatch = try match.mismatch(in: event, work: &work) {
            return .mismatch(
                pointer: mismatch.pointer, found: mismatch.found.map { RouteVerdict.found($0, work: &work) })
        }
        if isOperational, try !match.namesType(of: event, work: &work) {
            return .mismatch(pointer: "/type", found: event["type"].map { RouteVerdict.found($0, work: &work) })
        }
        guard isOpen(for: event) else { return .outsideWindow }
        return samples(event) ? .taken : .notInSample
    }

    /// Whether the route takes an event that its pattern matches. The matcher has checked the pattern before.
    func admits(_ event: JSONValue) -> Bool { isEnabled && isOpen(for: event) && samples(event) }

    /// Whether the event's time is in the window; an event without a time is in no window. The time is the event's
    /// `time`, not the time of the decision.
    private func isOpen(for event: JSONValue) -> Bool {
        guard let window else { return true }
        return event["time"]?.utf8.flatMap { Timestamp(iso8601: $0) }.map { window.contains($0) } ?? false
    }

    /// Whether the sample includes the event; an event without an id is in no sample. All routes with the same share
    /// choose the same events.
    private func samples(_ event: JSONValue) -> Bool {
        guard let sample else { return true }
        return event["id"]?.string.map { sample.takes($0) } ?? false
    }
}
