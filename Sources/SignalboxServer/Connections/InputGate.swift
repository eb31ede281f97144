import NIOCore

/// Holds received bytes back from the HTTP parser until ``RequestWindow`` admits them, and sends whole responses.
///
/// ``RequestGuard`` updates the window, and holds back reads while bytes are held. The first handler of the pipeline.
/// Bytes pass in their order. Bytes after the last request are dropped.
final class InputGate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = IOData

    // A class because the channel calls it, only on its event loop.
    /// ``RequestGuard`` reports heads, bodies and responses to it; the gate only asks it.
    var window = RequestWindow()

    /// True while bytes wait for the window.
    var isHolding: Bool { !held.isEmpty }

    /// Whether the parser may receive more than one request from the current bytes.
    private(set) var isAhead = false

    /// Answers a request that the parser has not seen; false when the parser must read it. Nil sends everything to the
    /// parser.
    var answer: ((PlainRequest) -> Bool)?

    /// Whether the parser has received bytes of the connection. Only the parser knows where its next request begins.
    private var isParsing = false

    /// Bytes. A connection that exceeds them closes. See ``ConnectionLimits/heldBytes``.
    private let heldLimit: Int
    /// In the order of arrival.
    private var held = CircularBuffer<ByteBuffer>(initialCapacity: 1)
    /// The size of ``held``.
    private var heldBytes = 0
    /// True during a call into the parser, which may reenter the gate.
    private var isPassing = false
    /// Whether a read of the channel was put off.
    private var isReadHeld = false
    /// Whether the client ended its input after held bytes.
    private var isInputClosed = false
    /// Whether the client ended its input at all. The handlers of a later request cannot see that event.
    private(set) var hasInputEnded = false
    /// Nil while the gate is not in a pipeline.
    private var context: ChannelHandlerContext?

    init(heldLimit: Int) { self.heldLimit = heldLimit }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Forwards a piece that the window admits whole without copying it. A request that ``answer`` accepts never
    /// reaches the parser. Closes a connection that holds too many bytes.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        if answerWhole(bytes) { return }
        if held.isEmpty, !isPassing, window.admittedBytes(of: bytes) == bytes.readableBytes {
            isAhead = window.isChunked
            (isPassing, isParsing) = (true, true)
            context.fireChannelRead(data)
            isPassing = false
            return
        }
        held.append(bytes)
        heldBytes += bytes.readableBytes
        _ = pass(context)
        // When a client ends its input, NIO reads everything that is left, requested or not.
        if heldBytes > heldLimit { context.close(promise: nil) }
    }

    /// Answers a whole request that begins a connection or follows answered ones, all of which the parser has not seen.
    private func answerWhole(_ bytes: ByteBuffer) -> Bool {
        guard let answer, !isParsing, held.isEmpty, window.isIdle, window.isWritable, !window.isLast,
            let request = PlainRequest(bytes)
        else { return false }
        return answer(request)
    }

    /// Holds the end of input back after held bytes.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        hasInputEnded = true
        guard !held.isEmpty else { return context.fireUserInboundEventTriggered(event) }
        isInputClosed = true
    }

    /// Frees the held bytes.
    func channelInactive(context: ChannelHandlerContext) {
        drop()
        context.fireChannelInactive()
    }

    /// Forwards the bytes that the window admits. Called after a response ends or the channel becomes writable.
    /// Delivers the end of input, and a read that was put off, once no byte is held.
    func resume() {
        guard let context, !isPassing, pass(context) else { return }
        context.fireChannelReadComplete()
        guard held.isEmpty else { return }
        if isInputClosed {
            isInputClosed = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if isReadHeld {
            isReadHeld = false
            context.read()
        }
    }

    /// Reads from the socket as soon as no bytes are held. Called instead of a read of the channel while bytes are
    /// held.
    func readWhenEmpty() { isReadHeld = true }

    /// Sends a whole response past the encoder. On the event loop only. The parser sees no later request until the
    /// guard has ended this response.
    func send(_ response: ByteBuffer) { context?.writeAndFlush(wrapOutboundOut(.byteBuffer(response)), promise: nil) }

    /// Returns false when no bytes left the gate. A reentrant call does no work, because the outer one continues.
    private func pass(_ context: ChannelHandlerContext) -> Bool {
        guard !isPassing else { return false }
        isPassing = true
        defer { isPassing = false }
        var hasPassed = false
        while var bytes = held.first {
            let count = window.admittedBytes(of: bytes)
            isAhead = window.isChunked
            if window.isOver { drop() }
            guard count > 0, let piece = bytes.readSlice(length: count) else { return hasPassed || held.isEmpty }
            (hasPassed, isParsing) = (true, true)
            heldBytes -= count
            if bytes.readableBytes == 0 { held.removeFirst() } else { held[held.startIndex] = bytes }
            context.fireChannelRead(wrapInboundOut(piece))
        }
        return hasPassed
    }

    /// Frees bytes that no request can use.
    private func drop() {
        held.removeAll()
        heldBytes = 0
    }
}
