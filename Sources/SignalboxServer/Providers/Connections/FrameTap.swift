import NIOCore

/// Watches the bytes of an HTTP/2 connection before they are decoded. After a flood it forwards no further bytes. Also
/// writes the one frame that the library must not know of.
final class FrameTap: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The connection must close.
    struct Flood: Sendable {}

    // A class because the channel calls it, only on its event loop.
    private var meter: FrameMeter
    private var isFlooded = false
    private var context: ChannelHandlerContext?
    /// When the frame or header block began that has not ended.
    private(set) var incompleteSince: NIODeadline?

    /// `preface`: bytes of the connection preface that are still to come.
    init(preface: Int) { meter = FrameMeter(preface: preface) }

    var isIncomplete: Bool { incompleteSince != nil }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Writes a GOAWAY with the largest stream id, so the client begins no further requests, and those on their way
    /// are still served (RFC 9113, 6.8). Not through the library: once it has sent a GOAWAY and no stream is open, it
    /// answers every frame of the client with PROTOCOL_ERROR, also a request that was on its way.
    func announceEnd() {
        guard let context else { return }
        let frame: [UInt8] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]
        context.writeAndFlush(NIOAny(ByteBuffer(bytes: frame)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isFlooded else { return }
        let now = context.eventLoop.now
        isFlooded = !meter.receive(unwrapInboundIn(data), at: now)
        if meter.hasBegun { incompleteSince = nil }
        incompleteSince = meter.isIncomplete ? incompleteSince ?? now : nil
        if isFlooded { context.fireUserInboundEventTriggered(Flood()) } else { context.fireChannelRead(data) }
    }
}
