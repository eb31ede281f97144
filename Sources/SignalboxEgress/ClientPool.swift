package import SignalboxNotification
import Synchronization

/// The clients of a process, one for each address policy: those who may go further share no connection with those who
/// may not, so that no open connection lends its permission.
///
/// It only knows them: a client is gone when nobody uses it any more, as happens to those of a config that was replaced.
package final class ClientPool: Sendable {
    // A class because it is shared by all who send.
    private let clients = Mutex<[Known]>([])
    private let allow: [AddressRange]

    private struct Known {
        let policy: AddressPolicy
        let isSeparate: Bool
        weak var client: OutboundHTTP?
    }

    /// `allow`: special-purpose ranges that everybody may connect to.
    package init(allow: [AddressRange]) { self.allow = allow }

    /// The client of whoever may connect to these ranges besides.
    package func client(allowing ranges: [AddressRange] = []) -> OutboundHTTP {
        let policy = policy(allowing: ranges)
        return clients.withLock { clients in
            let known = clients.first { $0.policy == policy && !$0.isSeparate && $0.client != nil }
            return known?.client ?? Self.add(policy, isSeparate: false, to: &clients)
        }
    }

    /// A client that nobody else gets: what it does takes nothing from others but the processor.
    package func separateClient(allowing ranges: [AddressRange]) -> OutboundHTTP {
        let policy = policy(allowing: ranges)
        return clients.withLock { Self.add(policy, isSeparate: true, to: &$0) }
    }

    /// Whether somebody has one of the clients.
    package var isInUse: Bool { clients.withLock { $0.contains { $0.client != nil } } }

    /// Stops every client; see ``OutboundHTTP/stop()``.
    package func stop() { for known in clients.withLock({ $0 }) { known.client?.stop() } }

    /// As above, only those that were given out by ``separateClient(allowing:)``.
    package func stopSeparate() {
        for known in clients.withLock({ $0 }) where known.isSeparate { known.client?.stop() }
    }

    private func policy(allowing ranges: [AddressRange]) -> AddressPolicy {
        AddressPolicy(allow: allow + ranges.filter { !allow.contains($0) })
    }

    private static func add(_ policy: AddressPolicy, isSeparate: Bool, to clients: inout [Known]) -> OutboundHTTP {
        let client = OutboundHTTP(policy: policy)
        clients.removeAll { $0.client == nil }
        clients.append(Known(policy: policy, isSeparate: isSeparate, client: client))
        return client
    }
}
