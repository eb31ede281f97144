import NIOCore

/// Decides how an HTTP/2 connection ends without losing requests: a GOAWAY that announces the end, a PING, a GOAWAY
/// with the last request after the client has acknowledged the PING, and the end when all requests are answered
/// (RFC 9113, 6.8). A pure value.
struct ConnectionFarewell {
    enum Action: Equatable {
        /// GOAWAY with the largest stream id, so requests on their way are still served, then PING.
        case announce
        /// GOAWAY with the last stream that is served.
        case goAway(debugData: [UInt8]?)
        case close
    }

    private enum State {
        case open
        case announced(since: NIODeadline)
        case last(since: NIODeadline)
        case closed
    }

    private var state = State.open

    /// Whether the connection serves requests without an end in sight.
    var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// Whether a request that begins now is served.
    var servesNew: Bool {
        switch state {
        case .open, .announced: true
        case .last, .closed: false
        }
    }

    /// Ends the connection as soon as its requests are answered. Repeated calls have no effect.
    mutating func begin(at now: NIODeadline) -> [Action] {
        guard case .open = state else { return [] }
        state = .announced(since: now)
        return [.announce]
    }

    /// Like ``begin(at:)``, without the announcement. The GOAWAY has `debugData`.
    mutating func beginAtOnce(at now: NIODeadline, debugData: [UInt8]?, isIdle: Bool) -> [Action] {
        switch state {
        case .open, .announced: break
        case .last, .closed: return []
        }
        state = .last(since: now)
        return [.goAway(debugData: debugData)] + requestsEnded(isIdle)
    }

    /// The client acknowledged a PING.
    mutating func acknowledge(at now: NIODeadline, isIdle: Bool) -> [Action] {
        guard case .announced = state else { return [] }
        return beginAtOnce(at: now, debugData: nil, isIdle: isIdle)
    }

    /// `isIdle`: whether no request is in progress.
    mutating func requestsEnded(_ isIdle: Bool) -> [Action] {
        guard case .last = state, isIdle else { return [] }
        state = .closed
        return [.close]
    }

    /// Called from time to time until the end.
    mutating func check(at now: NIODeadline, _ limits: ProviderLimits, isIdle: Bool) -> [Action] {
        switch state {
        case .announced(let since) where now - since >= limits.announcement:
            return beginAtOnce(at: now, debugData: nil, isIdle: isIdle)
        case .last(let since) where now - since >= limits.grace:
            state = .closed
            return [.close]
        case .open, .announced, .last, .closed: return []
        }
    }
}
