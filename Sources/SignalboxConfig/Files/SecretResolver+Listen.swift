extension SecretResolver {
    /// The texts of a listener's certificate, key and authorities of clients, in PEM.
    package struct ListenerTLS: Sendable, Equatable {
        /// The server's certificate, followed by its chain.
        package let certificate: Secret
        /// The private key of the first certificate. Not checked against it here.
        package let key: Secret
        /// Nil when no authority identifies clients.
        package let clientCA: Secret?
    }

    /// Nil without `gateway.listen.tls`. Throws for a reference that cannot be read.
    package func listenerTLS(_ listen: GatewayConfig.Listen) throws(ConfigRefusal) -> ListenerTLS? {
        guard let tls = listen.tls else { return nil }
        let option = "/gateway/listen/tls"
        return ListenerTLS(
            certificate: try secret(tls.certificate, "\(option)/certificate", upTo: Self.largestFile),
            key: try secret(tls.key, "\(option)/key"),
            clientCA: try tls.clientCA.map { reference throws(ConfigRefusal) in
                try secret(reference, "\(option)/clientCA", upTo: Self.largestFile)
            })
    }
}
