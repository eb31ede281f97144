import SignalboxEgress
import SignalboxJSON

/// Turns device tokens into names that mean nothing outside: HMAC-SHA256 under the gateway's own key.
package struct TokenHash: Sendable {
    private let authentication: MessageAuthentication

    /// `key`: 32 random bytes, kept in the data directory so that a token keeps its name.
    package init(key: [UInt8]) { authentication = MessageAuthentication(key: key) }

    /// `sha256:` and 64 hexadecimal digits.
    package func name(of token: [UInt8]) -> String { "sha256:" + hexadecimal(authentication.authenticate(token)) }
}
