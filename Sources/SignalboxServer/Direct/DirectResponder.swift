import HTTPTypes
import NIOCore

/// Answers requests on the event loop of their connection, without a task. It must never block there.
struct DirectResponder: Sendable {
    /// Largest body that it accepts, in bytes.
    let bodyLimit: Int
    /// The sender of a request with this head; nil when others answer the request, and none of it is held back.
    let sender: @Sendable (HTTPRequest) -> DirectSender?
    /// The answer; nil when others must answer the request after all, and nothing was done.
    let respond: @Sendable (DirectRequest, any EventLoop) -> EventLoopFuture<DirectAnswer>?
}
