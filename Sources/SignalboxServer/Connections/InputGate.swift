import NIOCore

/// Holds received bytes back from the HTTP parser until ``RequestWindow`` admits them, and stops reading meanwhile.
final class InputGate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    // A class because the channel calls it, on its event loop and nowhere else.

    /// Updated by ``RequestGuard``, which also holds back reads while bytes are held.
    var window = RequestWindow()

    /// True while bytes wait for the window.
    var isHolding: Bool { !held.isEmpty }

    private let heldLimit: Int
    private var held = CircularBuffer<ByteBuffer>(initialCapacity: 1)
    private var heldBytes = 0
    private var isPassing = false
    private var isReadHeld = false
    private var isInputClosed = false
    private var context: ChannelHandlerContext?

    init(heldLimit: Int) { self.heldLimit = heldLimit }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        if held.isEmpty, !isPassing, window.admits(bytes) {
            isPassing = true
            context.fireChannelRead(data)
            isPassing = false
            return
        }
        held.append(bytes)
        heldBytes += bytes.readableBytes
        pass(context)
        // When a client ends its input, NIO reads everything that is left, requested or not.
        if heldBytes > heldLimit { context.close(promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent, !held.isEmpty else {
            return context.fireUserInboundEventTriggered(event)
        }
        isInputClosed = true
    }

    func channelInactive(context: ChannelHandlerContext) {
        drop()
        context.fireChannelInactive()
    }

    /// Forwards the bytes that the window admits.
    func resume() {
        guard let context, !held.isEmpty, !isPassing, window.isOver || window.allowance > 0 else { return }
        pass(context)
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

    private func pass(_ context: ChannelHandlerContext) {
        guard !isPassing else { return }
        isPassing = true
        defer { isPassing = false }
        while var bytes = held.first {
            if window.isOver { return drop() }
            guard window.allowance > 0,
                let piece = bytes.readSlice(length: min(window.allowance, bytes.readableBytes))
            else { return }
            heldBytes -= piece.readableBytes
            if bytes.readableBytes == 0 { held.removeFirst() } else { held[held.startIndex] = bytes }
            context.fireChannelRead(wrapInboundOut(piece))
        }
    }

    private func drop() {
        held.removeAll()
        heldBytes = 0
    }

    /// Reads from the socket as soon as nothing is held.
    func readWhenEmpty() { isReadHeld = true }
}
