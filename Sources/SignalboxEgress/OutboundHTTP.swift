import SignalboxNotification

/// The only way out of the process: HTTP requests by libcurl's multi interface on one thread, under one address policy.
///
/// Requests may be sent from anywhere at once; connections are kept and shared. Redirects are not followed, the
/// environment's proxies are not used unless a request asks for them, TLS is at least 1.2.
///
/// A class because whoever holds it keeps its thread and its connections: they go with the last one.
package final class OutboundHTTP: Sendable {
    let loop: OutboundLoop

    /// `idleConnections`: how many that nobody uses are kept for later requests.
    package init(policy: AddressPolicy, idleConnections: Int = 1024) {
        loop = OutboundLoop(policy: policy, idleConnections: idleConnections)
    }

    init(_ loop: OutboundLoop) { self.loop = loop }

    deinit { loop.end() }

    /// Sends a request, waits for the whole reply, whatever its status, and says all there is to say of the attempt.
    package func attempt(_ request: OutboundRequest) async -> OutboundResult {
        // Whoever keeps a list of clients must find this one while something is under way.
        defer { withExtendedLifetime(self) {} }
        return await withCheckedContinuation { loop.submit(request, completion: $0) }
    }

    /// The same, for whom the reply is enough.
    package func send(_ request: OutboundRequest) async throws(TransportError) -> OutboundReply {
        try await attempt(request).answer.get()
    }

    /// Fails what is under way with ``TransportError/stopped`` and ends the thread. Later requests fail likewise.
    package func stop() { loop.stop() }
}
