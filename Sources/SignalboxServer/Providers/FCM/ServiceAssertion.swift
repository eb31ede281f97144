import Foundation
import SignalboxEgress
import SignalboxJSON

/// An assertion by which a service account requests an access token: a JSON Web Token signed with RS256 (RFC 7523).
/// Parsed, not verified.
struct ServiceAssertion: Sendable {
    /// Clocks may differ by so many seconds.
    static let skew = 300.0
    /// The longest period of an assertion, in seconds, as Google limits it.
    static let longest = 3600.0
    /// The most bytes of an assertion.
    static let mostBytes = 16 * 1024

    /// `iss`: the e-mail address of the account.
    let issuer: String
    /// `kid`; empty without one.
    let keyID: String
    let audience: String
    /// Seconds since 1970.
    let issuedAt: Double
    /// Seconds since 1970.
    let expiresAt: Double
    /// Header and claims as sent.
    let signed: [UInt8]
    let signature: [UInt8]

    /// Why an assertion is rejected. The texts are Google's `error_description`.
    struct Invalid: Error, Equatable { let description: String }

    /// Reads an assertion. Checks the algorithm first. Numbers may be integers or fractions.
    init(_ text: String) throws(Invalid) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.mostBytes, parts.count == 3,
            let header = Self.decode(parts[0]), let claims = Self.decode(parts[1]),
            let signature = Self.decode(parts[2])
        else { throw Invalid(description: "Bad Request") }
        let parser = JSONParser()
        // Values point into the memory of the parser.
        defer { withExtendedLifetime(parser) {} }
        guard let root = try? parser.parse(header), root["alg"]?.equals("RS256") == true else {
            throw Invalid(description: "Invalid JWT: Only RS256 is supported.")
        }
        keyID = root["kid"]?.string ?? ""
        guard let root = try? parser.parse(claims), let issuer = root["iss"]?.string else {
            throw Invalid(description: "Invalid JWT: Failed to read the claims.")
        }
        guard let issuedAt = root["iat"]?.double, let expiresAt = root["exp"]?.double else { throw Self.notShortLived }
        self.issuer = issuer
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        audience = root["aud"]?.string ?? ""
        signed = Array((parts[0] + "." + parts[1]).utf8)
        self.signature = signature
    }

    /// Checks the period and the audience. `audiences`: the token endpoints that the assertion may be for.
    func check(at now: Date, for audiences: Set<String>) throws(Invalid) {
        let now = now.timeIntervalSince1970
        guard expiresAt > now - Self.skew, issuedAt < now + Self.skew,
            expiresAt - issuedAt <= Self.longest + Self.skew, expiresAt >= issuedAt
        else { throw Self.notShortLived }
        guard audiences.contains(audience) else { throw Invalid(description: "Invalid JWT: Failed audience check.") }
    }

    private static let notShortLived = Invalid(
        description: "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
            + "Check your iat and exp values in the JWT claim.")
    /// For unknown accounts, unknown keys and wrong signatures alike.
    static let notSigned = Invalid(description: "Invalid JWT Signature.")

    /// Base64url without padding (RFC 7515, 2); nil for other text.
    private static func decode(_ text: Substring) -> [UInt8]? {
        guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") }) else { return nil }
        let unpadded = text.replacing("-", with: "+").replacing("_", with: "/").prefix { $0 != "=" }
        let padding = String(repeating: "=", count: (4 - unpadded.utf8.count % 4) % 4)
        return Data(base64Encoded: unpadded + padding).map { Array($0) }
    }
}
