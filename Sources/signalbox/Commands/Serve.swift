import ArgumentParser
import Foundation
import Logging
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxServer
import SignalboxStore

/// Opens the directory before the server listens, so two gateways never share a queue. Config changes and SIGHUP reload
/// the config without a restart. The log and the greeting are on standard error. Standard output has the events of the
/// inbox only.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Accept payloads over HTTP, store them durably, and deliver their events.",
        discussion: "Stops on SIGTERM and ^C after requests and attempts in flight have ended.")

    @OptionGroup var options: GatewayOptions

    /// Takes precedence over the environment and the config. Port 0 lets the system choose one.
    @Option(help: "Address to listen on (SIGNALBOX_LISTEN; default: 127.0.0.1:8080).")
    var listen: String?

    /// Needed once, after a queue was restored from a backup or removed on purpose.
    @Flag(help: "Start although the queue of the data directory is missing or has lost accepted events.")
    var acceptQueueLoss = false

    /// Starts the dispatcher first and the server last, so deliveries flow before requests do. Exits with 130 after ^C,
    /// with 0 after SIGTERM, and with 2 if the gateway could not start.
    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        // A write beyond the limit on file sizes must fail like any other write.
        signal(SIGXFSZ, SIG_IGN)
        OpenFiles.raiseLimit()
        // Until the config is watched. Without a terminal, SIGHUP does not mean that a terminal was closed.
        if isatty(STDIN_FILENO) == 0 { signal(SIGHUP, SIG_IGN) }
        let logger = options.makeLogger()
        let loaded = try options.loadConfig()
        let config = loaded.config
        let stamps = FileStamps(of: config.origin)
        let addresses = try addresses(config.gateway.listen)
        let (directory, gateway) = try options.open(loaded, acceptsLoss: acceptQueueLoss, logger: logger)
        defer { withExtendedLifetime(directory) {} }
        let server = GatewayServer(
            try surface(gateway, gateway.plan, addresses), addresses: addresses, logger: logger,
            probe: { await gateway.fault() },
            onListening: { addresses in
                config.reportWarnings(to: logger)
                if options.usedLogFormat == .json {
                    Self.report(addresses, to: logger)
                } else {
                    Self.greet(addresses, config, dataDirectory: directory.path)
                }
            })
        await gateway.reportStranded()
        let janitor = Janitor(gateway.queue, retention: { .init(gateway.plan.config) }, logger: logger)
        try await gateway.openDownloads()
        try await gateway.openInApp()
        let reload = ConfigReload(gateway, logger: logger) { prepare(gateway, server, addresses, logger) }
        let watch = ConfigWatch(
            loaded: stamps, origin: { Self.newestOrigin(of: gateway.plan) }, reload: { await reload.run() })
        // First, so that it stops last and sends the spans of the last attempts.
        let exporter = TelemetryExporter(
            gateway.resources.telemetry, logger: logger, collector: { gateway.plan.collector },
            readings: { await server.metricReadings() })
        let interrupted = try await runServices(
            [
                exporter, gateway.dispatcher, gateway.downloads, janitor, gateway.fileJanitor, gateway.inAppTimer,
                watch, server,
            ], logger: logger)
        gateway.stopSending()
        await gateway.checkpoint()
        let isShown = Terminal.finish()
        if interrupted { throw ExitCode.interrupted }
        if !isShown { throw ExitCode.incomplete }
    }

    /// The addresses of the command line, the environment and the config. Throws for a text that is not an address.
    private func addresses(_ listen: GatewayConfig.Listen) throws -> GatewayServer.Addresses {
        func address(_ text: String) throws -> ListenAddress {
            if let address = ListenAddress(text) { return address }
            throw refuse("Invalid listen address \(text): write it as 127.0.0.1:8080 or [::1]:8080.")
        }
        return GatewayServer.Addresses(
            http: try address(options.listenAddress(flag: self.listen, file: listen.http)),
            providers: try listen.apns.map { try address($0) }, proxy: try listen.proxy.map { try address($0) })
    }

    /// Reads the config again, without side effects; writes on standard error why it cannot be used. Called by the
    /// config watch. A rejected config leaves the active one unchanged. Problems are stored in the status, so `GET
    /// /v1/routes` shows them.
    private func prepare(
        _ gateway: Gateway, _ server: GatewayServer, _ addresses: GatewayServer.Addresses, _ logger: Logger
    ) -> ConfigReload.Preparation {
        var namedFiles: [String] = []
        do throws(ConfigRefusal) {
            let config = try RoutedConfig(path: options.configPath)
            namedFiles = config.config.origin.files
            let plan = gateway.plan(for: try ResolvedConfig(config, by: options.secretResolver))
            let surface = try surface(gateway, plan, addresses)
            return .ready(plan, serve: { server.replace(by: surface) })
        } catch {
            if options.usedLogFormat == .json {
                for problem in error.problems {
                    logger.error("Configuration problem.", metadata: ["problem": "\(problem)"])
                }
            } else {
                // Lines of the config belong on a terminal, not in a log.
                StandardError.write(
                    StandardError.isTerminal
                        ? error.report(hasColor: StandardError.hasColor)
                        : error.problems.joined(separator: "\n") + "\n")
            }
            return .rejected(problems: error.problems, namedFiles: namedFiles + error.namedFiles)
        }
    }

    /// The files of the active config, and of a newer one that was rejected.
    private static func newestOrigin(of plan: GatewayPlan) -> GatewayConfig.Origin {
        var origin = plan.config.origin
        for name in plan.status.rejection?.namedFiles ?? [] where !origin.files.contains(name) {
            origin.files.append(name)
        }
        return origin
    }

    /// The HTTP surface of a plan. Throws for tokens that cannot be read or are shared, and for a public address
    /// without sources. Makes no connection and writes no file.
    private func surface(
        _ gateway: Gateway, _ plan: GatewayPlan, _ addresses: GatewayServer.Addresses
    ) throws(ConfigRefusal) -> GatewaySurface {
        let config = plan.config
        let sources = try options.secretResolver.sourceTokens(config)
        let operators = AdminAccess(
            tokens: try options.secretResolver.operatorTokens(config, sources: sources),
            isOpen: addresses.http.isLoopback && config.sources.isEmpty)
        let open = addresses.all.first { !$0.isLoopback }
        if let open, config.sources.isEmpty {
            throw ConfigRefusal(
                "\(open) is reachable from other machines, and \(options.configPath) has no sources, so any client "
                    + "could send payloads. Add sources with tokens, or listen on 127.0.0.1.")
        }
        let resolver = options.secretResolver
        let files = try resolver.listenerTLS(config.gateway.listen)
        let tls = try files.map { files throws(ConfigRefusal) in try ProviderTLS(files, resolver) }
        if let address = addresses.providers, !address.isLoopback, tls == nil {
            throw ConfigRefusal(
                "\(address) is reachable from other machines, and \(options.configPath) has no certificate for it. "
                    + "Add gateway.listen.tls (`signalbox certs new` makes a certificate), or listen on 127.0.0.1.")
        }
        if let address = addresses.proxy { try check(tls, ofProxyOn: address) }
        let explaining = Set(config.sources.filter(\.value.explain).keys)
        let access = config.sources.isEmpty ? SourceAccess.open : SourceAccess(sources, explaining: explaining)
        let senders = try ProviderSenders(config, by: resolver)
        return GatewaySurface(gateway, plan, sources: access, operators: operators, senders: senders, tls: tls)
    }

    /// Throws for a proxy that could serve no sender. The address needs a restart to change, so it may outlive its
    /// options.
    private func check(_ tls: ProviderTLS?, ofProxyOn address: ListenAddress) throws(ConfigRefusal) {
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

    /// The greeting for programs, at the level of the default log. Called once, when the server listens.
    private static func report(_ addresses: GatewayServer.Addresses, to logger: Logger) {
        var metadata: Logger.Metadata = ["version": "\(Version.current)", "http": "http://\(addresses.http)"]
        if let providers = addresses.providers { metadata["apns"] = "\(providers)" }
        if let proxy = addresses.proxy { metadata["proxy"] = "\(proxy)" }
        logger.notice("Gateway listening.", metadata: metadata)
    }

    /// Called once, when the server listens: the address has the assigned port. Names an example of the repository if
    /// the working directory has it.
    private static func greet(_ addresses: GatewayServer.Addresses, _ config: GatewayConfig, dataDirectory: String) {
        let example = "Examples/payloads/synerise-simple-push.json"
        let body = FileManager.default.fileExists(atPath: example) ? "@\(example)" : "'{\"aps\":{\"alert\":\"Hello\"}}'"
        let token = config.sources.isEmpty ? "" : " -H \"authorization: Bearer $TOKEN\""
        let address = addresses.http
        let scheme = config.gateway.listen.tls == nil ? "http" : "https"
        let providers =
            (addresses.providers.map { "\nprovider endpoints on \(scheme)://\($0)" } ?? "")
            + (addresses.proxy.map { "\nproxy for push services on http://\($0)" } ?? "")
        StandardError.write(
            """
            signalbox \(Version.current) listening on http://\(address)\(providers)
            destinations: \(config.destinations.map(\.name.name).joined(separator: ", ")); queue: \(dataDirectory)
            Try:  curl -H 'content-type: application/json'\(token) --data \(body) http://\(address)/v1/notifications

            """)
    }
}
