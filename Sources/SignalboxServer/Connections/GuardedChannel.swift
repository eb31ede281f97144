import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// An HTTP/1.1 connection with our limits.
struct GuardedChannel: ServerChildChannel {
    /// Parses, encodes and routes. Hummingbird's own channel.
    let http: HTTP1Channel
    /// Nil sends every request to the router.
    let responder: DirectResponder?
    /// The same for all connections of a server.
    let limits: ConnectionLimits
    /// Shared by all connections of a server.
    let table: ConnectionTable

    /// Puts the gate before the HTTP decoder and the guard behind it. The future fails when a handler cannot be added.
    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { value in
            // Reads small pieces, one at a time, so that bytes sent early or left unread stay in the system's buffers.
            // The first one holds the longest push of APNs or FCM with its head.
            if let options = channel.syncOptions {
                try options.setOption(.maxMessagesPerRead, value: 1)
                let pieces = AdaptiveRecvByteBufferAllocator(minimum: 2048, initial: 8192, maximum: 16_384)
                try options.setOption(.recvAllocator, value: pieces)
                try options.setOption(.writeBufferWaterMark, value: .init(low: 16_384, high: 32_768))
            }
            let pipeline = channel.pipeline.syncOperations
            let gate = InputGate(heldLimit: limits.heldBytes)
            try pipeline.addHandler(
                RequestGuard(gate: gate, limits: limits, table: table, responder: responder),
                position: .after(pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)))
            try pipeline.addHandler(gate, position: .first)
            return AcceptedConnection(value)
        }
    }

    /// Returns when the connection has closed.
    func handle(value: AcceptedConnection, logger: Logger) async {
        value.isHandled.store(true, ordering: .relaxed)
        await http.handle(value: value.connection, logger: logger)
    }
}

/// A connection that was accepted. It closes when it is dropped: a server that stops drops those that it has just
/// accepted, and NIO ends the process for an asynchronous channel that is dropped without an end.
final class AcceptedConnection: ServerChildChannelValue {
    // A class because its deinit notices that the connection was dropped.
    let connection: HTTP1Channel.Value
    /// Whether ``GuardedChannel/handle(value:logger:)`` has taken the connection over. Once true, it stays true.
    let isHandled = Atomic(false)

    init(_ connection: HTTP1Channel.Value) { self.connection = connection }

    var channel: any Channel { connection.channel }

    deinit {
        guard !isHandled.load(ordering: .relaxed) else { return }
        // Unstructured: the server that accepted the connection has ended. The close ends the task.
        Task { [connection] in
            connection.channel.close(promise: nil)
            try? await connection.executeThenClose { _, _ in }
        }
    }
}
