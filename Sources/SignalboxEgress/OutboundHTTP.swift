package import SignalboxNotification
import Synchronization

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

/// The clients of a process, one for each address policy. Clients with different policies share no connections, so a
/// connection opened under a wide policy is never reused under a narrow one.
///
/// The pool references its clients weakly: a client ends with its last user, for instance when the config is replaced.
///
/// A class because all senders share it. Safe to use from any number of threads at once.
package final class ClientPool: Sendable {
    private let clients = Mutex<[Entry]>([])
    private let allow: [AddressRange]

    /// A client with its policy. Entries of ended clients are removed when the next client is added.
    private struct Entry {
        let policy: AddressPolicy
        let use: Use
        weak var client: OutboundHTTP?
    }

    /// The callers that share a client.
    private enum Use { case shared, separate, own }

    /// `allow`: special-purpose ranges that every client may connect to.
    package init(allow: [AddressRange]) { self.allow = allow }

    /// The shared client that may also connect to these ranges. Callers with equal ranges get the same client while
    /// one of them references it. The order of ranges matters.
    package func client(allowing ranges: [AddressRange] = []) -> OutboundHTTP {
        let policy = policy(allowing: ranges)
        return clients.withLock { clients in
            let known = clients.first { $0.policy == policy && $0.use == .shared && $0.client != nil }
            return known?.client ?? Self.add(policy, .shared, to: &clients)
        }
    }

    /// A new client with a thread and connections of its own. ``client(allowing:)`` never returns it.
    /// ``stopSeparate()`` stops it without the shared clients.
    package func separateClient(allowing ranges: [AddressRange]) -> OutboundHTTP {
        let policy = policy(allowing: ranges)
        return clients.withLock { Self.add(policy, .separate, to: &$0) }
    }

    /// A new client with a thread and connections of its own. ``client(allowing:)`` never returns it, and
    /// ``stopSeparate()`` does not stop it.
    package func ownClient() -> OutboundHTTP { clients.withLock { Self.add(policy(allowing: []), .own, to: &$0) } }

    /// True while any of the clients is referenced.
    package var isInUse: Bool { clients.withLock { $0.contains { $0.client != nil } } }

    /// Stops every client; see ``OutboundHTTP/stop()``.
    package func stop() { for entry in clients.withLock({ $0 }) { entry.client?.stop() } }

    /// Stops the clients from ``separateClient(allowing:)``.
    package func stopSeparate() {
        for entry in clients.withLock({ $0 }) where entry.use == .separate { entry.client?.stop() }
    }

    /// The ranges of the pool first, then those that are new.
    private func policy(allowing ranges: [AddressRange]) -> AddressPolicy {
        AddressPolicy(allow: allow + ranges.filter { !allow.contains($0) })
    }

    private static func add(_ policy: AddressPolicy, _ use: Use, to clients: inout [Entry]) -> OutboundHTTP {
        let client = OutboundHTTP(policy: policy)
        clients.removeAll { $0.client == nil }
        clients.append(Entry(policy: policy, use: use, client: client))
        return client
    }
}
