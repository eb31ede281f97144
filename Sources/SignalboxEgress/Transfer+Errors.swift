internal import CCurl
import Foundation

/// What libcurl's codes mean.
extension Transfer {
    /// Why a transfer that libcurl ended with this code brought no reply; to be asked before the handle is reset.
    func error(_ code: CURLcode, of handle: UnsafeMutableRawPointer) -> TransportError {
        let detail = String(decoding: errorText.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let words = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
        if let denial, !wasAllowed { return .denied(denial) }
        if let exhaustion { return .exhausted(exhaustion) }
        if let proxy = proxyStatus(handle) { return .refused("the proxy answered \(proxy)") }
        if headersAreTooMany { return .interrupted("the reply has too many headers") }
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: return .unresolved(words)
        case CURLE_COULDNT_CONNECT: return .refused(words)
        case CURLE_OPERATION_TIMEDOUT:
            return wasBegun(handle) ? .timeoutReplying(words) : .timeoutConnecting(words)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return .certificate(words)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CLIENTCERT:
            return .tls(words)
        // With TLS 1.3 a server says only after the handshake what it thinks of our certificate: by an alert.
        case CURLE_RECV_ERROR where Self.isAlert(words), CURLE_SEND_ERROR where Self.isAlert(words):
            return .tls(words)
        case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT: return .unusable(words)
        // Also what libcurl says of a reply that is no HTTP.
        case CURLE_UNSUPPORTED_PROTOCOL: return wasBegun(handle) ? .interrupted(words) : .unusable(words)
        default: return .interrupted(words)
        }
    }

    /// The status with which a proxy declined to connect on.
    private func proxyStatus(_ handle: UnsafeMutableRawPointer) -> Int? {
        var status = 0
        sb_curl_get_long(handle, CURLINFO_HTTP_CONNECTCODE, &status)
        return status == 0 || (200..<300).contains(status) ? nil : status
    }

    private static func isAlert(_ words: String) -> Bool {
        words.contains("SSL routines") && words.contains("alert")
    }

    /// Whether the request was begun to be sent, so that the server may have it.
    private func wasBegun(_ handle: UnsafeMutableRawPointer) -> Bool {
        var microseconds: curl_off_t = 0
        sb_curl_get_offset(handle, CURLINFO_PRETRANSFER_TIME_T, &microseconds)
        return microseconds > 0
    }
}
