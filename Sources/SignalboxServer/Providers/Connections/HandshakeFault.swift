import NIOSSL

/// Why a TLS handshake failed, for the log. Not a label of metrics: words of the TLS library are among the values.
struct HandshakeFault: Equatable {
    /// The cause, in words.
    let reason: String
    /// Whether the client ended the connection without a reason, as a check of the port does.
    let isSilent: Bool

    /// Nil for an error that no handshake causes.
    init?(_ error: NIOSSLError) {
        switch error {
        case .handshakeFailed(.sslError(let stack)), .handshakeFailed(.unknownError(let stack)):
            self.init(causes: stack.map(\.description))
        case .handshakeFailed, .uncleanShutdown: self = .closed
        default: return nil
        }
    }

    /// `causes`: descriptions of the library's errors, such as
    /// `Error: 268435640 error:100000b8:SSL routines:OPENSSL_internal:NO_SHARED_CIPHER at …`.
    /// The first cause with a known word decides. Without one, the word of the library is the reason, in lower case.
    init(causes: [String]) {
        let words = causes.compactMap { Self.word(of: $0) }
        guard let first = words.first else {
            self = .closed
            return
        }
        let known = words.lazy.compactMap { Self.reasons[$0] }.first
        self.init(reason: known ?? first.lowercased().replacing("_", with: " "), isSilent: false)
    }

    private init(reason: String, isSilent: Bool) { (self.reason, self.isSilent) = (reason, isSilent) }

    private static let closed = HandshakeFault(
        reason: "the client closed the connection during the handshake", isSilent: true)

    /// The word of the library for an error; nil for an end of the connection, which has none.
    private static func word(of cause: String) -> String? {
        guard let end = cause.firstRange(of: "OPENSSL_internal:")?.upperBound else { return nil }
        let word = cause[end...].prefix { $0.isASCII && ($0.isUppercase || $0.isNumber || $0 == "_") }
        return word.isEmpty ? nil : String(word)
    }

    /// The errors that a wrong client or a wrong certificate causes. Alerts are the client's own (RFC 8446, 6).
    private static let reasons = [
        "NO_SHARED_CIPHER": "no cipher in common",
        "NO_SHARED_GROUP": "no key exchange group in common",
        "NO_COMMON_SIGNATURE_ALGORITHMS": "no signature algorithm in common",
        "WRONG_CURVE": "the client does not support the key of the certificate of gateway.listen.tls",
        // OpenSSL sends alerts of TLS 1.3 without encryption at this point, which the library does not read.
        "BAD_PACKET_LENGTH":
            "the client ended the handshake; most often it does not trust the CA of gateway.listen.tls",
        "UNSUPPORTED_PROTOCOL": oldVersion,
        "TLSV1_ALERT_PROTOCOL_VERSION": oldVersion,
        "WRONG_VERSION_NUMBER": "the client does not speak TLS",
        "HTTP_REQUEST": "the client speaks HTTP without TLS",
        "HTTPS_PROXY_REQUEST": "the client speaks to a proxy; see gateway.listen.proxy",
        "TLSV1_ALERT_UNKNOWN_CA": "the client does not trust the CA of gateway.listen.tls",
        "SSLV3_ALERT_CERTIFICATE_UNKNOWN": rejected,
        "SSLV3_ALERT_BAD_CERTIFICATE": rejected,
        "SSLV3_ALERT_CERTIFICATE_EXPIRED": "the certificate of gateway.listen.tls has expired for the client",
        "SSLV3_ALERT_HANDSHAKE_FAILURE": "the client accepts none of the ciphers or keys",
        "TLSV1_ALERT_UNRECOGNIZED_NAME": "the client requires another host name",
    ]

    private static let oldVersion = "no version of TLS in common; the gateway requires 1.2 or 1.3"
    private static let rejected = "the client rejects the certificate of gateway.listen.tls, or its host name"
}
