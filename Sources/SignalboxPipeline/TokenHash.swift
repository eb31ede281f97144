import SignalboxEgress
import SignalboxJSON

/// Turns device tokens into names that mean nothing outside: HMAC-SHA256 under the gateway's own key.
package struct TokenHash: Sendable {
    private let authentication: MessageAuthentication

    /// `key`: 32 random bytes, kept in the data directory so that a token keeps its name.
    package init(key: [UInt8]) { authentication = MessageAuthentication(key: key) }

    /// `sha256:` and 64 hexadecimal digits.
    package func name(of token: [UInt8]) -> String {
        let digits: StaticString = "0123456789abcdef"
        let code = authentication.authenticate(token)
        return "sha256:"
            + String(unsafeUninitializedCapacity: 64) { text in
                for (position, byte) in code.enumerated() {
                    text[position * 2] = digits.utf8Start[Int(byte >> 4)]
                    text[position * 2 + 1] = digits.utf8Start[Int(byte & 0xF)]
                }
                return 64
            }
    }
}
