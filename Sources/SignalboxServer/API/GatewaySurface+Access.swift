package import SignalboxConfig
package import SignalboxGateway

/// The access that a config grants, and the addresses on which that is safe.
extension GatewaySurface {
    /// The surface of a plan. `path`: of the config, for errors. Throws for tokens that cannot be read or are shared,
    /// for an address that other machines reach without sources or without TLS, and for a proxy that could serve no
    /// sender. Makes no connection and writes no file.
    package init(
        _ gateway: Gateway, _ plan: GatewayPlan, on addresses: GatewayServer.Addresses, config path: String,
        by resolver: SecretResolver
    ) throws(ConfigRefusal) {
        let config = plan.config
        let sources = try resolver.sourceTokens(config)
        let operators = AdminAccess(
            tokens: try resolver.operatorTokens(config, sources: sources),
            isOpen: addresses.http.isLoopback && config.sources.isEmpty)
        let open = addresses.all.first { !$0.isLoopback }
        if let open, config.sources.isEmpty {
            throw ConfigRefusal(
                "\(open) is reachable from other machines, and \(path) has no sources, so any client "
                    + "could send payloads. Add sources with tokens, or listen on 127.0.0.1.")
        }
        let files = try resolver.listenerTLS(config.gateway.listen)
        let tls = try files.map { files throws(ConfigRefusal) in try ProviderTLS(files, resolver) }
        if let address = addresses.providers, !address.isLoopback, tls == nil {
            throw ConfigRefusal(
                "\(address) is reachable from other machines, and \(path) has no certificate for it. "
                    + "Add gateway.listen.tls (`signalbox certs new` makes a certificate), or listen on 127.0.0.1.")
        }
        if let address = addresses.proxy { try Self.check(tls, ofProxyOn: address) }
        let explaining = Set(config.sources.filter(\.value.explain).keys)
        let access =
            config.sources.isEmpty
            ? SourceAccess.open
            : SourceAccess(sources, explaining: explaining, rights: config.sources.compactMapValues(\.may))
        let senders = try ProviderSenders(config, by: resolver)
        self.init(gateway, plan, sources: access, operators: operators, senders: senders, tls: tls)
    }

    /// Throws for a proxy that could serve no sender. The address needs a restart to change, so it may outlive its
    /// options.
    private static func check(_ tls: ProviderTLS?, ofProxyOn address: ListenAddress) throws(ConfigRefusal) {
        guard let tls else {
            throw ConfigRefusal(
                "The proxy on \(address) needs gateway.listen.tls. `signalbox certs new` makes a certificate.")
        }
        guard tls.uncoveredHosts.count < ProviderHost.names.count else {
            throw ConfigRefusal(
                "The certificate of gateway.listen.tls is for no host of a push service, so the proxy on \(address) "
                    + "could serve no sender. Make a certificate for "
                    + ProviderHost.names.joined(separator: ", ") + " with `signalbox certs new`.")
        }
    }
}
