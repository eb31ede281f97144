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
        func decode(_ part: ArraySlice<UInt8>) -> [UInt8]? {
            base64URL(encoding == .anyBase64 ? asBase64URL(part) : part)
        }
        guard parts.count == 3, let header = decode(parts[0]), let claims = decode(parts[1]),
            let signature = decode(parts[2])
        else { return nil }
        (self.header, self.claims, self.signature) = (header, claims, signature)
        signedBytes = Array(text[..<parts[1].endIndex])
    }
}

/// Base64 in either alphabet as base64url without padding. Padding that is malformed stays.
private func asBase64URL(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let padding = text.count % 4 == 0 ? text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count : 0
    return ArraySlice(
        text.dropLast(padding).map { character in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: character
            }
        })
}

/// Decodes base64url without padding (RFC 4648, 5). Nil for other text. Ignores the unused bits of the last character.
private func base64URL(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard !text.contains(where: "+/=".utf8.contains) else { return nil }
    let letters = text.map { letter in
        switch letter {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: letter
        }
    }
    let padding = repeatElement(UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
    return Data(base64Encoded: Data(letters + padding)).map { Array($0) }
}
