package import Logging
package import SignalboxConfig
package import SignalboxGateway
import SignalboxRouting
package import SignalboxServer

/// Makes the surface of `serve` from a config, at the start and at each reload. Without side effects.
package struct ServePreparation: Sendable {
    private let path: String
    private let secrets: SecretResolver
    private let format: LogFormat
    /// The addresses of the start. A reload cannot change them, so a new config must be safe on them.
    private let addresses: GatewayServer.Addresses
    /// The store in use until the process ends.
    private let store: GatewayConfig.Store
    private let isStoreOfConfig: Bool

    /// `path`: the config's. `secrets`: reads its references. `format`: of problems on standard error. `store`: the one
    /// in use. `isStoreOfConfig`: false if the command line or the environment name it.
    package init(
        _ path: String, secrets: SecretResolver, format: LogFormat, addresses: GatewayServer.Addresses,
        store: GatewayConfig.Store, isStoreOfConfig: Bool
    ) {
        (self.path, self.secrets, self.format, self.addresses) = (path, secrets, format, addresses)
        (self.store, self.isStoreOfConfig) = (store, isStoreOfConfig)
    }

    /// Throws for a config that the store in use does not permit: another store, because events of two stores would
    /// have two ledgers, or files that other gateways cannot serve.
    package func checkStore(of config: GatewayConfig) throws(ConfigRefusal) {
        guard !isStoreOfConfig || config.gateway.store ?? .init() == store else {
            throw ConfigRefusal(
                "\(path): /gateway/store: a running gateway does not change its store; restart it to use another one.")
        }
        if let problem = config.fileProblem(on: store) { throw ConfigRefusal("\(path): \(problem).") }
    }

    /// The HTTP surface of a plan. Throws for tokens that cannot be read or are shared, and for a public address
    /// without sources.
    package func surface(_ gateway: Gateway, _ plan: GatewayPlan) throws(ConfigRefusal) -> GatewaySurface {
        try surface(gateway, plan, by: secrets.locating(in: plan.files).reading(plan.config))
    }

    /// `resolver`: with the variables of the config's environment file.
    private func surface(
        _ gateway: Gateway, _ plan: GatewayPlan, by resolver: SecretResolver
    ) throws(ConfigRefusal) -> GatewaySurface {
        try GatewaySurface(gateway, plan, on: addresses, config: path, by: resolver)
    }

    /// Reads the config again; reports why it cannot be used. A rejected config leaves the active one unchanged.
    /// Problems are stored in the status, so `GET /v1/routes` shows them. Never throws: a config with any problem,
    /// secrets included, is rejected as a whole.
    package func reload(_ gateway: Gateway, _ server: GatewayServer, _ logger: Logger) -> ConfigReload.Preparation {
        var (namedFiles, files): ([String], [ConfigText]) = ([], [])
        do throws(ConfigRefusal) {
            let config = try RoutedConfig(path: path)
            (namedFiles, files) = (config.config.origin.files, config.files)
            try checkStore(of: config.config)
            let resolver = try secrets.locating(in: files).reading(config.config)
            // Connections read it themselves; a start would fail without it.
            _ = try resolver.password(of: store)
            let plan = gateway.plan(for: try ResolvedConfig(config, by: resolver))
            let surface = try surface(gateway, plan, by: resolver)
            return .ready(plan, serve: { server.replace(by: surface) })
        } catch {
            report(error, to: logger)
            return .rejected(
                problems: error.problems, namedFiles: namedFiles + error.namedFiles, files: files + error.files)
        }
    }

    /// Lines of the config belong on a terminal, not in a log. With ``LogFormat/json`` each problem is a message of the
    /// log. With text, a terminal receives the report of `routes check`, and a file one line for each problem.
    private func report(_ refusal: ConfigRefusal, to logger: Logger) {
        guard format == .text else {
            for problem in refusal.problems {
                logger.error("Configuration problem.", metadata: ["problem": "\(problem)"])
            }
            return
        }
        StandardError.write(
            StandardError.isTerminal
                ? refusal.report(hasColor: StandardError.hasColor) : refusal.problems.joined(separator: "\n") + "\n")
    }

    /// Announces that the gateway listens: lines for people, or one object for programs, at the level of the default
    /// log. Called once; the addresses have the assigned ports.
    package func announce(
        _ addresses: GatewayServer.Addresses, _ config: GatewayConfig, version: String, dataDirectory: String,
        to logger: Logger
    ) {
        guard format == .json else {
            let queue = store.url == nil ? dataDirectory : store.words
            return StandardError.write(addresses.greeting(config, version: version, dataDirectory: queue))
        }
        var metadata: Logger.Metadata = ["version": "\(version)", "http": "http://\(addresses.http)"]
        if let providers = addresses.providers { metadata["apns"] = "\(providers)" }
        if let proxy = addresses.proxy { metadata["proxy"] = "\(proxy)" }
        logger.notice("Gateway listening.", metadata: metadata)
    }
}

extension GatewayServer.Addresses {
    /// `http`: the address that the settings name; the others are those of the config. Throws for a text that is not
    /// an address.
    package init(http: String, _ listen: GatewayConfig.Listen) throws(CommandFailure) {
        func address(_ text: String) throws(CommandFailure) -> ListenAddress {
            if let address = ListenAddress(text) { return address }
            throw .refused("Invalid listen address \(text): write it as 127.0.0.1:8080 or [::1]:8080.")
        }
        self.init(
            http: try address(http),
            providers: try listen.apns.map { (text) throws(CommandFailure) in try address(text) },
            proxy: try listen.proxy.map { (text) throws(CommandFailure) in try address(text) })
    }
}
