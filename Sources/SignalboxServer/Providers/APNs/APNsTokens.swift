import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxJSON
import SignalboxNotification
import Synchronization

/// Verifies provider tokens: JWTs that the key of a team signed (ES256). Remembers those that are valid, so a client
/// that sends the same token with each push costs one verification.
/// Source: developer.apple.com, "Establishing a token-based connection to APNs"
///
/// Also accepts what widely used senders make of a JWT: a signature in DER (pushy, apnotic), parts in the standard
/// alphabet of Base64 with padding (a2, apns-http2), and ES512 with the key of ES256 (pushok). That Apple accepts these
/// follows from their use; its documentation does not say so.
///
/// A class because all requests of a config share the memory.
final class APNsTokens: Sendable {
    /// The claims of a valid token.
    struct Claims: Sendable, Equatable {
        /// `iss`.
        let team: String
        /// `kid`.
        let key: String
        /// Seconds since 1970.
        let issuedAt: Double
        /// The source that has the key; nil if no signature was verified, because the endpoint is open.
        let source: SourceName?
    }

    private struct Memory {
        /// By the digest of the token.
        var claims: [[UInt8]: Claims] = [:]
        /// The digests in the order of their arrival; the oldest is forgotten first.
        var order: [[UInt8]] = []
        /// The position in ``order`` that the next token takes once there are ``most``.
        var oldest = 0
        /// The arrivals of new tokens within ``updateWindow``, by team.
        var arrivals: [String: [Date]] = [:]
    }

    /// The most tokens that are remembered. Kalyke signs each push anew.
    private static let most = 1_024
    /// Apple accepts a token for one hour.
    private static let longestAge: TimeInterval = 3600
    /// How far a sender's clock may be ahead.
    private static let skew: TimeInterval = 300
    /// Apple permits one update in this time.
    private static let updateWindow: TimeInterval = 20 * 60
    /// New tokens of a team within ``updateWindow`` that a strict source accepts.
    private static let mostNew = 2

    private let senders: APNsSenders
    private let now: @Sendable () -> Date
    private let memory = Mutex(Memory())

    /// Remembers no token at first, so each reload costs one verification for each token in use. `now`: the clock by
    /// which tokens age.
    init(_ senders: APNsSenders, now: @escaping @Sendable () -> Date) { (self.senders, self.now) = (senders, now) }

    /// The claims of the token in an `authorization` field. Verifies the signature, unless the endpoint is open. An
    /// unknown key and a wrong signature look alike. Throws ``APNsReason/expiredProviderToken`` for a valid token that
    /// is too old. Throws ``APNsReason/missingProviderToken`` for a field without a token,
    /// ``APNsReason/invalidProviderToken`` for any other fault, and ``APNsReason/tooManyTokenUpdates`` if the source is
    /// strict about them.
    func claims(authorization: String) throws(APNsReason) -> Claims {
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard let scheme = parts.first else { throw .missingProviderToken }
        guard scheme.lowercased() == "bearer" else { throw .invalidProviderToken }
        let token = Array((parts.count > 1 ? parts[1] : "").utf8.drop { $0 == UInt8(ascii: " ") })
        guard !token.isEmpty else { throw .missingProviderToken }
        let digest = sha256(token)
        let now = now()
        if let known = memory.withLock({ $0.claims[digest] }) { return try checkAge(known, at: now) }
        guard let claims = read(token) else { throw .invalidProviderToken }
        // Throws before the token is remembered, so the refused token still counts as new.
        _ = try checkAge(claims, at: now)
        try remember(claims, digest, at: now)
        return claims
    }

    /// Applies to remembered tokens as well, because they grow old. A token from more than ``skew`` ahead is invalid,
    /// not expired.
    private func checkAge(_ claims: Claims, at now: Date) throws(APNsReason) -> Claims {
        let age = now.timeIntervalSince1970 - claims.issuedAt
        guard age >= -Self.skew else { throw .invalidProviderToken }
        guard age <= Self.longestAge else { throw .expiredProviderToken }
        return claims
    }

    /// Nil for a token that is not valid, regardless of its age.
    private func read(_ text: [UInt8]) -> Claims? {
        // The algorithm first: no other one may be applied to the key (RFC 8725, 3.1).
        guard let token = JSONWebToken(text, in: .anyBase64), let header = token.readHeader(),
            let algorithm = ES256PublicKey.Algorithm(rawValue: header.algorithm),
            ES256PublicKey.hasForm(token.signature, of: algorithm), let key = header.keyID, !key.isEmpty
        else { return nil }
        let claims = token.readClaims { claims -> (team: String, issuedAt: Double)? in
            guard let team = claims["iss"]?.string, !team.isEmpty, let time = Self.time(claims["iat"]) else {
                return nil
            }
            return (team, time)
        }
        guard let claims else { return nil }
        guard !senders.isOpen else {
            return Claims(team: claims.team, key: key, issuedAt: claims.issuedAt, source: nil)
        }
        let known = senders.keys.first { $0.team == claims.team && $0.id == key }
        // An unknown key takes as long as a wrong signature.
        guard let tried = known ?? senders.keys.first,
            tried.publicKey.isValid(token.signature, for: token.signedBytes, by: algorithm), let known
        else { return nil }
        return Claims(team: claims.team, key: key, issuedAt: claims.issuedAt, source: known.source)
    }

    /// Clients write an integer, a float (PyAPNs2) or a string (APNSwift, Kalyke). Nil for other types, and for values
    /// that are not finite.
    private static func time(_ value: JSONValue?) -> Double? {
        guard let value else { return nil }
        let time = value.double ?? value.string.flatMap { Double($0) }
        return time.flatMap { $0.isFinite ? $0 : nil }
    }

    /// Throws ``APNsReason/tooManyTokenUpdates`` if the source is strict about it. The token is not remembered then.
    private func remember(_ claims: Claims, _ digest: [UInt8], at now: Date) throws(APNsReason) {
        let isStrict = claims.source.map { senders.strict($0).tokenUpdates } ?? false
        let isRefused = memory.withLock { memory -> Bool in
            // Another request may have brought the same token meanwhile.
            guard memory.claims[digest] == nil else { return false }
            if isStrict {
                let start = now.addingTimeInterval(-Self.updateWindow)
                let recent = memory.arrivals[claims.team, default: []].filter { $0 > start }
                guard recent.count < Self.mostNew else { return true }
                memory.arrivals[claims.team] = recent + [now]
            }
            if memory.order.count < Self.most {
                memory.order.append(digest)
            } else {
                memory.claims[memory.order[memory.oldest]] = nil
                memory.order[memory.oldest] = digest
                memory.oldest = (memory.oldest + 1) % Self.most
            }
            memory.claims[digest] = claims
            return false
        }
        if isRefused { throw .tooManyTokenUpdates }
    }
}

// MARK: Details

extension APNsTokens {
    /// Why a token is answered with ``APNsReason/invalidProviderToken``, in words for the operator. Senders must not
    /// see them: for them, an unknown key and a wrong signature look alike. Verifies no signature: a token without
    /// another fault has a wrong one. `authorization`: of the request.
    func detail(of authorization: String) -> String {
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.first?.lowercased() == "bearer" else { return "the scheme is not bearer" }
        let text = Array((parts.count > 1 ? parts[1] : "").utf8.drop { $0 == UInt8(ascii: " ") })
        guard let token = JSONWebToken(text, in: .anyBase64), let header = token.readHeader() else {
            return "the token is not a JWT"
        }
        guard let algorithm = ES256PublicKey.Algorithm(rawValue: header.algorithm) else {
            return "alg is \(Self.word(header.algorithm)), not ES256"
        }
        guard ES256PublicKey.hasForm(token.signature, of: algorithm) else {
            return "the signature is neither \(algorithm.length) bytes long nor DER"
        }
        guard let key = header.keyID, !key.isEmpty else { return "the header has no kid" }
        return detail(of: token, digest: sha256(text), key: key)
    }

    /// `digest`: of the token. `key`: its `kid`.
    private func detail(of token: JSONWebToken, digest: [UInt8], key: String) -> String {
        let claims = token.readClaims { (team: $0["iss"]?.string, issuedAt: Self.time($0["iat"])) }
        guard let team = claims?.team, !team.isEmpty else { return "the claims have no iss" }
        guard let time = claims?.issuedAt else { return "iat is not a number of seconds" }
        guard time <= now().timeIntervalSince1970 + Self.skew else { return "iat is in the future" }
        let isValid = memory.withLock { $0.claims[digest] != nil }
        guard !isValid, !senders.isOpen else { return "the connection began with a token of another team" }
        guard senders.keys.contains(where: { $0.team == team && $0.id == key }) else {
            return "no key \(Self.word(key)) of team \(Self.word(team)) is configured"
        }
        return "the signature does not match key \(Self.word(key))"
    }

    /// Text of a sender, of bounded length and without characters that could be read as another field. Keeps 20
    /// characters; characters other than ASCII letters and digits become `?`.
    private static func word(_ text: String) -> String {
        String(text.prefix(20).map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "?" })
    }
}
