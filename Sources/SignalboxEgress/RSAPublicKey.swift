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
        guard let key = Self.readKey(pem) ?? Self.readCertificate(pem) else { return nil }
        guard EVP_PKEY_is_a(key, "RSA") == 1, EVP_PKEY_get_bits(key) >= Self.fewestBits else {
            EVP_PKEY_free(key)
            return nil
        }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    /// True when this key signed the message with RSASSA-PKCS1-v1_5 and SHA-256.
    package func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("Out of memory for a signature.") }
        defer {
            EVP_MD_CTX_free(context)
            // A wrong signature leaves errors in the queue of the thread, which libcurl would report.
            ERR_clear_error()
        }
        return EVP_DigestVerifyInit_ex(context, nil, "SHA256", nil, nil, key, nil) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    private static func readKey(_ pem: String) -> OpaquePointer? {
        read(pem) { PEM_read_bio_PUBKEY($0, nil, noPassphrase, nil) }
    }

    private static func readCertificate(_ pem: String) -> OpaquePointer? {
        read(pem) { text in
            guard let certificate = PEM_read_bio_X509(text, nil, noPassphrase, nil) else { return nil }
            defer { X509_free(certificate) }
            return X509_get_pubkey(certificate)
        }
    }

    private static func read(_ pem: String, _ body: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        var pem = pem
        return pem.withUTF8 { bytes in
            guard let text = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer {
                BIO_free(text)
                ERR_clear_error()
            }
            return body(text)
        }
    }
}
