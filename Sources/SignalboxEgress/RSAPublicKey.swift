internal import COpenSSL

/// A public RSA key that verifies signatures of the algorithm RS256 (RFC 7518, 3.3). Safe to use from any number of
/// threads at once.
///
/// A class because it owns a C handle.
package final class RSAPublicKey: @unchecked Sendable {
    // Sendable: verifying does not change the key.
    private let key: OpaquePointer
    /// RFC 7518, 3.3.
    private static let fewestBits: Int32 = 2048

    /// Reads a public key (`PUBLIC KEY`) or the key of a certificate in PEM. Nil for other text, for keys of another
    /// kind, and for keys of fewer than 2048 bits. Does not check whether a certificate is valid.
    package init?(pem: String) {
        let read = readPEM(pem.utf8) { PEM_read_bio_PUBKEY($0, nil, noPassphrase, nil) }
        guard let key = read ?? Self.keyOfCertificate(pem) else { return nil }
        guard EVP_PKEY_is_a(key, "RSA") == 1, EVP_PKEY_get_bits(key) >= Self.fewestBits else {
            EVP_PKEY_free(key)
            return nil
        }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// True when this key signed the message with RSASSA-PKCS1-v1_5 and SHA-256.
    package func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        isSignature(signature, of: message, by: key, digest: "SHA256")
    }

    private static func keyOfCertificate(_ pem: String) -> OpaquePointer? {
        readPEM(pem.utf8) { source in
            guard let certificate = PEM_read_bio_X509(source, nil, noPassphrase, nil) else { return nil }
            defer { X509_free(certificate) }
            return X509_get_pubkey(certificate)
        }
    }
}
