import NIOCore
import NIOHPACK
import NIOHTTP2

/// Serves the requests of one HTTP/2 connection, directly on its frames.
///
/// A response without a body is one HEADERS frame that ends the stream; any other is HEADERS and one DATA frame that
/// ends the stream. Senders rely on that (decision 0022). Runs on the event loop of its connection, behind
/// `NIOHTTP2Handler`, which keeps the rules of RFC 9113.
final class HTTP2Requests: ChannelDuplexHandler, NIOHTTP2FrameDelegate {
    typealias InboundIn = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    // A class because the channel calls it, only on its event loop.
    let serving: ProviderServing
    let connection: ProviderConnection
    /// Read by the connection table to choose the connection to close.
    let activity: ConnectionActivity
    /// Sees the bytes before they are decoded.
    let tap: FrameTap
    /// The open streams. A stream stays after its response until both sides have ended it.
    var streams: [HTTP2StreamID: HTTP2Stream] = [:]
    /// The last stream that the client began.
    var lastStream = HTTP2StreamID.rootStream
    /// Decides how the connection ends; ``perform(_:)`` carries it out.
    var farewell = ConnectionFarewell()
    /// The windows of the connection. Those of streams are in the library.
    var window = PeerWindow()
    /// Answers from other threads. The answers of one commit are written together.
    private let replies = Mailbox<(id: HTTP2StreamID, reply: ProviderReply)>()
    /// Nil after the removal of the handler. Late answers are dropped then.
    var context: ChannelHandlerContext?
    /// Whether frames were written since the last flush.
    private var hasWritten = false
    /// Whether a read of the channel was put off, because the client does not read.
    var isReadHeld = false
    /// The PING after the announcement of the end. Its data differ from those of the PING to an idle client.
    static let announcement = HTTP2PingData(withInteger: 1)
    /// The PING after the bodies that used up the window.
    static let windowProbe = HTTP2PingData(withInteger: 3)
    /// Since when the client reads too slowly; nil while the channel is writable.
    var unwritable: NIODeadline?
    var clock = ConnectionClock()
    /// Whether the library ended the connection for an error of the client.
    private var hasFailed = false
    /// Set when the output or the connection was closed. Frames of the client are ignored from then on.
    var isClosing = false
    /// Whether the client may use one stream at a time.
    var isNarrow = false
    /// Shared by nearly all responses: other fields go through ``FrameTap/add(_:to:)``.
    private static let success: HPACKHeaders = [":status": "200"]

    init(_ serving: ProviderServing, connection: ProviderConnection, activity: ConnectionActivity, tap: FrameTap) {
        (self.serving, self.connection, self.activity, self.tap) = (serving, connection, activity, tap)
    }

    // MARK: The connection

    /// Extends the window of the connection, which begins with 65,535 bytes (RFC 9113, 6.9.2).
    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        window.target = serving.limits.connectionWindow
        if let increment = window.increment(from: 65_535) {
            write(.windowUpdate(windowSizeIncrement: increment), on: .rootStream)
            flush()
        }
        startClock()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        clock.stop()
        self.context = nil
        streams.removeAll()
    }

    /// Drops the requests in progress; an append that was begun still commits.
    func channelInactive(context: ChannelHandlerContext) {
        clock.stop()
        streams.removeAll()
        isClosing = true
        context.fireChannelInactive()
    }

    /// A request that has begun prevents ``ConnectionTable/CloseIfIdle``. ``StopConnection`` ends the connection
    /// gracefully.
    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        switch event {
        case is ConnectionTable.CloseIfIdle:
            if streams.isEmpty { closeIdle() }
        case is StopConnection: perform(farewell.begin(at: now))
        default: return context.triggerUserOutboundEvent(event, promise: promise)
        }
        promise?.succeed()
    }

    /// The end of the client's output closes the connection at once, unlike that of HTTP/1.1.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        // The most frequent ones first: each comparison takes time, and there are five for each request.
        case let event as NIOHTTP2WindowUpdatedEvent: resize(event)
        case let event as StreamClosedEvent: closed(event.streamID)
        case is NIOHTTP2StreamCreatedEvent: break
        case is FrameTap.Flood: abort(.enhanceYourCalm)
        case ChannelEvent.inputClosed: close()
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    /// Notices that the library ended the connection: it writes GOAWAY with an error, then reports the error.
    func wroteFrame(_ frame: HTTP2Frame) {
        if case .goAway(_, let code, _) = frame.payload, code != .noError { hasFailed = true }
    }

    /// Errors of one stream end that stream only.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if hasFailed || !(error is any NIOHTTP2Error) { return close() }
        // After the last GOAWAY, the library cannot write another one for an error of the connection.
        if error is NIOHTTP2Errors.RaisedGoawayLastStreamID, !farewell.servesNew { dropIncomplete() }
    }

    // MARK: Requests

    /// Other frames need no action here: the library handles them. Each frame of any type shows that the client is
    /// alive.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        clock.hasRead = true
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .headers(let headers): begin(frame.streamID, headers)
        case .data(let data): receive(data, on: frame.streamID)
        case .ping(Self.announcement, ack: true):
            flush()
            perform(farewell.acknowledge(at: now, isIdle: streams.isEmpty))
        case .ping(Self.windowProbe, ack: true): if !window.isExtended { closeOutput() }
        case .goAway: endAtOnce()
        case .windowUpdate where frame.streamID == .rootStream: window.isExtended = true
        default: break
        }
    }

    /// Sends the responses to all requests of one read together.
    func channelReadComplete(context: ChannelHandlerContext) {
        flush()
        if tap.isIncomplete { startChecks() }
        context.fireChannelReadComplete()
    }

    /// Begins a request, or ends one by its trailers. A stream beyond ``ProviderLimits/streams`` or after the last
    /// GOAWAY is reset with REFUSED_STREAM, after which the client may repeat the request (RFC 9113, 8.7).
    private func begin(_ id: HTTP2StreamID, _ headers: HTTP2Frame.FramePayload.Headers) {
        // A second header block ends a request with trailers, which no endpoint reads.
        if let stream = streams[id] {
            if headers.endStream { end(stream, id) }
            return
        }
        lastStream = id
        // A client may begin more before it has read the settings. It may send a refused request again.
        guard farewell.servesNew, streams.count < serving.limits.streams else {
            return write(.rstStream(.refusedStream), on: id)
        }
        // Malformed (RFC 9113, 8.1.1).
        guard let request = ProviderRequest(headers, on: connection) else {
            return write(.rstStream(.protocolError), on: id)
        }
        activity.markBusy()
        startChecks()
        let stream = HTTP2Stream(isHead: request.method == "HEAD", isEnded: headers.endStream)
        streams[id] = stream
        switch serving.verdict(on: request) {
        case .reply(let reply): answer(id, reply)
        case .body(let reading):
            guard request.bodyLength ?? 0 <= reading.limit else { return answer(id, reading.refuse(.tooLarge)) }
            let body = CollectedBody(
                reading, length: request.bodyLength, budget: serving.budget, peer: connection.peer)
            stream.phase = .receiving(body, BodyDeadline(grace: serving.limits.bodyGrace, now: now))
            if headers.endStream { end(stream, id) }
        }
    }

    /// Bytes of a body that no endpoint reads are dropped.
    private func receive(_ data: HTTP2Frame.FramePayload.Data, on id: HTTP2StreamID) {
        guard case .byteBuffer(let piece) = data.data, let stream = streams[id] else { return }
        if piece.readableBytes > 0, let reply = stream.receive(piece, at: now) { answer(id, reply) }
        if data.endStream { end(stream, id) }
    }

    /// The request is complete.
    private func end(_ stream: HTTP2Stream, _ id: HTTP2StreamID) {
        stream.isEnded = true
        guard case .receiving(let body, _) = stream.phase, let eventLoop = context?.eventLoop else { return }
        stream.phase = .handled
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        body.handle { [replies] reply in
            guard replies.append((id, reply)) else { return }
            eventLoop.execute { bound.value.sendReplies() }
        }
    }

    /// The stream is over, because both sides ended it or one reset it.
    private func closed(_ id: HTTP2StreamID) {
        tap.drop(UInt32(Int(id)))
        guard streams.removeValue(forKey: id) != nil, streams.isEmpty else { return }
        activity.markIdle(at: now)
        perform(farewell.requestsEnded(true))
    }

    // MARK: Responses

    private func sendReplies() {
        // The oldest streams first: the library moves all streams behind one that ends.
        for (id, reply) in replies.takeAll().sorted(by: { $0.id < $1.id }) { answer(id, reply) }
        flush()
    }

    /// Writes a whole response. Has no effect when the stream is over. A reply with a delay is written later.
    private func answer(_ id: HTTP2StreamID, _ reply: ProviderReply) {
        guard let stream = streams[id] else { return }
        if case .answered = stream.phase { return }
        if let delay = reply.delay { return hold(reply, for: delay, on: id) }
        stream.phase = .answered(now)
        let headers: HPACKHeaders = reply.status == 200 ? Self.success : [":status": String(reply.status)]
        tap.add(reply.headers, to: UInt32(Int(id)))
        if reply.after == .cut { return cut(id, headers, reply.body) }
        let hasBody = !reply.body.isEmpty && !stream.isHead
        if !hasBody { tap.answeredWithoutBody() }
        write(.headers(.init(headers: headers, endStream: !hasBody)), on: id)
        if hasBody {
            write(.data(.init(data: .byteBuffer(ByteBuffer(bytes: reply.body)), endStream: true)), on: id)
            if window.isRunningOut(limits: serving.limits) { probeWindow() }
        }
        switch reply.after {
        case .keep: if isNarrow, reply.status == 200 { widen() }
        case .oneStream: narrow()
        case .cut: break
        case .goAway(let debugData): endAtOnce(debugData: debugData)
        case .close:
            endAtOnce()
            closeOutput()
        }
    }

    /// Answers after a delay. The body is ignored until then.
    private func hold(_ reply: ProviderReply, for delay: Duration, on id: HTTP2StreamID) {
        streams[id]?.phase = .handled
        guard let eventLoop = context?.eventLoop else { return }
        var reply = reply
        reply.delay = nil
        let bound = NIOLoopBound((self, reply), eventLoop: eventLoop)
        eventLoop.scheduleTask(in: TimeAmount(delay)) {
            let (requests, reply) = bound.value
            requests.answer(id, reply)
            requests.flush()
        }
    }

    /// The frame waits for ``flush()``. Dropped after the removal of the handler.
    func write(_ payload: HTTP2Frame.FramePayload, on id: HTTP2StreamID) {
        hasWritten = true
        context?.write(wrapOutboundOut(HTTP2Frame(streamID: id, payload: payload)), promise: nil)
    }

    /// Has no effect unless frames have been written since the last call.
    func flush() {
        guard hasWritten else { return }
        hasWritten = false
        context?.flush()
    }

    // MARK: Flow control

    /// Extends the windows of the client: of the connection for every body, of a stream while its body is read.
    private func resize(_ event: NIOHTTP2WindowUpdatedEvent) {
        let id = event.streamID
        if id == .rootStream, let outbound = event.outboundWindowSize { window.outbound = outbound }
        guard let inbound = event.inboundWindowSize else { return }
        if id == .rootStream {
            guard let increment = window.increment(from: inbound) else { return }
            write(.windowUpdate(windowSizeIncrement: increment), on: id)
        } else if let stream = streams[id], inbound <= serving.limits.streamWindow / 2 {
            if stream.isReceiving {
                write(.windowUpdate(windowSizeIncrement: serving.limits.streamWindow - inbound), on: id)
            } else if inbound <= 0, !stream.isEnded, stream.isAnswered {
                // The client is answered, and may not know that the rest of the body is ignored.
                write(.rstStream(.noError), on: id)
            }
        }
    }

    var now: NIODeadline { context?.eventLoop.now ?? .now() }
}
