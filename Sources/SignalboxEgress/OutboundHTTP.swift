/// An HTTP client: libcurl's multi interface on one thread, under one address policy. No other code sends HTTP
/// requests.
///
/// Safe to use from any number of tasks at once; connections are kept and shared. Does not follow redirects, ignores
/// the environment's proxies unless a request asks for them, and requires TLS 1.2 or newer.
///
/// A class: its thread and its connections live as long as the last reference.
package final class OutboundHTTP: Sendable {
    let loop: OutboundLoop

    /// The thread starts with the first request. `policy`: applies to every connection, including those to a proxy.
    /// `idleConnections`: the most idle connections that are kept for later requests; fewer if the process may open few
    /// files. `groups`: bounds of the connections of ``OutboundRequest/group``, which `idleConnections` does not count.
    package init(
        policy: AddressPolicy, idleConnections: Int = 1024, groups: ConnectionGroup.Limits = ConnectionGroup.Limits()
    ) {
        let idle = Descriptors.own.idleConnections(atMost: idleConnections)
        loop = OutboundLoop(policy: policy, idleConnections: idle, groups: groups)
    }

    /// For tests that replace the loop's socket poll.
    init(_ loop: OutboundLoop) { self.loop = loop }

    /// Requests in progress keep the client alive, so none is pending here.
    deinit { loop.end() }

    /// Sends a request and waits for the whole response, of any status. Ends at the request's timeout at the latest;
    /// cancelling the task does not end it earlier. Never throws: a failure is in the result, with the address that
    /// was tried and the duration.
    package func attempt(_ request: OutboundRequest) async -> OutboundResult {
        await withCheckedContinuation { result in attempt(request) { result.resume(returning: $0) } }
    }

    /// Like ``attempt(_:)``, without waiting. Calls `done` once, on the client's thread, which serves all its requests,
    /// or before it returns: `done` must not block.
    package func attempt(_ request: OutboundRequest, whenDone done: @escaping @Sendable (OutboundResult) -> Void) {
        loop.submit(request) { [self] result in
            // Keeps the client alive, so that a ``ClientPool`` still finds and stops it.
            withExtendedLifetime(self) { done(result) }
        }
    }

    /// Sends a request and waits for the whole response, of any status. Throws the error of
    /// ``OutboundResult/answer``. A status such as 404 or 503 is a reply, not an error.
    package func send(_ request: OutboundRequest) async throws(TransportError) -> OutboundReply {
        try await attempt(request).answer.get()
    }

    /// Fails pending and later requests with ``TransportError/stopped`` and ends the thread. Returns at once; the
    /// callers of pending requests resume when the thread has stopped. Calling it again has no effect.
    package func stop() { loop.stop() }
}
