import SignalboxConfig
import SignalboxNotification

/// A request to the APNs endpoint whose path and header fields were read.
final class APNsCall: Sendable {
    // A class because several closures of each push refer to it.
    /// Its path has no label of a run: ``ProviderRequest/labelled()`` removed the prefix.
    let request: ProviderRequest
    /// Read from the path alone; ``check(isMethod:)`` compares the method.
    let target: APNsTarget
    /// Not checked yet: the endpoint reads each value at its turn in the order of checks.
    let headers: APNsHeaders
    /// Writes every answer to this request.
    let reply: APNsReply

    /// Nil for a path of another endpoint.
    init?(_ request: ProviderRequest) {
        guard let target = APNsTarget(path: request.path) else { return nil }
        (self.request, self.target) = (request, target)
        headers = APNsHeaders(request.headers)
        reply =
            switch target.resource {
            case .device, .unknown: APNsReply("apns-id", id: headers.id)
            case .broadcast, .channels, .allChannels: APNsReply("apns-request-id", id: headers.requestID)
            }
    }

    /// Checks the method and the uniqueness of the header fields, the first steps for every resource. `isMethod`:
    /// whether the resource has the method. Throws ``APNsReason/methodNotAllowed`` or ``APNsReason/duplicateHeaders``,
    /// in this order.
    func check(isMethod: Bool) throws(APNsReason) {
        guard isMethod else { throw .methodNotAllowed }
        guard !headers.hasDuplicates else { throw .duplicateHeaders }
    }

    /// Rejects a body that is empty or too long before it arrives, if its length is known. Has no effect for an unknown
    /// length: then ``ProviderBody/limit`` bounds the body, and its handler rejects an empty one.
    func checkLength(upTo limit: Int) throws(APNsReason) {
        guard let length = request.bodyLength else { return }
        guard length <= limit else { throw .payloadTooLarge }
        guard length > 0 else { throw .payloadEmpty }
    }
}

/// The sender of a request, as its credential proves.
struct APNsSender: Sendable, Equatable {
    /// ``SourceName/default`` while access is open.
    let source: SourceName
    /// The topic of requests without `apns-topic`: the subject UID of the client certificate. Nil for a sender that
    /// proved its identity otherwise, or whose certificate has no UID.
    var defaultTopic: String?
}

/// Decides who sends a request to the APNs endpoint.
struct APNsAccess: Sendable {
    /// Decides on secrets in paths, on certificates and on topics.
    let senders: APNsSenders
    /// Decides on JWTs, with the keys of ``senders``.
    let tokens: APNsTokens

    /// Checks the proofs of a request: the secret in its path, otherwise its token, otherwise the certificate of its
    /// connection. Without sources, a proof is read if there is one, and any client on this machine may send. Throws
    /// ``APNsReason/forbidden`` for a proxy or a foreign page without sources, ``APNsReason/missingProviderToken``
    /// without a proof, ``APNsReason/invalidProviderToken`` for an unknown secret, ``APNsReason/badCertificate`` for a
    /// certificate that no source lists, and the errors of ``APNsTokens/claims(authorization:)``.
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

    /// A connection belongs to the team of its first valid token. Throws ``APNsReason/invalidProviderToken`` for a
    /// token of another team, and ``APNsReason/unrelatedKey`` for one of another key if the source is strict about it.
    private func sender(authorization: String, on connection: ProviderConnection) throws(APNsReason) -> APNsSender {
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
        // Compares bytes: a comparison of characters takes many times as long.
        let host = Substring((request.authority ?? "").utf8.prefix { $0 != UInt8(ascii: ":") }).lowercased()
        let authority = host.hasSuffix(".push.apple.com") ? nil : request.authority
        return Credentials(authority: authority, origin: request.header("origin"), authorization: nil)
            .isFromThisMachine
    }
}
