/// How requests to a server leave the process: what must hold of TLS, and through which proxy they go.
package struct TransportOptions: Sendable, Hashable {
    package var tls: TLS
    package var proxy: Proxy

    package init(tls: TLS = TLS(), proxy: Proxy = .none) {
        self.tls = tls
        self.proxy = proxy
    }

    package enum Proxy: Sendable, Hashable {
        case none
        /// As `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say.
        case environment
        /// The http or https URL of an HTTP proxy, whatever the environment says.
        case address(String)
    }

    /// The system's authorities are trusted, names are checked; this adds to it.
    package struct TLS: Sendable, Hashable {
        /// A PEM file of authorities to trust besides the system's.
        package var authorities: String?
        /// A PEM file of the certificate to show when asked, with its chain.
        package var certificate: String?
        /// A PEM file of the certificate's key; nil when the certificate's file holds it too.
        package var key: String?
        /// `sha256//` and the base64 of the digest of a public key: the server must have one of these. Empty: any.
        package var pins: [String]
        package var minimum: Version

        package init(
            authorities: String? = nil, certificate: String? = nil, key: String? = nil, pins: [String] = [],
            minimum: Version = .v1_2
        ) {
            self.authorities = authorities
            self.certificate = certificate
            self.key = key
            self.pins = pins
            self.minimum = minimum
        }
    }

    package enum Version: String, Sendable, Hashable, CaseIterable {
        case v1_2 = "1.2"
        case v1_3 = "1.3"
    }
}
