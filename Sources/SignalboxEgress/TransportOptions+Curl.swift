internal import CCurl
internal import COpenSSL
import SignalboxNotification

extension TransportOptions {
    /// Sets a fresh or reset handle up to go this way. libcurl takes an open connection again only for requests with the
    /// same settings, but for the key's file, which goes with the certificate's.
    func apply(to handle: UnsafeMutableRawPointer) -> [CURLcode] { tls.apply(to: handle) + proxy.apply(to: handle) }
}

extension TransportOptions.TLS {
    fileprivate func apply(to handle: UnsafeMutableRawPointer) -> [CURLcode] {
        var codes = [
            sb_curl_set_long(handle, CURLOPT_SSLVERSION, minimum.option),
            sb_curl_set_long(handle, CURLOPT_PROXY_SSLVERSION, TransportOptions.Version.v1_2.option),
            sb_curl_set_tls_callback(handle, Self.onContext),
        ]
        // This takes the place of the system's bundle; the system's directory of the same authorities stays in use.
        if let authorities {
            codes.append(sb_curl_set_string(handle, CURLOPT_CAINFO, authorities))
            codes.append(sb_curl_set_string(handle, CURLOPT_PROXY_CAINFO, authorities))
        }
        if let certificate {
            codes.append(sb_curl_set_string(handle, CURLOPT_SSLCERT, certificate))
            codes.append(sb_curl_set_string(handle, CURLOPT_SSLKEY, key ?? certificate))
        }
        if !pins.isEmpty {
            codes.append(sb_curl_set_string(handle, CURLOPT_PINNEDPUBLICKEY, pins.joined(separator: ";")))
        }
        return codes
    }

    /// For connections to servers and to proxies, before the handshake.
    private static let onContext: curl_ssl_ctx_callback = { _, context, _ in
        sb_ssl_require_alternative_names(context)
        return CURLE_OK
    }
}

extension TransportOptions.Version {
    fileprivate var option: Int {
        switch self {
        case .v1_2: CURL_SSLVERSION_TLSv1_2
        case .v1_3: CURL_SSLVERSION_TLSv1_3
        }
    }
}

extension TransportOptions.Proxy {
    fileprivate func apply(to handle: UnsafeMutableRawPointer) -> [CURLcode] {
        switch self {
        // What libcurl does by itself.
        case .environment: []
        // The empty string, unlike nothing, also keeps libcurl from the environment's proxies.
        case .none: [sb_curl_set_string(handle, CURLOPT_PROXY, "")]
        // And this one from the environment's exceptions.
        case .address(let url):
            [
                sb_curl_set_string(handle, CURLOPT_PROXY, url), sb_curl_set_string(handle, CURLOPT_NOPROXY, ""),
                // The proxy's reply to CONNECT is not the server's.
                sb_curl_set_long(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
            ]
        }
    }
}
