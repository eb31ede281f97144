import NIOCore
import NIOHTTP2

/// Reads and writes the frames of a connection without requests: SETTINGS, PING and WINDOW_UPDATE of the connection.
///
/// The library's handler takes more memory than the rest of an idle connection, so such a connection does without it.
/// It replaces this handler at any other frame, and at a frame that may break a rule. It then reads what the client
/// sent before. The client has received its answers to that already, so they are dropped.
final class IdleFrames: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = ByteBuffer

    // A class because the channel calls it, only on its event loop.
    private let settings: [ConnectionSetting]
    private let tap: FrameTap
    private let makeLibrary: () -> NIOHTTP2Handler
    private var state = IdleFrameState()
    /// Bytes that are not read yet, less than a frame.
    private var unread = ByteBuffer()
    /// Whether the library reads and writes now. Set before it is installed.
    private var isReplaced = false

    /// `settings`: announced to the client. `makeLibrary`: called once.
    init(_ settings: [ConnectionSetting], tap: FrameTap, makeLibrary: @escaping () -> NIOHTTP2Handler) {
        (self.settings, self.tap, self.makeLibrary) = (settings, tap, makeLibrary)
    }

    /// Sends SETTINGS, the preface of a server (RFC 9113, 3.4).
    func handlerAdded(context: ChannelHandlerContext) {
        write(.settings(settings), context)
        context.flush()
    }

    // MARK: Input

    /// Reads whole frames up to the first one that the library must read.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isReplaced else { return context.fireChannelRead(data) }
        var bytes = unwrapInboundIn(data)
        unread.writeBuffer(&bytes)
        while let frame = IdleFrame(unread, isFirst: !state.hasPreface) {
            guard let step = frame.isOther ? nil : state.receive(frame) else { return replace(context) }
            unread.moveReaderIndex(forwardBy: frame.bytes.count)
            perform(step, context)
        }
        // An idle connection keeps no buffer.
        if unread.readableBytes == 0 { unread = ByteBuffer() }
    }

    private func perform(_ step: IdleFrameState.Step, _ context: ChannelHandlerContext) {
        if let answer = step.answer {
            write(answer, context)
            context.flush()
        }
        if let payload = step.payload {
            context.fireChannelRead(wrapInboundOut(HTTP2Frame(streamID: .rootStream, payload: payload)))
        }
    }

    // MARK: Output

    /// Before the first request, only frames of the connection may be written.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isReplaced else { return context.write(data, promise: promise) }
        switch unwrapOutboundIn(data).payload {
        case .windowUpdate(let increment):
            state.sentIncrement += increment
            write(.windowUpdate(increment), context)
        case .ping(let data, let ack): write(.ping(data.integer, isAcknowledgement: ack), context)
        case .goAway(let last, let code, let data): write(.goAway(last, code, data), context)
        default: preconditionFailure("A connection without requests has no streams.")
        }
        promise?.succeed()
    }

    private func write(_ frame: IdleFrame, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(ByteBuffer(bytes: frame.bytes)), promise: nil)
    }

    // MARK: The library

    /// Installs the library, which reads the frames so far and those that follow. Closes the connection if that fails.
    private func replace(_ context: ChannelHandlerContext) {
        isReplaced = true
        let library = makeLibrary()
        tap.isMuted = true
        defer { tap.isMuted = false }
        do {
            let pipeline = context.pipeline.syncOperations
            try pipeline.addHandler(library, position: .after(self))
            inform(library, at: try pipeline.context(handler: library), context)
        } catch {
            // The pipeline is closed.
            return context.close(promise: nil)
        }
        tap.isMuted = false
        let rest = unread
        (unread, state) = (ByteBuffer(), IdleFrameState())
        context.fireChannelRead(NIOAny(rest))
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    /// Gives the library the frames so far, in both directions. `own`: of the library.
    private func inform(_ library: NIOHTTP2Handler, at own: ChannelHandlerContext, _ context: ChannelHandlerContext) {
        func send(_ payload: HTTP2Frame.FramePayload) {
            library.write(
                context: own, data: NIOAny(HTTP2Frame(streamID: .rootStream, payload: payload)), promise: nil)
        }
        if state.sentIncrement > 0 { send(.windowUpdate(windowSizeIncrement: state.sentIncrement)) }
        guard !state.history.isEmpty else { return }
        context.fireChannelRead(NIOAny(ByteBuffer(bytes: state.history)))
        guard state.hasSettings, !state.isAcknowledged else { return }
        // Until the settings are acknowledged, the library permits 100 streams and ends the connection beyond. A client
        // has no limit then (RFC 9113, 6.5.2). So the library gets an acknowledgement now, and writes empty SETTINGS,
        // which are dropped too. The client then acknowledges the empty SETTINGS.
        context.fireChannelRead(NIOAny(ByteBuffer(bytes: IdleFrame.acknowledgement.bytes)))
        send(.settings(.settings([])))
    }
}
