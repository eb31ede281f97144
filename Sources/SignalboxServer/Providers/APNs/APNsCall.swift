import SignalboxConfig
import SignalboxNotification

/// A request to the APNs endpoint whose path and header fields were read.
final class APNsCall: Sendable {
    // A class because several closures of each push refer to it.
    let request: ProviderRequest
    let target: APNsTarget
    let headers: APNsHeaders
    /// Words every answer to this request.
    let reply: APNsReply

    /// Nil for a path of another endpoint.
    init?(_ request: ProviderRequest) {
        guard let target = APNsTarget(path: request.path) else { return nil }
        self.request = request
        self.target = target
        headers = APNsHeaders(request.headers)
        reply =
            switch target.resource {
            case .device, .unknown: APNsReply("apns-id", id: headers.id)
            case .broadcast, .channels, .allChannels: APNsReply("apns-request-id", id: headers.requestID)
            }
    }

    /// Checks the method and the uniqueness of the header fields, the first steps for every resource. `isMethod`:
    /// whether the resource has the method.
    func check(isMethod: Bool) throws(APNsReason) {
        guard isMethod else { throw .methodNotAllowed }
        guard !headers.hasDuplicates else { throw .duplicateHeaders }
    }

    /// Rejects a body that is empty or too long before it arrives, if its length is known.
    func checkLength(upTo limit: Int) throws(APNsReason) {
        guard let length = request.bodyLength else { return }
        guard length <= limit else { throw .payloadTooLarge }
        guard length > 0 else { throw .payloadEmpty }
    }
}

/// The client that a request proves to come from.
struct APNsSender: Sendable, Equatable {
    let source: SourceName
    /// The topic of requests without `apns-topic`: the subject UID of the client certificate.
    var defaultTopic: String?
}

/// Decides who sends a request to the APNs endpoint.
struct APNsAccess: Sendable {
    let senders: APNsSenders
    let tokens: APNsTokens

    /// Checks the proofs of a request: the secret in its path, otherwise its token, otherwise the certificate of its
    /// connection. Without sources, a proof is read if there is one, and any client on this machine may send.
    func sender(of call: APNsCall) throws(APNsReason) -> APNsSender {
        if senders.isOpen {
            guard isFromThisMachine(call.request) else { throw .forbidden }
        } else if let secret = call.target.secret {
            guard let source = senders.source(ofSecret: secret) else { throw .invalidProviderToken }
            return APNsSender(source: source)
        }
        let connection = call.request.connection
        if let authorization = call.headers.authorization, !authorization.isEmpty {
            return try sender(authorization: authorization, on: connection)
        }
        if let certificate = connection.certificate {
            let source = senders.isOpen ? .default : senders.source(of: certificate)
            guard let source else { throw .badCertificate }
            return APNsSender(source: source, defaultTopic: certificate.subjectUID)
        }
        guard senders.isOpen else { throw .missingProviderToken }
        return APNsSender(source: .default)
    }

    /// Why ``sender(of:)`` throws ``APNsReason/invalidProviderToken`` or ``APNsReason/forbidden``, in words for the
    /// operator. Nil for other reasons.
    func detail(of call: APNsCall, for reason: APNsReason?) -> String? {
        if reason == .forbidden {
            guard senders.isOpen, !isFromThisMachine(call.request) else { return nil }
            return (call.request.isForwarded ? Problem.forwardedOpen : .foreignPage).detail
        }
        guard reason == .invalidProviderToken else { return nil }
        if !senders.isOpen, call.target.secret != nil { return "the secret in the path is unknown" }
        return call.headers.authorization.map { tokens.detail(of: $0) }
    }

    /// A connection belongs to the team of its first valid token.
    private func sender(
        authorization: String, on connection: ProviderConnection
    ) throws(APNsReason) -> APNsSender {
        let claims = try tokens.claims(authorization: authorization)
        let first = connection.firstProof(or: .init(team: claims.team, key: claims.key))
        guard first.team == claims.team else { throw .invalidProviderToken }
        let source = claims.source ?? .default
        guard first.key == claims.key || !senders.strict(source).connectionKey else { throw .unrelatedKey }
        return APNsSender(source: source)
    }

    /// False for a request that a page of another site made a browser send; see ``Credentials/isFromThisMachine``. The
    /// host may be Apple's, if a name override leads here: an attacker cannot make such a name lead to this machine.
    private func isFromThisMachine(_ request: ProviderRequest) -> Bool {
        guard !request.isForwarded else { return false }
        // Bytes, because characters take many times as long.
        let host = Substring((request.authority ?? "").utf8.prefix { $0 != UInt8(ascii: ":") }).lowercased()
        let authority = host.hasSuffix(".push.apple.com") ? nil : request.authority
        return Credentials(authority: authority, origin: request.header("origin"), authorization: nil)
            .isFromThisMachine
    }
}
