import NIOCore

/// One request of an HTTP/2 connection.
final class HTTP2Stream {
    // A class because a request changes several times, and each change of a value in a table copies it. Used only on
    // the event loop of its connection.
    /// The progress of the response. A client may end its request in any phase; see ``isEnded``.
    enum Phase {
        /// The body is arriving.
        case receiving(CollectedBody, BodyDeadline)
        /// The endpoint is working on the request. The same phase has a request without a body to collect, and a
        /// request whose response is held.
        case handled
        /// The response was written; the client may not have read it, or may still send the body.
        case answered(NIODeadline)
    }

    /// A step against a client that is too slow.
    enum Overdue {
        /// The body arrives too slowly.
        case body
        /// The client does not stop to send a body that is ignored.
        case ignoredBody
        /// The client does not read the response.
        case response
    }

    /// Whether the response has no body (RFC 9110, 9.3.2).
    let isHead: Bool
    var phase = Phase.handled
    /// Whether the request is complete.
    var isEnded: Bool

    init(isHead: Bool, isEnded: Bool) { (self.isHead, self.isEnded) = (isHead, isEnded) }

    /// Nil while the client is fast enough. The endpoint has no deadline here.
    func overdue(at now: NIODeadline, _ limits: ProviderLimits) -> Overdue? {
        switch phase {
        case .receiving(_, let deadline): now >= deadline.time ? .body : nil
        case .handled: nil
        case .answered(let time) where isEnded: now - time >= limits.readTime ? .response : nil
        case .answered(let time): now - time >= limits.bodyGrace ? .ignoredBody : nil
        }
    }

    /// Whether the client may send more of the body.
    var isReceiving: Bool {
        if case .receiving = phase { true } else { false }
    }

    /// Whether the response was written.
    var isAnswered: Bool {
        if case .answered = phase { true } else { false }
    }

    /// Stores a piece of the body. Returns the reply that ends the request; nil when the piece is stored or ignored.
    func receive(_ piece: ByteBuffer, at now: NIODeadline) -> ProviderReply? {
        guard case .receiving(var body, var deadline) = phase else { return nil }
        // Released first, so that the bytes have one owner and are appended in place.
        phase = .handled
        deadline.receive(piece.readableBytes, at: now)
        let reply = body.append(piece)
        if reply == nil { phase = .receiving(body, deadline) }
        return reply
    }
}
