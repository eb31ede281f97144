internal import COpenSSL

/// A private Ed25519 key (RFC 8032). Safe to use from any number of threads at once.
///
/// A class because it owns a C handle.
package final class Ed25519PrivateKey: @unchecked Sendable {
    // Sendable: signing does not change the key.
    private let key: OpaquePointer

    /// Nil unless the seed has 32 bytes. The seed is the private key of RFC 8032, 5.1.5; OpenSSL derives the public
    /// key from it.
    package init?(seed: [UInt8]) {
        guard seed.count == 32, let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, 32) else {
            return nil
        }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// The 32 bytes of the public key. Computed by OpenSSL at each access.
    package var publicKey: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { bytes, count in
            count = 32
            precondition(EVP_PKEY_get_raw_public_key(key, bytes.baseAddress, &count) == 1, "OpenSSL failed.")
        }
    }

    /// The 64 bytes of a message's signature. Equal messages have equal signatures (RFC 8032, 5.1.6). Stops the
    /// process if OpenSSL fails.
    package func sign(_ message: [UInt8]) -> [UInt8] {
        withDigestContext { context in
            precondition(EVP_DigestSignInit(context, nil, nil, nil, key) == 1, "OpenSSL rejected its own key.")
            return [UInt8](unsafeUninitializedCapacity: 64) { bytes, count in
                count = 64
                precondition(
                    EVP_DigestSign(context, bytes.baseAddress, &count, message, message.count) == 1,
                    "OpenSSL failed to sign.")
            }
        }
    }
}

/// A public Ed25519 key (RFC 8032). Safe to use from any number of threads at once.
///
/// A class because it owns a C handle.
package final class Ed25519PublicKey: @unchecked Sendable {
    // Sendable: verifying does not change the key.
    private let key: OpaquePointer

    /// Nil unless there are 32 bytes. Does not check that the bytes are a point of the curve; ``isValid(_:for:)`` is
    /// false for other bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == 32, let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, 32) else {
            return nil
        }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// True when this key signed the message. False for a signature of any length but 64 bytes. The message itself is
    /// not prehashed.
    package func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        isSignature(signature, of: message, by: key, digest: nil)
    }
}
