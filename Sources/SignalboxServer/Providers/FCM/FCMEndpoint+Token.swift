import SignalboxEgress
import SignalboxJSON

/// An error of the token endpoint (RFC 6749, 5.2).
struct GrantError: Error, Equatable, Sendable {
    /// RFC 6749, 5.2, except for ``temporarilyUnavailable``, which 4.1.2.1 defines for the authorization endpoint.
    enum Code: String, CaseIterable, Sendable {
        /// The assertion is malformed, expired, for another endpoint, or of an unknown account or key.
        case invalidGrant = "invalid_grant"
        /// A parameter is missing, or the request fails before its body is read.
        case invalidRequest = "invalid_request"
        /// The memory for bodies is exhausted. Sent with 503.
        case temporarilyUnavailable = "temporarily_unavailable"
        /// The request has another `grant_type` than that of RFC 7523.
        case unsupportedGrantType = "unsupported_grant_type"
    }

    var status = 400
    let code: Code
    /// `error_description`, for developers. It tells no account that exists from one that does not.
    let description: String
    var headers: [ProviderReply.Header] = []
    /// How long the response is held; nil to send it at once.
    var delay: Duration?

    var reply: ProviderReply {
        ProviderReply(
            status: status, headers: .json + headers,
            body: .jsonObject { json in
                json.member("error", code.rawValue)
                json.member("error_description", description)
            }, delay: delay)
    }
}

// The token endpoint of service accounts (RFC 7523, 2.1).
extension FCMEndpoint {
    /// RFC 7523, 2.1.
    private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// Google's token endpoints, which assertions name although they are sent here: google-auth ignores the `token_uri`
    /// of an account's file for the audience.
    private static let audiences: Set<String> = [
        "https://oauth2.googleapis.com/token", "https://www.googleapis.com/oauth2/v4/token",
        "https://accounts.google.com/o/oauth2/token",
    ]

    /// Requests need no credential besides the assertion. Without sources, from this machine only. An assertion may
    /// name the URL of the request as its audience, by `http` or `https`: TLS may end before the gateway.
    func tokenVerdict(on request: ProviderRequest) throws(GoogleError) -> ProviderVerdict {
        if access.sources.isOpen { _ = try access.source(of: request, at: now()) }
        var audiences = Self.audiences
        if let authority = request.authority {
            // Some libraries name the URL as their account's file has it, with the label of the run.
            let paths = [request.path] + (request.run.map { ["/r/\($0)\(request.path)"] } ?? [])
            for scheme in ["http", "https"] {
                for path in paths { audiences.insert("\(scheme)://\(authority)\(path)") }
            }
        }
        let connection = request.connection
        return body(of: request, .token, nil, limit: 2 * ServiceAssertion.mostBytes) { [audiences] body, reply in
            do throws(GrantError) {
                reply(try grant(FormParameters(body), for: audiences))
            } catch {
                var refusal = error
                refusal.delay = failures.record(.token(error.code), from: connection)
                reply(refusal.reply)
            }
        }
    }

    /// The response with a token. Throws `invalid_grant` for an assertion that cannot be verified; unknown accounts and
    /// wrong signatures look alike. A missing parameter is `invalid_request`, another grant type
    /// `unsupported_grant_type`.
    private func grant(_ form: FormParameters, for audiences: Set<String>) throws(GrantError) -> ProviderReply {
        guard form["grant_type"] == Self.grantType else {
            let type = form["grant_type"] ?? ""
            throw GrantError(
                code: type.isEmpty ? .invalidRequest : .unsupportedGrantType,
                description: "Invalid grant_type: \(type.prefix(100))")
        }
        guard let text = form["assertion"] else {
            throw GrantError(code: .invalidRequest, description: "Missing required parameter: assertion")
        }
        let account: ServiceAccountKey?
        do throws(ServiceAssertion.Invalid) {
            let assertion = try ServiceAssertion(text)
            account = try verify(assertion)
            try assertion.check(at: now(), for: audiences)
        } catch {
            throw GrantError(code: .invalidGrant, description: error.description)
        }
        var reply = ProviderReply.json { json in
            json.member("access_token", tokens.grant(to: account, at: now()))
            // As Google, which begins to count before it answers.
            json.member("expires_in", GrantedTokens.lifetime - 1)
            json.member("token_type", "Bearer")
        }
        // RFC 6749, 5.1.
        reply.headers += [.init(name: "cache-control", value: "no-store"), .init(name: "pragma", value: "no-cache")]
        return reply
    }

    /// The account of an assertion; nil while access is open, where no key is known. Google's libraries for Node and
    /// Ruby name no key, so any key of the account may have signed their assertions.
    private func verify(_ assertion: ServiceAssertion) throws(ServiceAssertion.Invalid) -> ServiceAccountKey? {
        guard !access.sources.isOpen else { return nil }
        let named = ServiceAccountKey(email: assertion.issuer, keyID: assertion.keyID)
        let keys = named.keyID.isEmpty ? access.accounts.keys.filter { $0.email == named.email } : [named]
        let account = keys.first {
            access.accounts[$0]?.key.isValid(assertion.signature, for: assertion.signed) == true
        }
        guard let account else { throw ServiceAssertion.notSigned }
        return account
    }
}
