internal import CCurl
internal import COpenSSL
import SignalboxNotification

extension TransportOptions {
    /// Sets these options on a fresh or reset handle. libcurl reuses an open connection only for requests with the
    /// same options, except for the key's file, which belongs to the certificate's.
    func apply(to handle: UnsafeMutableRawPointer) -> [CURLcode] {
        var codes = [
            sb_curl_set_long(handle, CURLOPT_SSLVERSION, Self.option(for: tls.minimum)),
            sb_curl_set_long(handle, CURLOPT_PROXY_SSLVERSION, Self.option(for: .v1_2)),
            sb_curl_set_tls_callback(handle, Self.onContext),
        ]
        // Replaces the system's bundle; the system's directory of the same authorities stays in use.
        if let authorities = tls.authorities {
            codes.append(sb_curl_set_string(handle, CURLOPT_CAINFO, authorities))
            codes.append(sb_curl_set_string(handle, CURLOPT_PROXY_CAINFO, authorities))
        }
        if let certificate = tls.certificate {
            codes.append(sb_curl_set_string(handle, CURLOPT_SSLCERT, certificate))
            codes.append(sb_curl_set_string(handle, CURLOPT_SSLKEY, tls.key ?? certificate))
            // A resumed session has the client certificate of its first handshake, although the file may have another.
            codes.append(sb_curl_set_long(handle, CURLOPT_SSL_SESSIONID_CACHE, 0))
        }
        if !tls.pins.isEmpty {
            codes.append(sb_curl_set_string(handle, CURLOPT_PINNEDPUBLICKEY, tls.pins.joined(separator: ";")))
        }
        // Headers of a proxy's response to CONNECT are not the server's.
        codes.append(sb_curl_set_long(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1))
        switch proxy {
        // libcurl's default.
        case .environment: break
        // The empty string turns the environment's proxies off, and an empty NOPROXY its exceptions.
        case .none: codes.append(sb_curl_set_string(handle, CURLOPT_PROXY, ""))
        case .address(let url):
            codes.append(sb_curl_set_string(handle, CURLOPT_PROXY, url))
            codes.append(sb_curl_set_string(handle, CURLOPT_NOPROXY, ""))
        }
        return codes
    }

    private static func option(for version: Version) -> Int {
        switch version {
        case .v1_2: CURL_SSLVERSION_TLSv1_2
        case .v1_3: CURL_SSLVERSION_TLSv1_3
        }
    }

    /// Called before each handshake with a server or a proxy.
    private static let onContext: curl_ssl_ctx_callback = { _, context, _ in
        sb_ssl_require_alternative_names(context)
        return CURLE_OK
    }
}
