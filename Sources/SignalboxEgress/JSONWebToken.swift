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
    guard text.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count * 3 / 4)
    var bits: UInt32 = 0
    var count = 0
    for character in text {
        guard let value = base64URLValue(character) else { return nil }
        bits = bits << 6 | value
        count += 6
        if count >= 8 {
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
    }
    return bytes
}

/// The six bits of one character; nil for a character outside of the alphabet.
private func base64URLValue(_ character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
}
