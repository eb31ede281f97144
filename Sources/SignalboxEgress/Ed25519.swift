internal import COpenSSL

/// A private Ed25519 key (RFC 8032), by OpenSSL's EVP. May be used from anywhere at the same time.
///
/// A class because it owns a C handle.
package final class Ed25519PrivateKey: @unchecked Sendable {
    // Sendable: OpenSSL's keys are not changed by signing with them.
    private let key: OpaquePointer

    /// From the 32 bytes of the seed; nil for any other number.
    package init?(seed: [UInt8]) {
        guard seed.count == 32, let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count) else {
            return nil
        }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// The 32 bytes of the public key.
    package var publicKey: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { bytes, count in
            count = 32
            precondition(
                EVP_PKEY_get_raw_public_key(key, bytes.baseAddress, &count) == 1, "OpenSSL has no public key here.")
        }
    }

    /// The 64 bytes of the signature of a message.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("No memory for a signature.") }
        defer { EVP_MD_CTX_free(context) }
        precondition(EVP_DigestSignInit(context, nil, nil, nil, key) == 1, "OpenSSL refused a key of its own.")
        return [UInt8](unsafeUninitializedCapacity: 64) { bytes, count in
            count = 64
            precondition(
                EVP_DigestSign(context, bytes.baseAddress, &count, message, message.count) == 1,
                "OpenSSL failed to sign.")
        }
    }
}

/// A public Ed25519 key. May be used from anywhere at the same time.
///
/// A class because it owns a C handle.
package final class Ed25519PublicKey: @unchecked Sendable {
    // Sendable: OpenSSL's keys are not changed by verifying with them.
    private let key: OpaquePointer

    /// From the key's 32 bytes; nil for any other number.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 32, let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count) else {
            return nil
        }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// True when the signature is this key's over this message.
    package func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("No memory for a signature.") }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
