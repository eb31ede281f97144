import NIOCore

/// Watches the bytes of an HTTP/2 connection before they are decoded. After a flood it forwards no further bytes. Joins
/// the frames that are written between two flushes into few buffers. Also writes the one frame that the library must
/// not know of, and the fields of responses, because the library takes many times as long for them.
final class FrameTap: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The connection must close.
    struct Flood: Sendable {}

    // A class because the channel calls it, only on its event loop.
    private var meter: FrameMeter
    /// Set permanently by the first flood. The rest of the input is dropped.
    private var isFlooded = false
    /// Nil before the channel adds the handler, and after its removal.
    private var context: ChannelHandlerContext?
    /// When the frame or header block began that has not ended.
    private(set) var incompleteSince: NIODeadline?
    /// Drops what is written, because the client has received it already.
    var isMuted = false
    /// Frames since the last flush.
    private var joined = ByteBuffer()
    /// Fields of responses whose HEADERS frame the library has not written yet. It writes the frame at once, unless the
    /// client does not read.
    private var fields: [UInt32: [UInt8]] = [:]

    /// The most bytes that are joined. The channel counts bytes once they are passed on, and so notices a client that
    /// does not read.
    private static let largestJoined = 32 * 1024

    /// `preface`: bytes of the connection preface that are still to come.
    init(preface: Int) { meter = FrameMeter(preface: preface) }

    /// Whether the client owes the end of a frame or header block; see ``FrameMeter/isIncomplete``.
    var isIncomplete: Bool { incompleteSince != nil }

    /// The library receives a response without a body; see ``FrameMeter/Allowance/resets``.
    func answeredWithoutBody() { meter.answeredWithoutBody() }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Writes a GOAWAY with the largest stream id, so the client begins no further requests, and those on their way are
    /// still served (RFC 9113, 6.8). Not through the library: once it has sent a GOAWAY and no stream is open, it
    /// answers every frame of the client with PROTOCOL_ERROR, even a request that was on its way.
    func announceEnd() {
        guard let context else { return }
        joined.writeBytes([0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        flush(context: context)
    }

    /// Meters bytes before the library sees them. The first flood fires ``Flood`` instead of the bytes that revealed
    /// it.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isFlooded else { return }
        let now = context.eventLoop.now
        isFlooded = !meter.receive(unwrapInboundIn(data), at: now)
        if meter.hasBegun { incompleteSince = nil }
        incompleteSince = meter.isIncomplete ? incompleteSince ?? now : nil
        if isFlooded { context.fireUserInboundEventTriggered(Flood()) } else { context.fireChannelRead(data) }
    }

    // MARK: Output

    /// Joins a frame to those before it. Passes them on first if the sum would exceed ``largestJoined``, or if the
    /// writer waits for the frame. Fields that wait for the frame's stream are added to its end.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isMuted else {
            promise?.succeed()
            return
        }
        let piece = unwrapOutboundIn(data)
        if !fields.isEmpty, let more = takeFields(of: piece) {
            join(piece, with: more, context)
            if let promise { passOn(context, promise) }
            return
        }
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

    /// Passes the joined frames on first, so they precede the end.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        passOn(context)
        context.close(mode: mode, promise: promise)
    }

    /// `promise`: of the last frame that was joined.
    private func passOn(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>? = nil) {
        guard joined.readableBytes > 0 else { return }
        let piece = joined
        // Before the write, which may call this handler again. An idle connection keeps no bytes.
        joined = ByteBuffer()
        context.write(wrapOutboundOut(piece), promise: promise)
    }
}

// MARK: Fields of responses

extension FrameTap {
    /// Adds fields to the response of a stream, whose HEADERS frame is written next. Call it before the library
    /// receives that response.
    func add(_ headers: [ProviderReply.Header], to stream: UInt32) {
        guard !headers.isEmpty else { return }
        fields[stream] = FieldBlock(headers).bytes
    }

    /// The stream is over. Its response may not have been written. Call it for every stream that ends: fields that wait
    /// would stay as long as the connection.
    func drop(_ stream: UInt32) {
        if !fields.isEmpty { fields[stream] = nil }
    }

    /// The fields that belong to a frame; nil unless it is the HEADERS frame of a response (RFC 9113, 4.1 and 6.2).
    private func takeFields(of frame: ByteBuffer) -> [UInt8]? {
        let start = frame.readerIndex
        // A whole frame, and not the payload of a DATA frame, which the library writes separately.
        guard let head = frame.getInteger(at: start, as: UInt32.self), head & 0xFF == 1,
            Int(head >> 8) == frame.readableBytes - 9, let id = frame.getInteger(at: start + 5, as: UInt32.self)
        else { return nil }
        return fields.removeValue(forKey: id & 0x7FFF_FFFF)
    }

    /// Joins a frame, and bytes at the end of its payload.
    private func join(_ frame: ByteBuffer, with more: [UInt8], _ context: ChannelHandlerContext) {
        if joined.readableBytes + frame.readableBytes + more.count > Self.largestJoined { passOn(context) }
        let start = joined.writerIndex
        joined.writeImmutableBuffer(frame)
        joined.writeBytes(more)
        // The length of the payload has three bytes, the type one.
        let head: UInt32 = joined.getInteger(at: start) ?? 0
        joined.setInteger(head + UInt32(more.count) << 8, at: start)
    }
}
