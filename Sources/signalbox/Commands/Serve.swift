import ArgumentParser
import Foundation
import Logging
import SignalboxCommands
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
    /// with 0 after SIGTERM, and with 2 if the gateway could not start or events could not be shown.
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
        let addresses = try GatewayServer.Addresses(
            http: options.listenAddress(flag: listen, file: config.gateway.listen.http), config.gateway.listen)
        let preparation = ServePreparation(
            options.configPath, secrets: options.secretResolver, format: options.usedLogFormat, addresses: addresses)
        let (directory, gateway) = try options.open(loaded, acceptsLoss: acceptQueueLoss, logger: logger)
        defer { withExtendedLifetime(directory) {} }
        if acceptQueueLoss { try await gateway.queue.record(.command("queue.accept-loss"), count: nil) }
        let server = GatewayServer(
            try preparation.surface(gateway, gateway.plan), addresses: addresses, logger: logger,
            probe: { await gateway.fault() },
            onListening: { addresses in
                gateway.plan.config.reportWarnings(to: logger)
                preparation.announce(
                    addresses, config, version: Version.current, dataDirectory: directory.path, to: logger)
            })
        await gateway.reportStranded()
        let janitor = Janitor(gateway.queue, retention: { .init(gateway.plan.config) }, logger: logger)
        try await gateway.openDownloads()
        try await gateway.openInApp()
        let drift = DriftService(
            gateway.resources.observation, file: directory.path + "/vendor-keys.json", logger: logger)
        let reload = ConfigReload(gateway, logger: logger) { preparation.reload(gateway, server, logger) }
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
        if !isShown { throw ExitCode.unusable }
    }
}
