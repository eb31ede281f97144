internal import COpenSSL

/// A public key for ES256: ECDSA on the curve P-256 with SHA-256 (RFC 7518, 3.4). Safe to use from any number of
/// threads at once.
///
/// A class because it owns a C handle.
package final class ES256PublicKey: @unchecked Sendable {
    // Sendable: verifying does not change the key.
    private let key: OpaquePointer

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

    /// True when this key signed the message. False for a signature that is not 64 bytes: the two numbers of ECDSA, 32
    /// bytes each, as JSON Web Signatures have them (RFC 7518, 3.4). A DER signature is not valid.
    package func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard signature.count == 64 else { return false }
        return isSignature(Self.der(signature), of: message, by: key, digest: "SHA2-256")
    }

    /// The ASN.1 form that OpenSSL reads: `SEQUENCE { INTEGER r, INTEGER s }` (RFC 3279, 2.2.3).
    private static func der(_ signature: [UInt8]) -> [UInt8] {
        let numbers = integer(signature[..<32]) + integer(signature[32...])
        return [0x30, UInt8(numbers.count)] + numbers
    }

    /// A positive number in DER: no leading zeros, except one before a set high bit.
    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var digits = Array(bytes.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }
}
