import NIOCore

/// Watches the bytes of an HTTP/2 connection before they are decoded. After a flood it forwards no further bytes.
/// Joins the frames that are written between two flushes into few buffers. Also writes the one frame that the library
/// must not know of.
final class FrameTap: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The connection must close.
    struct Flood: Sendable {}

    // A class because the channel calls it, only on its event loop.
    private var meter: FrameMeter
    private var isFlooded = false
    private var context: ChannelHandlerContext?
    /// When the frame or header block began that has not ended.
    private(set) var incompleteSince: NIODeadline?
    /// Drops what is written, because the client has received it already.
    var isMuted = false
    /// Frames since the last flush.
    private var joined = ByteBuffer()

    /// Bytes that are joined. The channel counts them when they are passed on, so that it tells when its client does
    /// not read.
    private static let largestJoined = 32 * 1024

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
        joined.writeBytes([0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        flush(context: context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isFlooded else { return }
        let now = context.eventLoop.now
        isFlooded = !meter.receive(unwrapInboundIn(data), at: now)
        if meter.hasBegun { incompleteSince = nil }
        incompleteSince = meter.isIncomplete ? incompleteSince ?? now : nil
        if isFlooded { context.fireUserInboundEventTriggered(Flood()) } else { context.fireChannelRead(data) }
    }

    // MARK: Output

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isMuted else {
            promise?.succeed()
            return
        }
        let piece = unwrapOutboundIn(data)
        guard promise == nil, joined.readableBytes + piece.readableBytes <= Self.largestJoined else {
            passOn(context)
            return context.write(data, promise: promise)
        }
        joined.writeImmutableBuffer(piece)
    }

    func flush(context: ChannelHandlerContext) {
        passOn(context)
        context.flush()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        passOn(context)
        context.close(mode: mode, promise: promise)
    }

    private func passOn(_ context: ChannelHandlerContext) {
        guard joined.readableBytes > 0 else { return }
        let piece = joined
        // Before the write, which may call this handler again. An idle connection keeps no bytes.
        joined = ByteBuffer()
        context.write(wrapOutboundOut(piece), promise: nil)
    }
}
