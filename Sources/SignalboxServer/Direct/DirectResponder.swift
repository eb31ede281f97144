import HTTPTypes
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
