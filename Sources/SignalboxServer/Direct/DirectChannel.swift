import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// What can answer requests on the event loop of their connection, without a task for them. It must never wait there.
struct DirectResponder: Sendable {
    /// Most bytes of a body that it takes.
    let bodyLimit: Int
    /// For whom a request with this head speaks; nil where it is for others, and nothing of it is kept back.
    let sender: @Sendable (HTTPRequest) -> DirectSender?
    /// What it answers; nil where the request is not for it after all, and it has done nothing.
    let respond: @Sendable (DirectRequest, any EventLoop) -> EventLoopFuture<DirectAnswer>?
}

/// Connections as Hummingbird has them, on which a responder may answer before there is a task for it.
struct DirectChannel: ServerChildChannel {
    let http: HTTP1Channel
    let responder: DirectResponder

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            // Behind what looks after idle and closing connections, so that it sees these requests too.
            try pipeline.addHandler(
                DirectHandler(responder), position: .after(pipeline.handler(type: HTTPConnectionStateHandler.self)))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await http.handle(value: value, logger: logger) }
}
