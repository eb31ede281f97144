import NIOCore

/// Watches the bytes of an HTTP/2 connection before they are decoded. After a flood it forwards no further bytes.
final class FrameTap: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The connection must close.
    struct Flood: Sendable {}

    // A class because the channel calls it, only on its event loop.
    private var meter: FrameMeter
    private var isFlooded = false
    /// When the frame or header block began that has not ended.
    private(set) var incompleteSince: NIODeadline?

    /// `preface`: bytes of the connection preface that are still to come.
    init(preface: Int) { meter = FrameMeter(preface: preface) }

    var isIncomplete: Bool { incompleteSince != nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isFlooded else { return }
        let now = context.eventLoop.now
        isFlooded = !meter.receive(unwrapInboundIn(data), at: now)
        incompleteSince = meter.isIncomplete ? incompleteSince ?? now : nil
        if isFlooded { context.fireUserInboundEventTriggered(Flood()) } else { context.fireChannelRead(data) }
    }
}
