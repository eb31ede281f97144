import NIOCore

/// Decides how an HTTP/2 connection ends without losing requests: a GOAWAY that announces the end, a PING, a GOAWAY
/// with the last request after the client has acknowledged the PING, and the end when all requests are answered
/// (RFC 9113, 6.8). A pure value.
struct ConnectionFarewell {
    /// A step for the caller. Steps must be performed in the order of the returned list.
    enum Action: Equatable {
        /// GOAWAY with the largest stream id, so requests on their way are still served, then PING.
        case announce
        /// GOAWAY with the last stream that is served.
        case goAway(debugData: [UInt8]?)
        /// Send the responses that were written, and end the output. After the grace period, requests may be in
        /// progress.
        case close
    }

    /// A connection passes through the cases in this order, and may skip ``announced(since:)``.
    private enum State {
        case open
        /// The first GOAWAY was sent. New requests are served until the client acknowledges the PING, at the latest
        /// until ``ProviderLimits/announcement`` is over.
        case announced(since: NIODeadline)
        /// The GOAWAY with the last stream was sent. The connection closes when it is idle, at the latest after
        /// ``ProviderLimits/grace``.
        case last(since: NIODeadline)
        /// ``Action/close`` was returned; no action follows.
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

    /// The client acknowledged a PING. Has no effect unless the end is announced: the connection sends other PINGs too.
    mutating func acknowledge(at now: NIODeadline, isIdle: Bool) -> [Action] {
        guard case .announced = state else { return [] }
        return beginAtOnce(at: now, debugData: nil, isIdle: isIdle)
    }

    /// `isIdle`: whether no request is in progress. Call it when the last request in progress ends. Has no effect
    /// before the last GOAWAY.
    mutating func requestsEnded(_ isIdle: Bool) -> [Action] {
        guard case .last = state, isIdle else { return [] }
        state = .closed
        return [.close]
    }

    /// Called from time to time until the end. Ends an announcement without an acknowledgement, and a grace period, in
    /// time.
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
