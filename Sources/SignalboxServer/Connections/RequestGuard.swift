import NIOCore
import NIOHTTP1

/// A request body arrives more slowly than the minimum rate. The reader of the body answers 408.
struct SlowBody: Error {}

/// Holds a connection to its limits: valid heads, one request after the other, a minimum rate for bodies, a client
/// that reads its responses, and no long idle time. Has a ``DirectResponder`` answer the requests that it accepts.
/// Runs on the event loop of its connection, behind the HTTP decoder. It answers invalid heads itself; all other
/// responses come from the router or the ``DirectResponder``.
final class RequestGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Says that the body of the current request is being read: a client that waits for `100 Continue` receives it.
    struct BodyIsRead: Sendable {}

    // A class because the channel calls it, only on its event loop.
    /// Holds the bytes after the current request.
    let gate: InputGate
    /// Nil sends every request to the router.
    let responder: DirectResponder?
    /// The direct request in progress, if there is one.
    var exchange = DirectExchange()
    /// Fixed for the life of the connection.
    private let limits: ConnectionLimits
    /// Counts the connection while it is open.
    private let table: ConnectionTable
    /// Read by the table to choose the connection to close.
    let activity: ConnectionActivity
    /// Whether an earlier handler keeps the connection in the table.
    private let isRegistered: Bool
    /// Nil unless the connection is open.
    private var peer: PeerAddress?
    /// Nil unless a body is arriving.
    private var body: BodyDeadline?
    /// Nil while the client reads fast enough.
    private var unread: UnreadResponse?
    /// The earliest deadline when it was set. Later deadlines are checked when it fires.
    private var timer: (task: Scheduled<Void>, time: NIODeadline)?
    /// Whether the client may hold back the body of the current request until it receives `100 Continue`.
    private var expectsContinue = false
    /// The response to the last request, which waits for the responses before it.
    var refusal: Problem?

    /// A response that the client does not read.
    private struct UnreadResponse {
        let deadline: NIODeadline
        /// Unsent bytes when the deadline was set.
        let bytes: Int
    }

    /// `gate`: the first handler of the same pipeline. `registered`: the activity of a connection that an earlier
    /// handler put into the table, and takes out of it.
    init(
        gate: InputGate, limits: ConnectionLimits, table: ConnectionTable, responder: DirectResponder? = nil,
        registered: ConnectionActivity? = nil
    ) {
        (self.gate, self.limits, self.table, self.responder) = (gate, limits, table, responder)
        activity = registered ?? ConnectionActivity(idleSince: .now())
        isRegistered = registered != nil
    }

    // MARK: The connection

    /// Connects the gate with the responder. Without a responder, the parser reads every request.
    func handlerAdded(context: ChannelHandlerContext) {
        guard responder != nil else { return }
        gate.answer = { [unowned self] request in answer(request, context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { gate.answer = nil }

    /// Closes the connection at once when the table does not admit it.
    func channelActive(context: ChannelHandlerContext) {
        let peer = PeerAddress(context.remoteAddress)
        guard isRegistered || table.open(context.channel, by: peer, activity) else {
            return context.close(promise: nil)
        }
        self.peer = peer
        noteActivity(context)
        context.fireChannelActive()
    }

    /// Drops the request in progress; an append that was begun still commits.
    func channelInactive(context: ChannelHandlerContext) {
        timer?.task.cancel()
        (timer, body, unread) = (nil, nil, nil)
        if let peer, !isRegistered { table.close(context.channel, by: peer) }
        peer = nil
        exchange.drop()
        context.fireChannelInactive()
    }

    /// Handles the requests of the table and of body readers.
    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        switch event {
        case is ConnectionTable.CloseIfIdle:
            if gate.window.isIdle { context.closeAtOnce() }
        case is BodyIsRead: sendContinue(context)
        default: return context.triggerUserOutboundEvent(event, promise: promise)
        }
        promise?.succeed()
    }

    /// The end of input waits behind the response in progress.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        forward(context) { $0.fireUserInboundEventTriggered(event) }
    }

    // MARK: Requests

    /// Ignores input after the last request. Counts the bytes of a body for its minimum rate. Parts that no direct
    /// request gathers go to the router.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !gate.window.isOver else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): return begin(head, data, context)
        case .body(let bytes):
            expectsContinue = false
            gate.window.receive(bytes.readableBytes)
            body?.receive(bytes.readableBytes, at: context.eventLoop.now)
            if gather(bytes) { return }
        case .end:
            gate.window.endRequest()
            (body, expectsContinue) = (nil, false)
            if answerGathered(context) { return }
            noteActivity(context)
        }
        context.fireChannelRead(data)
    }

    /// Valid heads go on, to the direct responder or the router. Others are answered in their turn.
    private func begin(_ head: HTTPRequestHead, _ data: NIOAny, _ context: ChannelHandlerContext) {
        // The window admits no request now, so the parser and the window disagree on the end of the previous request.
        guard !exchange.isAnswering else { return context.close(promise: nil) }
        activity.markBusy()
        do throws(Problem) {
            let checked = try CheckedHead(head)
            gate.window.begin(length: checked.bodyLength, isLast: checked.isLast)
            expectsContinue = checked.expectsContinue
            if gather(checked, data) { return }
            context.fireChannelRead(checked.isChanged ? wrapInboundOut(.head(checked.head)) : data)
        } catch {
            refuse(error, context)
        }
    }

    /// The deadline of a body starts here, so a body that arrives with its head needs no timer.
    func channelReadComplete(context: ChannelHandlerContext) {
        awaitGathered(context)
        if gate.window.isReceiving, body == nil {
            body = BodyDeadline(grace: limits.bodyGrace, now: context.eventLoop.now)
            setTimer(context)
        }
        context.fireChannelReadComplete()
    }

    // MARK: Responses

    /// Sends `100 Continue` at most once for each request.
    private func sendContinue(_ context: ChannelHandlerContext) {
        // If an earlier request has no response yet, the body that is being read may be that of the earlier one.
        guard expectsContinue, gate.window.unanswered == 1 else { return }
        expectsContinue = false
        let head = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }

    /// Adds `connection: close` to the last response; an interim response is never the last. After the end of a
    /// response, held bytes pass on a later turn of the event loop.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where gate.window.isLast && gate.window.unanswered <= 1 && head.status.code >= 200:
            head.headers.replaceOrAdd(name: "connection", value: "close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            context.write(data, promise: promise)
            endResponse(context)
            // Later, because more of this response may be on its way.
            if gate.isHolding { context.eventLoop.assumeIsolated().execute { [gate] in gate.resume() } }
        case .head, .body: context.write(data, promise: promise)
        }
    }

    /// Pauses the window while the unsent bytes exceed the high-water mark, and starts the time in which the client
    /// must read some of them. Below the low-water mark, requests continue.
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

    /// Called once for each final response, from the router or direct.
    func endResponse(_ context: ChannelHandlerContext) {
        gate.window.endResponse()
        if gate.window.unanswered == 1 { sendRefusal(context) }
        noteActivity(context)
    }

    /// Starts the idle time when no request is in progress.
    func noteActivity(_ context: ChannelHandlerContext) {
        guard gate.window.isIdle, peer != nil else { return }
        activity.markIdle(at: context.eventLoop.now)
        if timer == nil { setTimer(context) }
    }

    /// Backpressure: the socket is not read while bytes wait for the window.
    func read(context: ChannelHandlerContext) {
        if gate.isHolding { gate.readWhenEmpty() } else { context.read() }
    }

    // MARK: Time

    /// Sets the timer to the next deadline, unless it fires earlier anyway. One timer for all deadlines of a
    /// connection. A timer that fires early sets itself again.
    private func setTimer(_ context: ChannelHandlerContext) {
        let idle = activity.idleSince.map { $0 + limits.idle }
        guard peer != nil, let next = [body?.time, unread?.deadline, idle].compactMap({ $0 }).min(),
            timer.map({ next < $0.time }) ?? true
        else { return }
        timer?.task.cancel()
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: next) { [self] in
            timer = nil
            if isInTime(context) { setTimer(context) } else { context.close(promise: nil) }
        }
        timer = (task, next)
    }

    /// False when the connection must close. Gives a client that has read enough of its response more time.
    private func isInTime(_ context: ChannelHandlerContext) -> Bool {
        let now = context.eventLoop.now
        if let idle = activity.idleSince, now >= idle + limits.idle { return false }
        if let body, now >= body.time, !reject(context) { return false }
        if let unread, now >= unread.deadline {
            guard unread.bytes - unsentBytes(context) >= limits.readProgress else { return false }
            awaitReader(context)
        }
        return true
    }

    /// Makes the reader of the body answer 408. Returns false if the response was already sent.
    private func reject(_ context: ChannelHandlerContext) -> Bool {
        body = nil
        passGathered(context)
        let isAnswered = gate.window.unanswered == 0
        gate.window.close()
        if !isAnswered { context.fireErrorCaught(SlowBody()) }
        return !isAnswered
    }

    /// Starts the time in which the client must read ``ConnectionLimits/readProgress`` bytes.
    private func awaitReader(_ context: ChannelHandlerContext) {
        unread = UnreadResponse(deadline: context.eventLoop.now + limits.readTime, bytes: unsentBytes(context))
    }

    /// 0 when the channel cannot tell, as in embedded channels.
    private func unsentBytes(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}
