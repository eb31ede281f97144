import NIOCore

/// Reports that the client of a long request has closed its connection, or its side of it. In the pipeline for the time
/// of the request.
final class ClientWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let signal: Signal

    private init(_ signal: Signal) { self.signal = signal }

    /// Fires at once if the channel closed, or the client ended its input, before the watch was added. The end of input
    /// often arrives together with the request.
    func handlerAdded(context: ChannelHandlerContext) {
        let gate = try? context.pipeline.syncOperations.handler(type: InputGate.self)
        if !context.channel.isActive || gate?.hasInputEnded == true { signal.fire() }
    }

    /// The connection has closed, by either side.
    func channelInactive(context: ChannelHandlerContext) {
        signal.fire()
        context.fireChannelInactive()
    }

    /// A client that only ends its input counts as gone, although it could still read the response.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { signal.fire() }
        context.fireUserInboundEventTriggered(event)
    }

    /// Calls `body` with a signal that fires as soon as the client of the channel is gone. The watch leaves the
    /// pipeline when `body` returns or throws. Throws only the errors of `body`.
    static func watching<R: Sendable>(
        _ channel: any Channel, _ signal: Signal, _ body: () async throws -> R
    ) async rethrows -> R {
        // First in the pipeline: handlers behind it may hold the event back.
        let added = channel.eventLoop.submit {
            let watch = ClientWatch(signal)
            try channel.pipeline.syncOperations.addHandler(watch, position: .first)
            return NIOLoopBound(watch, eventLoop: channel.eventLoop)
        }
        defer {
            added.whenSuccess { watch in
                // Fails for a closed channel, which has removed its handlers.
                channel.pipeline.syncOperations.removeHandler(watch.value, promise: nil)
            }
            added.whenFailure { _ in signal.fire() }
        }
        return try await body()
    }

    /// Ends one piece of work from any thread.
    final class Signal: Sendable {
        // A class because the connection and the request share it.
        /// Never has an element. Its end is the signal, so a later ``race(_:)`` sees an earlier ``fire()``.
        private let stream: AsyncStream<Void>
        private let end: AsyncStream<Void>.Continuation
        /// Runs on the thread that calls ``fire()``.
        private let onFire: @Sendable () -> Void

        /// `onFire`: called by every ``fire()``.
        init(onFire: @escaping @Sendable () -> Void = {}) {
            (stream, end) = AsyncStream.makeStream()
            self.onFire = onFire
        }

        /// Cancels the work of ``race(_:)``, even of a later call.
        func fire() {
            end.finish()
            onFire()
        }

        /// The result of the work; nil if the signal came first. Cancels the work then. Returns after the work has
        /// ended, so the work must react to its cancellation.
        func race<R: Sendable>(_ work: @escaping @Sendable () async -> R) async -> R? {
            await withTaskGroup(of: R?.self) { group in
                group.addTask { await work() }
                group.addTask { [stream] in
                    for await _ in stream {}
                    return nil
                }
                let first = await group.next()
                group.cancelAll()
                return first ?? nil
            }
        }
    }
}
