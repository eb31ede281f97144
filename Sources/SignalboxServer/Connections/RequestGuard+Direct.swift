import Foundation
import NIOCore
import NIOHTTP1

/// Requests that a ``DirectResponder`` answers. ``RequestWindow`` keeps later requests from the parser meanwhile, so
/// responses keep the order of the requests (RFC 9112, 9.3.2).
extension RequestGuard {
    /// The exchange with a ``DirectResponder`` on one connection.
    struct DirectExchange {
        /// The request whose body is arriving.
        fileprivate var gathered: GatheredRequest?
        /// From the acceptance of a direct request to its reply. No other request begins meanwhile.
        fileprivate(set) var isAnswering = false
        /// Events that close the connection, held until the response is sent.
        fileprivate var held: [(ChannelHandlerContext) -> Void] = []
        /// For the Date field of direct replies and refusals. Hummingbird dates its own responses.
        fileprivate var dates = HTTPDateText()

        /// Called when the connection has closed.
        mutating func drop() { (gathered, held) = (nil, []) }
    }

    /// A request whose head has arrived, with the part of its body so far. It goes to its handler as a whole, or to the
    /// router as it arrives.
    fileprivate struct GatheredRequest {
        /// The head as the decoder made it, for the router.
        let head: NIOAny
        /// Chosen by the head.
        let handler: DirectResponder.BodyHandler
        /// Grows with each piece; at most ``NotificationsAPI/directLimit`` bytes.
        var body = ByteBuffer()
        /// Whether the rest of the body was awaited once.
        var wasAwaited = false
    }

    /// Begins to gather a request; false when the router must answer it. Only the first unanswered request of a
    /// connection qualifies.
    func gather(_ head: CheckedHead, _ data: NIOAny) -> Bool {
        guard let responder, let plain = head.plain, gate.window.unanswered == 1, !gate.isAhead,
            let handler = responder.handler(plain)
        else { return false }
        exchange.gathered = GatheredRequest(head: data, handler: handler)
        return true
    }

    /// Adds a piece of the body; false when no request is being gathered.
    func gather(_ bytes: ByteBuffer) -> Bool {
        guard exchange.gathered != nil else { return false }
        if exchange.gathered?.body.readableBytes == 0 {
            exchange.gathered?.body = bytes
        } else {
            exchange.gathered?.body.writeImmutableBuffer(bytes)
        }
        return true
    }

    /// Answers the gathered request, which is complete; false when there is none or the router must answer it. The
    /// reply is sent later, on the same event loop.
    func answerGathered(_ context: ChannelHandlerContext) -> Bool {
        guard let request = exchange.gathered, gate.window.isWritable else {
            passGathered(context)
            return false
        }
        let isAccepted = accept(request.body, request.handler, context)
        if isAccepted { exchange.gathered = nil } else { passGathered(context) }
        return isAccepted
    }

    /// Answers a request that the parser has not seen; false when the parser must read it.
    func answer(_ request: PlainRequest, _ context: ChannelHandlerContext) -> Bool {
        guard let handler = responder?.handler(request.head), accept(request.body, handler, context) else {
            return false
        }
        activity.markBusy()
        gate.window.begin(length: 0, isLast: false)
        gate.window.endRequest()
        return true
    }

    /// Sends the reply later, on the same event loop; false when the handler leaves the request to the router.
    private func accept(
        _ body: ByteBuffer, _ handler: DirectResponder.BodyHandler, _ context: ChannelHandlerContext
    ) -> Bool {
        exchange.isAnswering = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let isAccepted = handler(body, context.eventLoop) { reply in
            let (handler, context) = bound.value
            handler.answer(reply, context)
        }
        if !isAccepted { exchange.isAnswering = false }
        return isAccepted
    }

    /// Many clients send head and body one after the other, so the rest is awaited once. The router enforces the limits
    /// of slower ones.
    func awaitGathered(_ context: ChannelHandlerContext) {
        guard let request = exchange.gathered else { return }
        if request.wasAwaited { passGathered(context) } else { exchange.gathered?.wasAwaited = true }
    }

    /// Forwards the gathered part of a request to the router.
    func passGathered(_ context: ChannelHandlerContext) {
        guard let request = exchange.gathered else { return }
        exchange.gathered = nil
        context.fireChannelRead(request.head)
        if request.body.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(.body(request.body))) }
    }

    /// Forwards an event that may close the connection, behind the request and the response in progress.
    func forward(_ context: ChannelHandlerContext, _ event: @escaping (ChannelHandlerContext) -> Void) {
        passGathered(context)
        if exchange.isAnswering { exchange.held.append(event) } else { event(context) }
    }

    /// Sends a response past the encoder: one write instead of three through two handlers.
    func send(_ reply: Reply, _ context: ChannelHandlerContext) {
        let date = exchange.dates.text(at: time(nil))
        gate.send(reply.bytes(date: date, allocator: context.channel.allocator))
    }

    /// Then delivers the held events, and admits the next request.
    private func answer(_ reply: Reply, _ context: ChannelHandlerContext) {
        send(reply, context)
        exchange.isAnswering = false
        endResponse(context)
        let held = exchange.held
        exchange.held = []
        for event in held { event(context) }
        gate.resume()
    }
}
