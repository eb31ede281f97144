import Foundation
import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Has a ``DirectResponder`` answer what it can of the requests of one connection, and hands on the others.
final class DirectHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    // A class because the channel calls it, on its event loop and nowhere else.
    private let responder: DirectResponder
    private var requests: DirectRequests
    private var dates = HTTPDateText()
    /// What came while a request was being answered, and may not overtake its answer.
    private var isReadHeld = false
    private var isReplaying = false
    private var isInputClosed = false
    private var error: (any Error)?

    init(_ responder: DirectResponder) {
        self.responder = responder
        requests = DirectRequests(limit: responder.bodyLimit, sender: responder.sender)
    }

    // MARK: In

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        perform(requests.receive(unwrapInboundIn(data)), context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        perform(requests.pause(), context)
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        isInputClosed = true
        endInput(context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.error = error
        endInput(context)
    }

    /// Says that no request follows, unless one waits for its answer: whoever hears it closes the connection.
    private func endInput(_ context: ChannelHandlerContext) {
        perform(requests.end(), context)
        guard !requests.isBusy, !isReplaying else { return }
        if let error {
            self.error = nil
            context.fireErrorCaught(error)
        }
        if isInputClosed {
            isInputClosed = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
    }

    private func perform(_ step: DirectRequests.Step, _ context: ChannelHandlerContext) {
        switch step {
        case .pass(let parts): for part in parts { context.fireChannelRead(wrapInboundOut(part)) }
        case .take(let request): answer(request, context)
        }
    }

    // MARK: Answers

    private func answer(_ request: DirectRequest, _ context: ChannelHandlerContext) {
        // Who reads no answers is for those who wait until a connection takes more.
        guard context.channel.isWritable, let answer = responder.respond(request, context.eventLoop) else {
            requests.gaveUp()
            for part in request.parts { context.fireChannelRead(wrapInboundOut(part)) }
            return
        }
        answer.assumeIsolated().whenComplete { [self] result in
            // A failure is nobody's plan; who waits shall not wait for ever.
            guard case .success(let answer) = result else { return context.close(promise: nil) }
            write(answer, context)
            requests.answeredTaken()
            replay(context)
        }
    }

    /// Receives what was held, in its order, up to a request that is taken in its turn.
    private func replay(_ context: ChannelHandlerContext) {
        // One that is answered at once is within this already.
        guard !isReplaying else { return }
        isReplaying = true
        var isAny = false
        while let part = requests.nextHeld() {
            isAny = true
            perform(requests.receive(part), context)
        }
        isReplaying = false
        if isAny {
            perform(requests.pause(), context)
            context.fireChannelReadComplete()
        }
        if error != nil || isInputClosed { endInput(context) }
        if isReadHeld, requests.mayRead {
            isReadHeld = false
            context.read()
        }
    }

    private func write(_ answer: DirectAnswer, _ context: ChannelHandlerContext) {
        var head = HTTPResponse(status: answer.status, headerFields: answer.headers)
        head.headerFields[.contentLength] = String(answer.body.count)
        head.headerFields[.date] = dates.text(at: time(nil))
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: answer.body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    // MARK: Out

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { requests.answeredPassed() }
        context.write(data, promise: promise)
    }

    func read(context: ChannelHandlerContext) {
        guard requests.mayRead else { return isReadHeld = true }
        context.read()
    }
}
