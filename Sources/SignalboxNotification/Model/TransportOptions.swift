/// The TLS requirements and the proxy of requests to a server.
package struct TransportOptions: Sendable, Hashable {
    /// The TLS requirements of https requests.
    package var tls: TLS
    /// The proxy of all requests.
    package var proxy: Proxy

    /// Without arguments: the system's authorities, TLS 1.2 or later, and no proxy.
    package init(tls: TLS = TLS(), proxy: Proxy = .none) { (self.tls, self.proxy) = (tls, proxy) }

    /// The way to the server.
    package enum Proxy: Sendable, Hashable {
        /// Direct connections, regardless of the environment.
        case none
        /// The proxy that `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` specify.
        case environment
        /// The http or https URL of an HTTP proxy, regardless of the environment.
        case address(String)
    }

    /// Additions to the defaults: the client trusts the system's authorities and checks host names.
    package struct TLS: Sendable, Hashable {
        /// A PEM file of further trusted authorities.
        package var authorities: String?
        /// A PEM file of the client certificate with its chain.
        package var certificate: String?
        /// A PEM file of the certificate's key; nil if the certificate's file contains it.
        package var key: String?
        /// `sha256//` and the base64 of the digest of a public key. The server must have one of these keys; empty for
        /// any key.
        package var pins: [String]
        /// Older versions are refused.
        package var minimum: Version

        /// Without arguments: no additions. Does not read the files.
        package init(
            authorities: String? = nil, certificate: String? = nil, key: String? = nil, pins: [String] = [],
            minimum: Version = .v1_2
        ) {
            (self.authorities, self.certificate, self.key) = (authorities, certificate, key)
            (self.pins, self.minimum) = (pins, minimum)
        }
    }

    /// Raw values are those of the config.
    package enum Version: String, Sendable, Hashable, CaseIterable {
        case v1_2 = "1.2"
        case v1_3 = "1.3"
    }
}
