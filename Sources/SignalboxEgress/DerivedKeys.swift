/// Keys for several uses that are derived from one secret. A key reveals neither the secret nor another key.
package struct DerivedKeys: Sendable {
    /// A use. The raw value is part of the derivation, so a change ends all that was signed before.
    package enum Use: String, Sendable {
        /// Access tokens that the gateway grants to service accounts.
        case accessTokens = "access tokens of service accounts"
        /// Tokens that confirm a bulk change.
        case confirmations = "confirmations of bulk changes"
    }

    private let secret: [UInt8]

    /// `secret`: 32 random bytes.
    package init(_ secret: [UInt8]) { self.secret = secret }

    /// 32 bytes. The digest of the secret and the use, not an HMAC: events show HMACs of device tokens under the same
    /// secret, and a sender chooses its device tokens.
    package func key(for use: Use) -> [UInt8] { sha256(secret + Array(use.rawValue.utf8)) }
}
