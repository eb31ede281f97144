import NIOCore
import NIOHTTP1

/// A request body arrives more slowly than the minimum rate.
struct SlowBody: Error {}

/// Holds a connection to its limits: valid heads, one request after the other, a minimum rate for bodies, and a client
/// that reads its responses.
final class RequestGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Says that the body of the current request is being read: a client that waits for `100 Continue` receives it.
    struct BodyIsRead: Sendable {}

    // A class because the channel calls it, on its event loop and nowhere else.
    private let gate: InputGate
    private let limits: ConnectionLimits
    private let table: ConnectionTable
    private let activity = ConnectionActivity(idleSince: .now())
    private var peer: PeerAddress?
    private var body: BodyDeadline?
    private var unread: UnreadResponse?
    private var timer: Scheduled<Void>?
    /// Whether the client may hold back the body of the current request until it receives `100 Continue`.
    private var expectsContinue = false

    /// A response that the client does not read.
    private struct UnreadResponse {
        let deadline: NIODeadline
        /// Unsent bytes when the deadline was set.
        let bytes: Int
    }

    init(gate: InputGate, limits: ConnectionLimits, table: ConnectionTable) {
        self.gate = gate
        self.limits = limits
        self.table = table
    }

    // MARK: The connection

    func channelActive(context: ChannelHandlerContext) {
        let peer = PeerAddress(context.remoteAddress)
        guard table.open(context.channel, by: peer, activity) else { return context.close(promise: nil) }
        self.peer = peer
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        (timer, body, unread) = (nil, nil, nil)
        if let peer { table.close(context.channel, by: peer) }
        context.fireChannelInactive()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        switch event {
        case is ConnectionTable.CloseIfIdle:
            if gate.window.isIdle { context.close(promise: nil) }
        case is BodyIsRead: sendContinue(context)
        default: return context.triggerUserOutboundEvent(event, promise: promise)
        }
        promise?.succeed()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        gate.window.close()
        context.fireErrorCaught(error)
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !gate.window.isOver else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): return begin(head, data, context)
        case .body(let bytes):
            expectsContinue = false
            gate.window.receive(bytes.readableBytes)
            body?.receive(bytes.readableBytes, at: context.eventLoop.now)
        case .end:
            gate.window.endRequest()
            (body, expectsContinue) = (nil, false)
            noteActivity(context)
        }
        context.fireChannelRead(data)
    }

    private func begin(_ head: HTTPRequestHead, _ data: NIOAny, _ context: ChannelHandlerContext) {
        activity.markBusy()
        do throws(HeadRefusal) {
            let checked = try RequestHeadRules(head)
            gate.window.begin(length: checked.bodyLength, isLast: checked.isLast)
            expectsContinue = checked.expectsContinue
            context.fireChannelRead(checked.isChanged ? wrapInboundOut(.head(checked.head)) : data)
        } catch {
            // The end of the request is ambiguous, so all later bytes are ignored.
            gate.window.begin(length: 0, isLast: true)
            gate.window.endRequest()
            context.fireChannelRead(wrapInboundOut(.head(error.head)))
            context.fireChannelRead(wrapInboundOut(.end(nil)))
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if gate.window.isReceiving, body == nil {
            body = BodyDeadline(grace: limits.bodyGrace, now: context.eventLoop.now)
            setTimer(context)
        }
        context.fireChannelReadComplete()
    }

    // MARK: Responses

    private func sendContinue(_ context: ChannelHandlerContext) {
        // An earlier request gets its response first; the reader of its body does not speak for this one.
        guard expectsContinue, gate.window.unanswered == 1 else { return }
        expectsContinue = false
        let head = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where gate.window.isLast && gate.window.unanswered <= 1 && head.status.code >= 200:
            head.headers.replaceOrAdd(name: "connection", value: "close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            context.write(data, promise: promise)
            gate.window.endResponse()
            noteActivity(context)
            resumeLater(context)
        case .head, .body: context.write(data, promise: promise)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        let isWritable = context.channel.isWritable
        gate.window.isWritable = isWritable
        if isWritable {
            unread = nil
            gate.resume()
        } else if unread == nil {
            awaitReader(context)
            setTimer(context)
        }
        context.fireChannelWritabilityChanged()
    }

    private func noteActivity(_ context: ChannelHandlerContext) {
        if gate.window.isIdle { activity.markIdle(at: context.eventLoop.now) }
    }

    func read(context: ChannelHandlerContext) {
        if gate.isHolding { gate.readWhenEmpty() } else { context.read() }
    }

    /// Resumes later, because the caller may be in the middle of writing a response.
    private func resumeLater(_ context: ChannelHandlerContext) {
        guard gate.isHolding else { return }
        context.eventLoop.assumeIsolated().execute { [gate] in gate.resume() }
    }

    // MARK: Time

    private func setTimer(_ context: ChannelHandlerContext) {
        guard timer == nil, let next = [body?.time, unread?.deadline].compactMap({ $0 }).min() else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: next) { [self] in
            timer = nil
            checkTime(context)
            setTimer(context)
        }
    }

    private func checkTime(_ context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        if let body, now >= body.time { reject(context) }
        if let unread, now >= unread.deadline {
            self.unread = nil
            guard unread.bytes - unsentBytes(context) >= limits.readProgress else { return context.close(promise: nil) }
            awaitReader(context)
        }
    }

    /// Makes the reader of the body answer 408, or closes the connection if the response was already sent.
    private func reject(_ context: ChannelHandlerContext) {
        body = nil
        let isAnswered = gate.window.unanswered == 0
        gate.window.close()
        if isAnswered { context.close(promise: nil) } else { context.fireErrorCaught(SlowBody()) }
    }

    private func awaitReader(_ context: ChannelHandlerContext) {
        unread = UnreadResponse(deadline: context.eventLoop.now + limits.readTime, bytes: unsentBytes(context))
    }

    private func unsentBytes(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}
