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
        if acceptQueueLoss { try await gateway.queue.record(.command("queue.accept-loss"), count: nil) }
        let server = GatewayServer(
            try surface(gateway, gateway.plan, addresses, by: options.secretResolver(for: config)),
            addresses: addresses, logger: logger,
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
        let drift = DriftService(
            gateway.resources.observation, file: directory.path + "/vendor-keys.json", logger: logger)
        let reload = ConfigReload(gateway, logger: logger) { prepare(gateway, server, addresses, logger) }
        let watch = ConfigWatch(
            loaded: stamps, origin: { gateway.plan.newestOrigin }, reload: { await reload.run() })
        // First, so that it stops last and sends the spans of the last attempts.
        let exporter = TelemetryExporter(
            gateway.resources.telemetry, logger: logger, collector: { gateway.plan.collector },
            readings: { await server.metricReadings() })
        let interrupted = try await runServices(
            [
                exporter, gateway.dispatcher, gateway.downloads, janitor, gateway.fileJanitor, gateway.inAppTimer,
                drift, watch, server,
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
        var (namedFiles, files): ([String], [ConfigText]) = ([], [])
        do throws(ConfigRefusal) {
            let config = try RoutedConfig(path: options.configPath)
            (namedFiles, files) = (config.config.origin.files, config.files)
            let resolver = try options.secretResolver(for: config.config)
            let plan = gateway.plan(for: try ResolvedConfig(config, by: resolver))
            let surface = try surface(gateway, plan, addresses, by: resolver)
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
            return .rejected(
                problems: error.problems, namedFiles: namedFiles + error.namedFiles, files: files + error.files)
        }
    }

    /// The HTTP surface of a plan. Throws for tokens that cannot be read or are shared, and for a public address
    /// without sources.
    private func surface(
        _ gateway: Gateway, _ plan: GatewayPlan, _ addresses: GatewayServer.Addresses, by resolver: SecretResolver
    ) throws(ConfigRefusal) -> GatewaySurface {
        try GatewaySurface(gateway, plan, on: addresses, config: options.configPath, by: resolver)
    }

    /// The greeting for programs, at the level of the default log. Called once, when the server listens.
    private static func report(_ addresses: GatewayServer.Addresses, to logger: Logger) {
        var metadata: Logger.Metadata = ["version": "\(Version.current)", "http": "http://\(addresses.http)"]
        if let providers = addresses.providers { metadata["apns"] = "\(providers)" }
        if let proxy = addresses.proxy { metadata["proxy"] = "\(proxy)" }
        logger.notice("Gateway listening.", metadata: metadata)
    }

    /// Called once, when the server listens: the address has the assigned port.
    private static func greet(_ addresses: GatewayServer.Addresses, _ config: GatewayConfig, dataDirectory: String) {
        StandardError.write(addresses.greeting(config, version: Version.current, dataDirectory: dataDirectory))
    }
}
