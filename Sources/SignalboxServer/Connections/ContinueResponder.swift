import Hummingbird
import NIOCore

/// Asks a client that waits for `100 Continue` for its body, when a handler reads it. Requests without an Expect field
/// pass unchanged.
struct ContinueResponder<Next: HTTPResponder>: HTTPResponder where Next.Context == GatewayRequestContext {
    /// The router, or another responder.
    let next: Next

    /// Wraps the body only; the response is that of ``next``.
    func respond(to request: Request, context: GatewayRequestContext) async throws -> Response {
        guard request.headers[.expect] != nil else { return try await next.respond(to: request, context: context) }
        var request = request
        request.body = RequestBody(asyncSequence: ExpectedBody(body: request.body, channel: context.channel))
        return try await next.respond(to: request, context: context)
    }
}

/// A body that the client may hold back until it is read (RFC 9110, 10.1.1). A request that is rejected by its head
/// gets its final status, and no `100 Continue`.
private struct ExpectedBody: AsyncSequence, Sendable {
    let body: RequestBody
    let channel: any Channel

    func makeAsyncIterator() -> Iterator { Iterator(body: body.makeAsyncIterator(), channel: channel) }

    struct Iterator: AsyncIteratorProtocol {
        var body: RequestBody.AsyncIterator
        /// Nil once the body has been requested.
        var channel: (any Channel)?

        /// The first call makes ``RequestGuard`` send `100 Continue` before it waits for a byte. Later calls only read.
        mutating func next() async throws -> ByteBuffer? {
            channel?.triggerUserOutboundEvent(RequestGuard.BodyIsRead(), promise: nil)
            channel = nil
            return try await body.next()
        }
    }
}
