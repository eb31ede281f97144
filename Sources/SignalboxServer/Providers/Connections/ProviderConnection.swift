import Synchronization

/// The connection of a request: its properties, and the records of endpoints about it. One for each connection.
final class ProviderConnection: Sendable {
    // A class because all requests of a connection share what endpoints record in it.

    /// The certificate that a client proved to own in the TLS handshake.
    struct ClientCertificate: Sendable, Equatable {
        /// The digest of its DER form.
        var sha256: [UInt8]
        /// The attribute `UID` of the subject (RFC 4519, 2.39); in Apple's certificates, the bundle of the app.
        var subjectUID: String?
        /// Whether `gateway.listen.tls.clientCA` issued it. Any other certificate only proves that the client has its
        /// key.
        var isIssuedByClientCA: Bool
    }

    /// The team and key of an accepted provider token.
    struct Proof: Sendable, Equatable {
        /// `iss` of the token.
        var team: String
        /// `kid` of the token.
        var key: String
    }

    /// The network of the client, for limits.
    let peer: PeerAddress
    /// The numeric address of the client, for logs; empty when it has none.
    let address: String
    /// Whether the client connected from this machine.
    let isLoopback: Bool
    /// Nil without TLS, and for a client that sent none.
    let certificate: ClientCertificate?
    /// The host of a push service that the client asked the proxy for; nil for a client that connected to the gateway.
    let providerHost: ProviderHost?
    /// True if each request has a value of its own, although the requests share a connection.
    let isOfOneRequest: Bool

    private let recorded = Mutex(Recorded())

    private struct Recorded {
        var proof: Proof?
        /// By name. Released with the connection object, which the channel and the requests in progress hold.
        var permits: [String: any Sendable] = [:]
    }

    init(
        peer: PeerAddress, address: String, isLoopback: Bool, certificate: ClientCertificate? = nil,
        providerHost: ProviderHost? = nil, isOfOneRequest: Bool = false
    ) {
        self.peer = peer
        self.address = address
        self.isLoopback = isLoopback
        self.certificate = certificate
        self.providerHost = providerHost
        self.isOfOneRequest = isOfOneRequest
    }

    /// Returns the first proof of the connection, which is `proof` if there was none before.
    func firstProof(or proof: Proof) -> Proof {
        recorded.withLock { recorded in
            if let first = recorded.proof { return first }
            recorded.proof = proof
            return proof
        }
    }

    /// Returns the permit of this name, which the connection holds until it closes. Calls `make` for a name without a
    /// permit; returns nil if `make` does. `make` runs under a lock: it must not call the connection.
    func permit(_ name: String, orElse make: () -> (any Sendable)?) -> (any Sendable)? {
        recorded.withLock { recorded in
            if let permit = recorded.permits[name] { return permit }
            guard let permit = make() else { return nil }
            recorded.permits[name] = permit
            return permit
        }
    }
}
