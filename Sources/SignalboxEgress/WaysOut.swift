package import SignalboxModel
import Synchronization

/// The clients of a process, one for each address policy: those who may go further share no connection with those who
/// may not, so that no open connection lends its permission.
package final class WaysOut: Sendable {
    // A class because it is shared by all who send.
    private let clients = Mutex<[(policy: AddressPolicy, client: OutboundHTTP)]>([])
    private let separate = Mutex<[OutboundHTTP]>([])
    private let allow: [AddressRange]

    /// `allow`: special-purpose ranges that everybody may connect to.
    package init(allow: [AddressRange]) { self.allow = allow }

    /// The client of whoever may connect to these ranges besides.
    package func client(allowing ranges: [AddressRange] = []) -> OutboundHTTP {
        let policy = AddressPolicy(allow: allow + ranges.filter { !allow.contains($0) })
        return clients.withLock { clients in
            if let known = clients.first(where: { $0.policy == policy }) { return known.client }
            let client = OutboundHTTP(policy: policy)
            clients.append((policy, client))
            return client
        }
    }

    /// A client that nobody else gets: what it does takes nothing from others but the processor.
    package func separateClient(allowing ranges: [AddressRange]) -> OutboundHTTP {
        let client = OutboundHTTP(policy: AddressPolicy(allow: allow + ranges.filter { !allow.contains($0) }))
        separate.withLock { $0.append(client) }
        return client
    }

    /// Stops every client; see ``OutboundHTTP/stop()``.
    package func stop() {
        for client in separate.withLock({ $0 }) { client.stop() }
        for (_, client) in clients.withLock({ $0 }) { client.stop() }
    }
}
