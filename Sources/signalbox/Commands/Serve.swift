import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle
import SignalboxCommands
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification
import SignalboxPostgres
import SignalboxRouting
import SignalboxServer
import SignalboxStore

/// Opens the directory before the server listens, so two gateways never share a queue. Config changes and SIGHUP reload
/// the config without a restart. The log and the greeting are on standard error. Standard output has the events of the
/// inbox only.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Accept payloads over HTTP, store them durably, and deliver their events.",
        discussion: "Stops on SIGTERM and ^C after requests and attempts in flight have ended.")

    @OptionGroup var options: GatewayOptions

    /// Takes precedence over the environment and the config. Port 0 lets the system choose one.
    @Option(help: "Address to listen on (SIGNALBOX_LISTEN; default: 127.0.0.1:8080).")
    var listen: String?

    /// Needed once, after a queue has been restored from a backup or removed on purpose.
    @Flag(help: "Start although the queue of the data directory is missing or has lost accepted events.")
    var acceptQueueLoss = false

    /// Starts the steps that do not depend on the arguments, which are parsed meanwhile. Called once per process,
    /// before other threads start. Throws if the limits of the system are too low.
    static func prepare() throws(CommandFailure) {
        OpenFiles.raiseLimit()
        if let fault = StartLimits.fault() { throw .refused(fault) }
        // Before other threads allocate.
        ProcessMemory.limitArenas()
        // Unstructured, because nothing waits for them: the config waits for the declarations themselves.
        Task.detached { ConfigReading.prepare() }
        Task.detached { _ = Vendors.all }
    }

    /// Starts the dispatcher first and the server last, so deliveries flow before requests do. Exits with 130 after ^C,
    /// with 0 after SIGTERM, with 75 if the queue could not be opened for now, and with 2 if the gateway could not
    /// start or events could not be shown.
    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        // A write beyond the limit on file sizes must fail like any other write.
        signal(SIGXFSZ, SIG_IGN)
        // Ignored until the config is watched. Without a terminal, SIGHUP requests a reload; it does not mean that a
        // terminal was closed.
        if isatty(STDIN_FILENO) == 0 { signal(SIGHUP, SIG_IGN) }
        let logger = options.log.makeLogger()
        let loaded = try options.loadConfig()
        let config = loaded.config
        let stamps = FileStamps(of: config.origin)
        let addresses = try GatewayServer.Addresses(
            http: options.listenAddress(flag: listen, file: config.gateway.listen.http), config.gateway.listen)
        let preparation = ServePreparation(
            options.configPath, secrets: options.secretResolver, format: options.log.usedLogFormat,
            addresses: addresses,
            store: options.usedStore(file: config.gateway.store), isStoreOfConfig: !options.namesStore)
        try preparation.checkStore(of: config)
        let opening = try GatewayOpening(options, loaded, logger: logger)
        defer { withExtendedLifetime(opening.directory) {} }
        if acceptQueueLoss, let database = opening.database {
            throw ValidationError(
                "Leave out --accept-queue-loss: the queue is in the database \(database.place), not in the data directory."
            )
        }
        let slot = try await start(opening, logger)
        opening.reportReach()
        if acceptQueueLoss { try await slot.gateway.queue.record(.command("queue.accept-loss"), count: nil) }
        let server = GatewayServer(
            try preparation.surface(slot.gateway, slot.gateway.plan), addresses: addresses, logger: logger,
            probe: { await slot.gateway.fault() },
            onListening: { addresses in
                slot.gateway.plan.config.reportWarnings(to: logger)
                preparation.announce(
                    addresses, config, version: Version.current, dataDirectory: opening.directory.path, to: logger)
                ProcessMemory.unmapExecutable()
            })
        let services = services(slot, opening, preparation, server, stamps, logger)
        let interrupted = try await runServices(services, logger: logger)
        slot.gateway.stopSending()
        if slot.isOpen { await slot.gateway.checkpoint() }
        let isShown = Terminal.finish()
        if interrupted { throw ExitCode.interrupted }
        if !isShown { throw ExitCode.unusable }
    }

    /// Opens the store and prepares the gateway. A database that cannot be reached, is full or does not answer in time
    /// does not end the start: the gateway listens, answers 503, and opens the store later. Throws
    /// ``ExitCode/temporary`` for a file that cannot be opened for now, because its disk is full or another process
    /// locks it, so that a supervisor starts the gateway again.
    private func start(_ opening: GatewayOpening, _ logger: Logger) async throws -> GatewaySlot {
        do {
            let gateway = try opening.open(acceptsLoss: acceptQueueLoss)
            try await gateway.prepare()
            return GatewaySlot(gateway, isOpen: true)
        } catch let error as StoreError {
            if opening.mayPass(error) {
                _ = refuse("\(error)")
                throw ExitCode.temporary
            }
            guard let database = opening.database, let reason = error.temporaryReason else { throw error }
            if error.isUnreachable {
                logger.error("Database unreachable; answering 503.", metadata: ["error": "\(reason)"])
            }
            return GatewaySlot(opening.standIn(for: database, because: reason), isOpen: false)
        }
    }

    /// In the order in which they start. They stop in the reverse order.
    private func services(
        _ slot: GatewaySlot, _ opening: GatewayOpening, _ preparation: ServePreparation, _ server: GatewayServer,
        _ stamps: FileStamps, _ logger: Logger
    ) -> [any Service] {
        [
            // First, so that it stops last and sends the spans of the last attempts.
            WhenOpen(slot, "TelemetryExporter") { gateway in
                TelemetryExporter(
                    gateway.resources.telemetry, logger: logger, collector: { gateway.plan.collector },
                    readings: { await server.metricReadings() })
            },
            WhenOpen(slot, "Dispatcher") { $0.dispatcher },
            WhenOpen(slot, "MediaService") { $0.downloads },
            WhenOpen(slot, "Janitor") { gateway in
                Janitor(gateway.queue, retention: { .init(gateway.plan.config) }, logger: logger)
            },
            WhenOpen(slot, "MediaJanitor") { $0.fileJanitor },
            WhenOpen(slot, "InAppTimer") { $0.inAppTimer },
            WhenOpen(slot, "DriftService") { gateway in
                DriftService(
                    gateway.resources.observation, file: opening.directory.path + "/vendor-keys.json", logger: logger)
            },
            WhenOpen(slot, "ConfigWatch") { gateway in
                let reload = ConfigReload(gateway, logger: logger) { preparation.reload(gateway, server, logger) }
                return ConfigWatch(
                    loaded: stamps, origin: { gateway.plan.newestOrigin }, reload: { await reload.run() })
            },
            StoreOpening(logger: logger, slot: slot) {
                try opening.open(acceptsLoss: false)
            } activate: { gateway in
                try await gateway.prepare()
                server.replace(by: try preparation.surface(gateway, gateway.plan))
            },
            server,
        ]
    }
}

extension Gateway {
    /// Prepares an open queue for the services. Throws errors of the queue; may be called again after one.
    fileprivate func prepare() async throws {
        try await openDownloads()
        try await openInApp()
        await reportStranded()
    }
}
