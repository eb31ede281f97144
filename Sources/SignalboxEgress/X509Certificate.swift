internal import COpenSSL

/// A certificate (RFC 5280). Safe to use from any number of threads at once.
///
/// A class because it owns a C handle.
package final class X509Certificate: @unchecked Sendable {
    // Sendable: nothing changes the certificate.
    fileprivate let handle: OpaquePointer

    /// Nil for bytes that are not one certificate.
    package convenience init?(der: [UInt8]) {
        let handle = der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_X509(nil, &position, bytes.count)
        }
        guard let handle else { return nil }
        self.init(handle)
    }

    fileprivate init(_ handle: OpaquePointer) { self.handle = handle }

    deinit { X509_free(handle) }

    /// The certificates of a PEM text, in their order; empty for other texts.
    package static func all(pem: String) -> [X509Certificate] {
        readPEM(pem.utf8) { source in
            var found: [X509Certificate] = []
            while let handle = PEM_read_bio_X509(source, nil, noPassphrase, nil) {
                found.append(X509Certificate(handle))
            }
            return found
        } ?? []
    }

    /// Whether a name of the certificate is this host. The subject does not count (RFC 9525, 2).
    package func isFor(host: String) -> Bool {
        X509_check_host(handle, host, host.utf8.count, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT), nil) == 1
    }

    /// The end of its validity, `notAfter`, in seconds since 1970; nil if the certificate has no valid time there.
    package var notAfter: Int? {
        // NIOSSL's own property traps for a time that is not valid.
        var time = tm()
        guard ASN1_TIME_to_tm(X509_get0_notAfter(handle), &time) == 1 else { return nil }
        return timegm(&time)
    }

    /// The attribute `UID` of the subject (RFC 4519, 2.39); nil without one, and nil for several.
    package var subjectUID: String? {
        let name = X509_get_subject_name(handle)
        let index = X509_NAME_get_index_by_NID(name, NID_userId, -1)
        guard index >= 0, X509_NAME_get_index_by_NID(name, NID_userId, index) < 0,
            let data = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index))
        else { return nil }
        var text: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&text, data)
        guard count >= 0, let text else { return nil }
        defer { CRYPTO_free(text, #file, #line) }
        return String(decoding: UnsafeBufferPointer(start: text, count: Int(count)), as: UTF8.self)
    }
}

/// Authorities that issue client certificates. Safe to use from any number of threads at once.
///
/// A class because it owns a C handle.
package final class CertificateAuthority: @unchecked Sendable {
    // Sendable: OpenSSL locks the store.
    private let store: OpaquePointer

    /// Trusts each certificate of the text, including intermediate certificates. Nil if the text has none.
    package init?(pem: String) {
        let certificates = X509Certificate.all(pem: pem)
        guard !certificates.isEmpty, let store = X509_STORE_new() else { return nil }
        for certificate in certificates { X509_STORE_add_cert(store, certificate.handle) }
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        self.store = store
    }

    deinit { X509_STORE_free(store) }

    /// Whether one of the authorities issued the certificate for clients, directly or through intermediate authorities,
    /// and all of them are valid now. `intermediates`: as the client sent them, in any order; not trusted. Does not ask
    /// for revocations.
    package func hasIssued(_ certificate: X509Certificate, through intermediates: [X509Certificate] = []) -> Bool {
        guard let context = X509_STORE_CTX_new(), let untrusted = OPENSSL_sk_new_null() else { return false }
        defer {
            X509_STORE_CTX_free(context)
            // Frees the list, not its certificates.
            OPENSSL_sk_free(untrusted)
            ERR_clear_error()
        }
        for intermediate in intermediates { OPENSSL_sk_push(untrusted, UnsafeRawPointer(intermediate.handle)) }
        return X509_STORE_CTX_init(context, store, certificate.handle, untrusted) == 1
            && X509_STORE_CTX_set_purpose(context, X509_PURPOSE_SSL_CLIENT) == 1
            && X509_verify_cert(context) == 1
    }
}
