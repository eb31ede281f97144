package import SignalboxNotification
import Synchronization

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
