import Foundation

/// A JSON Web Token in the compact serialization, split and decoded. Reading it proves nothing: verify the signature
/// with the key that the header names, after checking the header's `alg`.
/// Source: RFC 7519, RFC 7515
package struct JSONWebToken: Sendable, Equatable {
    /// Longer tokens are not read. Real tokens have 200 to 1,000 bytes.
    package static let largest = 8 * 1024

    /// The JSON of the header, with `alg` and `kid`; not parsed.
    package let header: [UInt8]
    /// The JSON of the claims; not parsed.
    package let claims: [UInt8]
    /// The signature of ``signedBytes``.
    package let signature: [UInt8]
    /// The part of the text that the signature covers.
    package let signedBytes: [UInt8]

    /// The encodings of the parts that a reader accepts.
    package enum Encoding: Sendable {
        /// base64url without padding (RFC 7515, 2).
        case base64URL
        /// Also the standard alphabet of Base64, and padding.
        case anyBase64
    }

    /// Nil unless the text is three parts in one of the encodings. A part may be empty.
    package init?(_ text: some Collection<UInt8>, in encoding: Encoding = .base64URL) {
        guard text.count <= Self.largest else { return nil }
        let text = Array(text)
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = encoding.decode(parts[0]), let claims = encoding.decode(parts[1]),
            let signature = encoding.decode(parts[2])
        else { return nil }
        (self.header, self.claims, self.signature) = (header, claims, signature)
        signedBytes = Array(text[..<parts[1].endIndex])
    }
}

extension JSONWebToken.Encoding {
    /// The bytes of a part; nil if it has another encoding. Ignores the unused bits of the last character.
    fileprivate func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard self == .anyBase64 || !text.contains(where: "+/=".utf8.contains) else { return nil }
        // Foundation also takes padding that follows a whole group, or replaces one.
        let count = text.lastIndex { $0 != UInt8(ascii: "=") }.map { $0 - text.startIndex + 1 } ?? 0
        guard count == text.count || (text.count % 4 == 0 && text.count - count <= 2) else { return nil }
        // Foundation reads the standard alphabet with padding only (RFC 4648, 4 and 5).
        let letters = text.prefix(count).map { letter in
            switch letter {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: letter
            }
        }
        let padding = repeatElement(UInt8(ascii: "="), count: (4 - count % 4) % 4)
        return Data(base64Encoded: Data(letters + padding)).map { Array($0) }
    }
}
