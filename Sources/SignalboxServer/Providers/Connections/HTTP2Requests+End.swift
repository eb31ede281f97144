import NIOCore
import NIOHTTP2

/// The end of an HTTP/2 connection.
extension HTTP2Requests {
    /// Performs the actions of ``farewell`` in order, and flushes if there are any.
    func perform(_ actions: [ConnectionFarewell.Action]) {
        for action in actions {
            switch action {
            case .announce:
                // The frames so far come first.
                flush()
                tap.announceEnd()
                write(.ping(Self.announcement, ack: false), on: .rootStream)
                startChecks()
            case .goAway(let debugData):
                let data = debugData.map { ByteBuffer(bytes: $0) }
                write(.goAway(lastStreamID: lastStream, errorCode: .noError, opaqueData: data), on: .rootStream)
                startChecks()
            case .close: closeOutput()
            }
        }
        if !actions.isEmpty { flush() }
    }

    /// Ends the connection as soon as its requests are answered. The library holds DATA frames back until a flush, and
    /// a client reads none of them after GOAWAY. `debugData`: of the GOAWAY.
    func endAtOnce(debugData: [UInt8]? = nil) {
        // Before the decision: the flush may end the last request.
        flush()
        perform(farewell.beginAtOnce(at: now, debugData: debugData, isIdle: streams.isEmpty))
    }

    /// The library reads nothing more. Requests that are complete are still answered.
    func dropIncomplete() {
        for (id, stream) in streams where !stream.isEnded { streams[id] = nil }
        if streams.isEmpty { activity.markIdle(at: now) }
        perform(farewell.requestsEnded(streams.isEmpty))
    }

    /// Sends a PING to a client whose window runs out. If the client does not extend the window before it acknowledges
    /// the PING, the connection ends. Most clients extend it.
    ///
    /// The end has no GOAWAY: between GOAWAY and the end, aioapns fails its pushes, which it sends again after an end
    /// without one.
    func probeWindow() {
        guard window.probedAt == nil else { return }
        window.probedAt = now
        write(.ping(Self.windowProbe, ack: false), on: .rootStream)
        startChecks()
    }

    /// Ends the connection because of its client. Its requests in progress get no response.
    func abort(_ code: HTTP2ErrorCode) {
        write(.goAway(lastStreamID: lastStream, errorCode: code, opaqueData: nil), on: .rootStream)
        flush()
        close()
    }

    /// Sends what was written, and the end of the output. The client closes the connection, or a deadline does. The
    /// deadline is 5 s. Repeated calls have no effect.
    func closeOutput() {
        flush()
        guard !isClosing, let context else { return }
        isClosing = true
        context.close(mode: .output, promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .seconds(5)) { bound.value.close(promise: nil) }
    }

    /// Ends an idle connection for the sake of another one. Does not wait for the client, which could keep its place.
    func closeIdle() {
        perform(farewell.beginAtOnce(at: now, debugData: nil, isIdle: false))
        isClosing = true
        context?.closeAtOnce()
    }

    /// Ends the connection at once, without a GOAWAY. Responses that were written and not flushed are lost.
    func close() {
        isClosing = true
        context?.close(promise: nil)
    }
}
