internal import COpenSSL

/// A public key for ES256: ECDSA on the curve P-256 with SHA-256 (RFC 7518, 3.4). Also verifies what some senders call
/// ES512: the same curve with SHA-512. Safe to use from any number of threads at once.
///
/// A class because it owns a C handle.
package final class ES256PublicKey: @unchecked Sendable {
    // Sendable: verifying does not change the key.
    private let key: OpaquePointer

    /// The `alg` of a signature.
    package enum Algorithm: String, Sendable {
        case es256 = "ES256"
        /// The numbers have the width of P-521, although the key is on P-256.
        case es512 = "ES512"

        /// Bytes of a signature that is not DER: the two numbers of ECDSA (RFC 7518, 3.4).
        package var length: Int { self == .es256 ? 64 : 132 }

        fileprivate var digest: String { self == .es256 ? "SHA2-256" : "SHA2-512" }
    }

    /// Nil unless the text is the PEM of a public key (`BEGIN PUBLIC KEY`) on the curve P-256.
    package init?(pem: [UInt8]) {
        guard let key = readPEM(pem, { PEM_read_bio_PUBKEY($0, nil, noPassphrase, nil) }) else { return nil }
        var name = [CChar](repeating: 0, count: 32)
        var length = 0
        let isNamed = EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1
        let group = name.prefix(length).map { UInt8(bitPattern: $0) }
        guard isNamed, group.elementsEqual("prime256v1".utf8) else {
            EVP_PKEY_free(key)
            ERR_clear_error()
            return nil
        }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// True when this key signed the message. False for a signature without the form of the algorithm.
    package func isValid(
        _ signature: [UInt8], for message: [UInt8], by algorithm: Algorithm = .es256
    ) -> Bool {
        guard Self.hasForm(signature, of: algorithm) else { return false }
        let der = signature.count == algorithm.length ? Self.der(signature) : signature
        return isSignature(der, of: message, by: key, digest: algorithm.digest)
    }

    /// Whether the bytes may be a signature: two numbers of the algorithm's length, as JSON Web Signatures have them
    /// (RFC 7518, 3.4), or their DER, as most libraries of cryptography make it (RFC 3279, 2.2.3).
    package static func hasForm(_ signature: [UInt8], of algorithm: Algorithm) -> Bool {
        signature.count == algorithm.length
            || (8...72).contains(signature.count) && signature[0] == 0x30 && Int(signature[1]) == signature.count - 2
    }

    /// The ASN.1 form that OpenSSL reads: `SEQUENCE { INTEGER r, INTEGER s }` (RFC 3279, 2.2.3).
    private static func der(_ signature: [UInt8]) -> [UInt8] {
        let middle = signature.count / 2
        let numbers = integer(signature[..<middle]) + integer(signature[middle...])
        return [0x30, UInt8(numbers.count)] + numbers
    }

    /// A positive number in DER: no leading zeros, except one before a set high bit.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }
}
