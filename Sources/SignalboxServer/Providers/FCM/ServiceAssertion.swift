import Foundation
import SignalboxEgress
import SignalboxJSON

/// An assertion by which a service account requests an access token: a JSON Web Token signed with RS256 (RFC 7523).
/// Parsed, not verified.
struct ServiceAssertion: Sendable {
    /// The permitted difference of clocks, in seconds.
    static let skew = 300.0
    /// The longest period of an assertion, in seconds, as Google limits it.
    static let longest = 3600.0
    /// The most bytes of an assertion.
    static let mostBytes = JSONWebToken.largest

    /// `iss`: the e-mail address of the account.
    let issuer: String
    /// `kid`; empty without one.
    let keyID: String
    /// `aud`: the URL of the token endpoint; empty without one.
    let audience: String
    /// Seconds since 1970.
    let issuedAt: Double
    /// Seconds since 1970.
    let expiresAt: Double
    /// Header and claims as sent.
    let signed: [UInt8]
    /// Covers ``signed``. Verify it before the claims are trusted.
    let signature: [UInt8]

    /// Why an assertion is rejected. The texts are Google's `error_description`.
    struct Invalid: Error, Equatable { let description: String }

    /// Reads an assertion. Checks the algorithm first. Numbers may be integers or fractions.
    init(_ text: String) throws(Invalid) {
        guard let token = JSONWebToken(text.utf8) else { throw Invalid(description: "Bad Request") }
        guard let header = token.readHeader(), header.algorithm == "RS256" else {
            throw Invalid(description: "Invalid JWT: Only RS256 is supported.")
        }
        keyID = header.keyID ?? ""
        let claims = token.readClaims { claims in
            claims["iss"]?.string.map {
                (issuer: $0, from: claims["iat"]?.double, until: claims["exp"]?.double, for: claims["aud"]?.string)
            }
        }
        guard let claims else { throw Invalid(description: "Invalid JWT: Failed to read the claims.") }
        guard let issuedAt = claims.from, let expiresAt = claims.until else { throw Self.notShortLived }
        issuer = claims.issuer
        (self.issuedAt, self.expiresAt) = (issuedAt, expiresAt)
        audience = claims.for ?? ""
        signed = token.signedBytes
        signature = token.signature
    }

    /// Checks the period and the audience. `audiences`: the token endpoints that the assertion may be for. The times
    /// may be off by ``skew``.
    func check(at now: Date, for audiences: Set<String>) throws(Invalid) {
        let now = now.timeIntervalSince1970
        guard expiresAt > now - Self.skew, issuedAt < now + Self.skew,
            expiresAt - issuedAt <= Self.longest + Self.skew, expiresAt >= issuedAt
        else { throw Self.notShortLived }
        guard audiences.contains(audience) else { throw Invalid(description: "Invalid JWT: Failed audience check.") }
    }

    /// The lifetime is wrong, or `iat` or `exp` is missing.
    private static let notShortLived = Invalid(
        description: "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
            + "Check your iat and exp values in the JWT claim.")
    /// For unknown accounts, unknown keys and wrong signatures alike.
    static let notSigned = Invalid(description: "Invalid JWT Signature.")
}
