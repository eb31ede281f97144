import NIOCore
import NIOHTTP2

/// The timers of a connection. Owned by ``HTTP2Requests``.
struct ConnectionClock {
    /// Whether the client sent a frame since the last PING.
    var hasRead = true
    /// Whether the last period ended with a PING, and the client has sent no frame since.
    fileprivate var isAwaitingPing = false
    /// When the connection began to serve requests.
    var start = NIODeadline.now()
    /// Checks for idleness, age and silence, once in ``ProviderLimits/keepalive``.
    fileprivate var keepalive: RepeatedTask?
    /// The next check of deadlines; nil while no deadline is set.
    fileprivate var check: Scheduled<Void>?

    /// Cancels all timers.
    mutating func stop() {
        keepalive?.cancel()
        check?.cancel()
        (keepalive, check) = (nil, nil)
    }
}

extension HTTP2Requests {
    /// Starts the timer of an idle connection.
    func startClock() {
        guard let eventLoop = context?.eventLoop else { return }
        clock.start = now
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        let period = serving.limits.keepalive
        clock.keepalive = eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
            bound.value.checkIdle()
        }
    }

    /// Ends an idle or old connection gracefully. Closes one whose client does not acknowledge a PING. Runs once in
    /// ``ProviderLimits/keepalive``, so the other limits are kept with that precision.
    private func checkIdle() {
        let limits = serving.limits
        if now - clock.start >= limits.age { return perform(farewell.begin(at: now)) }
        if let idle = activity.idleSince, now - idle >= limits.idle { return perform(farewell.begin(at: now)) }
        guard streams.isEmpty else { return }
        if clock.hasRead {
            (clock.hasRead, clock.isAwaitingPing) = (false, false)
        } else if clock.isAwaitingPing {
            close()
        } else {
            clock.isAwaitingPing = true
            write(.ping(HTTP2PingData(withInteger: 2), ack: false), on: .rootStream)
            flush()
        }
    }

    /// Checks deadlines while there are any, at a fixed interval: one timer for all requests of a connection.
    func startChecks() {
        guard clock.check == nil, let eventLoop = context?.eventLoop else { return }
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        clock.check = eventLoop.scheduleTask(in: serving.limits.check) { bound.value.check() }
    }

    /// Checks all deadlines, then schedules the next check if one is left. A deadline that ends the connection ends the
    /// checks.
    private func check() {
        clock.check = nil
        let limits = serving.limits
        if let unwritable, now - unwritable >= limits.readTime { return close() }
        if let since = tap.incompleteSince, now - since >= limits.headers { return abort(.enhanceYourCalm) }
        // Collected first, because a reset removes its stream.
        let overdue = streams.compactMap { id, stream in stream.overdue(at: now, limits).map { (id, $0) } }
        for (id, reason) in overdue {
            switch reason {
            case .body: write(.rstStream(.cancel), on: id)
            case .ignoredBody: write(.rstStream(.noError), on: id)
            case .response: return abort(.enhanceYourCalm)
            }
        }
        if window.isOver(at: now, limits: limits) { return closeOutput() }
        flush()
        perform(farewell.check(at: now, limits, isIdle: streams.isEmpty))
        let isProbed = window.probedAt != nil && !window.isExtended
        if !streams.isEmpty || !farewell.isOpen || isProbed || unwritable != nil || tap.isIncomplete { startChecks() }
    }
}
