internal import CCurl

extension TransportError {
    /// Why a transfer that libcurl ended with this code has no response. `wasBegun`: libcurl began to send, so the
    /// server may have the request, even if libcurl failed to connect afterwards.
    init(_ code: CURLcode, _ words: String, wasBegun: Bool) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            self = wasBegun ? .interrupted(words) : .unresolved(words)
        case CURLE_COULDNT_CONNECT: self = wasBegun ? .interrupted(words) : .refused(words)
        case CURLE_OPERATION_TIMEDOUT: self = wasBegun ? .timeoutReplying(words) : .timeoutConnecting(words)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            self = .certificate(words)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CLIENTCERT:
            self = .tls(words)
        // In TLS 1.3 a server rejects our certificate after the handshake, by an alert.
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            self = words.contains("SSL routines") && words.contains("alert") ? .tls(words) : .interrupted(words)
        case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT: self = .unusable(words)
        // libcurl also reports a response that is not HTTP this way.
        case CURLE_UNSUPPORTED_PROTOCOL: self = wasBegun ? .interrupted(words) : .unusable(words)
        default: self = .interrupted(words)
        }
    }
}
