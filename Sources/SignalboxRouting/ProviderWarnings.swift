import SignalboxConfig
import SignalboxNotification

/// Warnings about proofs of senders that can never match.
extension RouteCompiler {
    /// Client certificates need TLS, and those that are named by their subject an authority.
    mutating func warnOfUselessCertificates(_ config: GatewayConfig) {
        let tls = config.gateway.listen.tls
        for (name, source) in config.sources.sorted(by: { $0.key.name < $1.key.name }) {
            let location = ConfigLocation(pointer: "/sources/\(name)/apns/certificates", isKey: true)
            guard let certificates = source.apns?.certificates, !certificates.isEmpty else { continue }
            if tls == nil {
                diagnostics.warning(
                    at: location, "no client can present a certificate without TLS; add \"gateway.listen.tls\"")
            } else if tls?.clientCA == nil, certificates.contains(where: { $0.uid != nil }) {
                diagnostics.warning(
                    at: location,
                    "\"uid\" needs the authority of the certificates; add \"clientCA\" to \"gateway.listen.tls\"")
            }
        }
    }
}
