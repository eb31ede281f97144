import NIOCore
import NIOHTTP1

/// Serves the requests of one HTTP/1.1 connection, one after the other. Runs behind ``RequestGuard``, which rejects
/// invalid heads and enforces the limits of time, and behind `HTTPServerPipelineHandler`, which holds back the next
/// request until a response is complete.
final class HTTP1Requests: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The state of the current request. Its head leads to ``receiving(_:)`` or ``handled``, the response to
    /// ``ignoring`` while its body still arrives, otherwise to ``idle``.
    private enum Phase {
        case idle
        /// The body is arriving.
        case receiving(CollectedBody)
        /// The endpoint is working on the request.
        case handled
        /// The response was sent; the rest of the body is ignored.
        case ignoring
    }

    // A class because the channel calls it, only on its event loop.
    private let serving: ProviderServing
    private let connection: ProviderConnection
    /// Answers from other threads, with the numbers of their requests.
    private let replies = Mailbox<(number: Int, reply: ProviderReply)>()
    private var phase = Phase.idle
    /// Whether the current response is for HEAD and so has no body.
    private var isHead = false
    /// Numbers the requests, so a late answer does not reach the next one.
    private var number = 0
    /// Whether the current request is complete.
    private var isEnded = false
    /// Whether the connection closes after the current response.
    private var isLast = false
    /// Whether the response was the last one; the connection closes once request and response are complete.
    private var isOver = false
    /// Whether the socket has taken the last response.
    private var isSent = false

    /// When the connection began to serve requests.
    private var start = NIODeadline.now()

    /// The most bytes of a declared body that are read to keep the connection, although the response does not need
    /// them.
    private static let mostIgnored = 64 * 1024

    init(_ serving: ProviderServing, connection: ProviderConnection) {
        (self.serving, self.connection) = (serving, connection)
    }

    // MARK: The connection

    func handlerAdded(context: ChannelHandlerContext) { start = context.eventLoop.now }

    /// A request in progress gets no response; an append that was begun still commits.
    func channelInactive(context: ChannelHandlerContext) {
        (phase, isOver) = (.idle, true)
        context.fireChannelInactive()
    }

    /// A connection without a request closes at once; any other after its response.
    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is StopConnection else { return context.triggerUserOutboundEvent(event, promise: promise) }
        isLast = true
        if case .idle = phase { context.close(promise: nil) }
        promise?.succeed()
    }

    /// A client that ended its output receives its response first: the event waits behind the request in progress.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent {
            isLast = true
            if case .idle = phase { context.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// Answers bytes that are not HTTP, and a body that arrives too slowly.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isUnanswered =
            switch phase {
            case .idle, .receiving: !isOver
            case .handled, .ignoring: false
            }
        guard isUnanswered, error is HTTPParserError || error is SlowBody else { return context.close(promise: nil) }
        isLast = true
        phase = .handled
        let status = error is SlowBody ? 408 : 400
        answer(number, ProviderReply(status: status, after: .close), context, then: .ignoring)
        context.close(mode: .output, promise: nil)
    }

    // MARK: Requests

    /// Ignores requests after the last one that is served.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver || !isIdle else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): begin(head, context)
        case .body(let piece):
            guard case .receiving(var body) = phase else { return }
            phase = .handled
            if let reply = body.append(piece) {
                refuse(reply, hasMore: true, context)
            } else {
                phase = .receiving(body)
            }
        case .end:
            isEnded = true
            end(context)
        }
    }

    private var isIdle: Bool {
        if case .idle = phase { true } else { false }
    }

    /// Decides on the head. A body of known length beyond the limit is refused before it arrives. The connection then
    /// stays only if the rest has at most ``mostIgnored`` bytes.
    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        number += 1
        isEnded = false
        // An old connection is asked to reconnect, so a new certificate reaches every client.
        if !head.isKeepAlive || context.eventLoop.now - start >= serving.limits.age { isLast = true }
        isHead = head.method == .HEAD
        let request = ProviderRequest(head, on: connection)
        switch serving.verdict(on: request) {
        case .reply(let reply):
            refuse(reply, hasMore: request.bodyLength.map { $0 > Self.mostIgnored } ?? true, context)
        case .body(let reading):
            if let length = request.bodyLength, length > reading.limit {
                return refuse(reading.refuse(.tooLarge), hasMore: length > Self.mostIgnored, context)
            }
            phase = .receiving(
                CollectedBody(reading, length: request.bodyLength, budget: serving.budget, peer: connection.peer))
            // A client that waits for `100 Continue` receives it.
            context.triggerUserOutboundEvent(RequestGuard.BodyIsRead(), promise: nil)
        }
    }

    /// Answers before the end of the request. `hasMore`: whether the rest of the body is not worth reading.
    private func refuse(_ reply: ProviderReply, hasMore: Bool, _ context: ChannelHandlerContext) {
        if hasMore { isLast = true }
        phase = .handled
        answer(number, reply, context, then: .ignoring)
    }

    /// The request is complete. Its endpoint may answer on any thread; the response is written on the event loop.
    private func end(_ context: ChannelHandlerContext) {
        switch phase {
        case .receiving(let body):
            phase = .handled
            let (number, eventLoop) = (number, context.eventLoop)
            let bound = NIOLoopBound((self, context), eventLoop: eventLoop)
            body.handle { [replies] reply in
                guard replies.append((number, reply)) else { return }
                eventLoop.execute {
                    let (handler, context) = bound.value
                    for (number, reply) in handler.replies.takeAll() {
                        handler.answer(number, reply, context, then: .idle)
                    }
                }
            }
        case .ignoring:
            phase = .idle
            if isOver, isSent { context.close(promise: nil) }
        case .handled, .idle: break
        }
    }

    /// The socket has taken the last response. The client reads it before the connection closes.
    private func sentLast(_ context: ChannelHandlerContext) {
        isSent = true
        if case .idle = phase { context.close(promise: nil) } else { context.close(mode: .output, promise: nil) }
    }

    // MARK: Responses

    /// Writes the whole response to the current request. `next`: the phase after it. Has no effect for an earlier
    /// request and on a closed connection. A reply with a delay is written later.
    private func answer(_ number: Int, _ reply: ProviderReply, _ context: ChannelHandlerContext, then next: Phase) {
        guard number == self.number, case .handled = phase, context.channel.isActive else { return }
        if let delay = reply.delay { return hold(number, reply, for: delay, context) }
        if reply.after.isLast { isLast = true }
        var headers = HTTPHeaders(reply.headers.map { ($0.name, $0.value) })
        // These statuses have no body and no length (RFC 9110, 8.6).
        if reply.status != 204, reply.status != 304 {
            // A response without a body is cut in the middle if it declares one.
            headers.add(
                name: "content-length", value: String(reply.after == .cut ? max(1, reply.body.count) : reply.body.count)
            )
        }
        if isLast { headers.replaceOrAdd(name: "connection", value: "close") }
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: reply.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        guard reply.after != .cut else { return cut(reply.body, context) }
        if !reply.body.isEmpty, !isHead {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: reply.body)))), promise: nil)
        }
        let (sent, isOver) = (context.eventLoop.makePromise(of: Void.self), isLast)
        // Before the end is written, because a request that waited begins then, within the call.
        phase = next
        if isOver { self.isOver = true }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: sent)
        guard isOver else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        sent.futureResult.whenComplete { _ in
            let (handler, context) = bound.value
            handler.sentLast(context)
        }
    }

    /// Answers the current request after a delay, as the last one. Its body is ignored until then.
    private func hold(_ number: Int, _ reply: ProviderReply, for delay: Duration, _ context: ChannelHandlerContext) {
        var reply = reply
        reply.delay = nil
        isLast = true
        let bound = NIOLoopBound((self, context, reply), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: TimeAmount(delay)) {
            let (handler, context, reply) = bound.value
            handler.answer(number, reply, context, then: handler.isEnded ? .idle : .ignoring)
        }
    }

    /// Writes half of the body and closes the connection, without ending TLS first.
    private func cut(_ body: [UInt8], _ context: ChannelHandlerContext) {
        isOver = true
        let half = ByteBuffer(bytes: body.prefix(body.count / 2))
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(half))), promise: nil)
        context.closeAtOnce()
    }
}

extension ProviderRequest {
    /// The request of a head that ``CheckedHead`` accepted. A chunked body has an unknown length; one without a length
    /// has 0 bytes.
    convenience init(_ head: HTTPRequestHead, on connection: ProviderConnection) {
        let headers = head.headers.map { (name: $0.name.lowercased(), value: $0.value) }
        func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
        let isChunked = header("transfer-encoding") != nil
        self.init(
            method: head.method.rawValue, target: head.uri, authority: header("host"), headers: headers,
            bodyLength: isChunked ? nil : header("content-length").map { Int($0) ?? .max } ?? 0, connection: connection)
    }
}
