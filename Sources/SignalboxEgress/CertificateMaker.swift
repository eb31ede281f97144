internal import COpenSSL
import SignalboxNotification

/// A new certificate and its key, in PEM.
package struct NewCertificate: Sendable {
    package let certificate: String
    /// PKCS #8, without a passphrase.
    package let key: String

    /// Takes both as PEM texts.
    package init(certificate: String, key: String) { (self.certificate, self.key) = (certificate, key) }
}

/// Makes certificates for the provider endpoints: an authority of its own, and server certificates that it issues.
/// Keys are of the curve P-256. Not safe for concurrent use.
///
/// A class because it owns C handles.
package final class CertificateMaker {
    private let certificate: OpaquePointer
    private let key: OpaquePointer
    /// The authority; its key must stay secret.
    package let authority: NewCertificate

    /// Days that a server certificate is valid. Some clients reject a longer period.
    package static let days = 397
    private static let authorityDays = 3650

    /// Makes an authority of this name, which only this maker uses so far.
    package init(authority name: String) {
        key = Self.makeKey()
        certificate = Self.make(
            name, days: Self.authorityDays, key: key, issuer: nil,
            extensions: [
                (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                (NID_key_usage, "critical,keyCertSign,cRLSign"), (NID_subject_key_identifier, "hash"),
            ])
        authority = NewCertificate(certificate: Self.pem(certificate: certificate), key: Self.pem(key: key))
    }

    /// Uses an existing authority. Nil unless the texts are one certificate and its key, in PEM.
    package init?(authority: NewCertificate) {
        guard let certificate = readPEM(authority.certificate.utf8, { PEM_read_bio_X509($0, nil, noPassphrase, nil) })
        else {
            return nil
        }
        guard let key = readPEM(authority.key.utf8, { PEM_read_bio_PrivateKey($0, nil, noPassphrase, nil) }) else {
            X509_free(certificate)
            return nil
        }
        (self.certificate, self.key, self.authority) = (certificate, key, authority)
        guard X509_check_private_key(certificate, key) == 1 else { return nil }
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    /// A certificate for a server that has all these names. Traps without a name, and for a name that is neither a
    /// host name nor an IP address by ``isHost(_:)``.
    package func issue(for hosts: [(name: String, isAddress: Bool)]) -> NewCertificate {
        precondition(!hosts.isEmpty && hosts.allSatisfy { Self.isHost($0.name) }, "Not the names of a server.")
        let names = hosts.map { ($0.isAddress ? "IP:" : "DNS:") + $0.name }.joined(separator: ",")
        let key = Self.makeKey()
        let issued = Self.make(
            hosts[0].name, days: Self.days, key: key, issuer: (certificate, self.key),
            extensions: [
                (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth"), (NID_subject_alt_name, names),
                (NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid"),
            ])
        defer {
            X509_free(issued)
            EVP_PKEY_free(key)
        }
        return NewCertificate(certificate: Self.pem(certificate: issued), key: Self.pem(key: key))
    }

    /// True for IP addresses, and for host names of at most 253 bytes (RFC 1123, 2.1), whose first label may be `*`
    /// (RFC 9525, 6.3). A name that ends in a number is a misspelled address.
    package static func isHost(_ name: String) -> Bool {
        if IPAddress(name) != nil { return true }
        var labels = name.split(separator: ".", omittingEmptySubsequences: false)[...]
        if labels.count > 1, labels.first == "*" { labels.removeFirst() }
        guard name.utf8.count <= 253, let last = labels.last, labels.allSatisfy(isLabel) else { return false }
        return Int(last) == nil
    }

    /// 1 to 63 ASCII letters, digits and hyphens, with no hyphen at either end.
    private static func isLabel(_ label: Substring) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return (1...63).contains(label.utf8.count) && label.utf8.first != hyphen && label.utf8.last != hyphen
            && label.utf8.allSatisfy { $0.isLetterOrDigit || $0 == hyphen }
    }

    // MARK: OpenSSL

    private static func makeKey() -> OpaquePointer {
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else { preconditionFailure("OpenSSL failed to make a key.") }
        return key
    }

    /// `issuer`: nil for a certificate that issues itself.
    private static func make(
        _ name: String, days: Int, key: OpaquePointer, issuer: (certificate: OpaquePointer, key: OpaquePointer)?,
        extensions: [(Int32, String)]
    ) -> OpaquePointer {
        guard let certificate = X509_new() else { preconditionFailure("Out of memory for a certificate.") }
        // RFC 5280, 4.1.2.1: 2 is version 3.
        X509_set_version(certificate, 2)
        setSerial(certificate)
        // An hour earlier, for clients whose clock is slow.
        X509_gmtime_adj(X509_getm_notBefore(certificate), -3600)
        X509_time_adj_ex(X509_getm_notAfter(certificate), Int32(days), 0, nil)
        X509_set_pubkey(certificate, key)
        // RFC 5280 allows 64 characters of a common name; clients read the alternative names.
        let commonName = Array(name.utf8.prefix(64))
        X509_NAME_add_entry_by_txt(
            X509_get_subject_name(certificate), "CN", MBSTRING_FLAG, commonName, Int32(commonName.count), -1, 0)
        X509_set_issuer_name(certificate, X509_get_subject_name(issuer?.certificate ?? certificate))
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer?.certificate ?? certificate, certificate, nil, nil, 0)
        for (kind, value) in extensions {
            guard let added = X509V3_EXT_conf_nid(nil, &context, kind, value) else {
                preconditionFailure("OpenSSL rejected the extension \(value).")
            }
            X509_add_ext(certificate, added, -1)
            X509_EXTENSION_free(added)
        }
        precondition(X509_sign(certificate, issuer?.key ?? key, EVP_sha256()) > 0, "OpenSSL failed to sign.")
        return certificate
    }

    /// 127 random bits (RFC 5280, 4.1.2.2).
    private static func setSerial(_ certificate: OpaquePointer) {
        var bytes = randomBytes(16)
        bytes[0] &= 0x7F
        let number = BN_bin2bn(bytes, Int32(bytes.count), nil)
        defer { BN_free(number) }
        BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate))
    }

    private static func pem(certificate: OpaquePointer) -> String { text { PEM_write_bio_X509($0, certificate) } }

    private static func pem(key: OpaquePointer) -> String {
        text { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    private static func text(_ write: (OpaquePointer) -> Int32) -> String {
        guard let sink = BIO_new(BIO_s_mem()) else { preconditionFailure("Out of memory for PEM.") }
        defer { BIO_free(sink) }
        precondition(write(sink) == 1, "OpenSSL failed to write PEM.")
        // A certificate of many hosts is long.
        return String(
            unsafeUninitializedCapacity: BIO_ctrl_pending(sink)
        ) { Int(max(0, BIO_read(sink, $0.baseAddress, Int32($0.count)))) }
    }
}
