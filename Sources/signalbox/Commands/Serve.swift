import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle
import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxServer
import SignalboxStore
import Synchronization
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take payloads over HTTP, keep them safe, deliver their events.",
        discussion: "Stops on SIGTERM and ^C once what is under way has ended.")

    @OptionGroup var options: GatewayOptions

    @Option(help: "Address to listen on (SIGNALBOX_LISTEN; default: 127.0.0.1:8080).")
    var listen: String?

    @Flag(help: "Start although the queue of the data directory is missing, or behind what was accepted.")
    var acceptQueueLoss = false

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        // Beyond a limit on the size of files a write shall fail like any other.
        signal(SIGXFSZ, SIG_IGN)
        OpenFiles.raiseLimit()
        // Until the config is watched. Without a terminal nobody hung up: whoever sends this expects a service to go on.
        if isatty(STDIN_FILENO) == 0 { signal(SIGHUP, SIG_IGN) }
        let logger = options.makeLogger()
        let loaded = try options.loadConfig()
        let config = loaded.config
        let address = try listenAddress(config)
        let gateway = try Gateway(options, acceptsQueueLoss: acceptQueueLoss, config: loaded, logger: logger) { text in
            Terminal.show(text)
        }
        let queue = gateway.queue
        let server = GatewayServer(
            try orRefuse { () throws(ConfigRefusal) in try surface(gateway, gateway.plan, address: address) },
            address: address, logger: logger,
            probe: { await Self.fault(of: queue) },
            onListening: { address in
                Self.reportWarnings(of: config, to: logger)
                Self.greet(address, config, dataDirectory: gateway.directory.path)
            })
        await gateway.reportStranded(to: logger)
        let janitor = Janitor(queue, retention: { .init(gateway.plan.config) }, logger: logger)
        try await gateway.openDownloads()
        let watch = ConfigWatch(
            origin: { gateway.plan.config.origin },
            reload: { await reload(gateway, server, address: address, logger: logger) }, logger: logger)
        let services: [any Service] = [
            gateway.dispatcher, gateway.downloads, janitor, gateway.fileJanitor, watch, server,
        ]
        let interrupted = try await ServiceRun(services: services, logger: logger).run()
        gateway.stopSending()
        await gateway.carryOver(logger: logger)
        let isShown = Terminal.finish()
        if interrupted { throw ExitCode.interrupted }
        if !isShown { throw ExitCode.incomplete }
    }

    /// What is offered over HTTP under a plan, or why it cannot be.
    private func surface(
        _ gateway: Gateway, _ plan: GatewayPlan, address: ListenAddress
    ) throws(ConfigRefusal) -> GatewaySurface {
        let config = plan.config
        let access = try access(config, address: address)
        let operators = try operators(config, address: address)
        return GatewaySurface(
            intake: plan.intake, interactions: InteractionsAPI(intake: plan.interactions), access: access,
            operations: operations(gateway, plan, operators), routes: routes(gateway, plan, operators),
            categories: CategoriesAPI(
                queue: gateway.queue, sources: access, operators: operators,
                statics: config.categories.statics.records, limit: config.categories.count),
            media: MediaAPI(gateway.media, links: plan.links))
    }

    /// Reads the config again and goes by it as a whole, or goes on as before and says why.
    private func reload(_ gateway: Gateway, _ server: GatewayServer, address: ListenAddress, logger: Logger) async {
        do throws(ConfigRefusal) {
            let former = gateway.plan.config
            let loaded = try ConfigFile.load(options.configPath)
            let config = loaded.config
            let plan = try gateway.plan(for: loaded)
            let surface = try surface(gateway, plan, address: address)
            // First who delivers, then who takes: what is taken has where to go.
            gateway.replace(by: plan)
            server.replace(by: surface)
            if config.gateway.listen != former.gateway.listen
                || config.gateway.dataDirectory != former.gateway.dataDirectory
            {
                logger.warning("The address to listen on and the data directory change with a restart only.")
            }
            logger.notice("The config was read again and is in force.")
            if config.origin.digest != former.origin.digest { Self.reportWarnings(of: config, to: logger) }
            await gateway.reportStranded(to: logger)
        } catch {
            // Where nobody looks on, it is a log, which the lines of a config do not belong in.
            StandardError.write(StandardError.isTerminal ? error.text : error.problems.joined(separator: "\n") + "\n")
            gateway.plan.standing.note(ConfigStanding.Refusal(at: Date(), problems: error.problems))
            logger.error("The config cannot be used; the one before it stays in force.")
        }
    }

    /// Without the lines of the config: what belongs in no log may stand there.
    private static func reportWarnings(of config: GatewayConfig, to logger: Logger) {
        for warning in ConfigReport.lines(of: config.warnings, in: config.origin.files) {
            logger.warning("Something in the config has no effect.", metadata: ["problem": "\(warning)"])
        }
    }

    private func listenAddress(_ config: GatewayConfig) throws(ExitCode) -> ListenAddress {
        let text = options.listenAddress(flag: listen, file: config.gateway.listen)
        guard let address = ListenAddress(text) else {
            throw refuse("\(text) is no address to listen on; write it as 127.0.0.1:8080 or [::1]:8080.")
        }
        return address
    }

    private func operators(_ config: GatewayConfig, address: ListenAddress) throws(ConfigRefusal) -> AdminAccess {
        let sources = try ConfigFile.tokens(config, path: options.configPath)
        let tokens = try ConfigFile.adminTokens(config, sources: sources, path: options.configPath)
        return AdminAccess(tokens: tokens, isOpen: address.isLoopback && config.sources.isEmpty)
    }

    private func operations(
        _ gateway: Gateway, _ plan: GatewayPlan, _ operators: AdminAccess
    ) -> OperationsAPI {
        let config = plan.config
        let senders = plan.senders
        let events = OperationalEvent(gateway: config.gateway.name)
        return OperationsAPI(
            queue: gateway.queue, access: operators, destinations: config.destinations.map(\.name),
            limited: Set(config.destinations.filter { $0.perSecond != nil }.map(\.name))
        ) { name in
            guard let sender = senders[name] else {
                preconditionFailure("A destination of the config has no sender.")
            }
            let result = await sender.ping(events.pingLease(to: name))
            return OperationsAPI.Ping(wasTaken: result.wasTaken, status: result.status, words: result.words)
        }
    }

    private func routes(_ gateway: Gateway, _ plan: GatewayPlan, _ operators: AdminAccess) -> RoutesAPI {
        let routes = plan.routes
        let trials = RouteTrials(
            normalizer: plan.normalizer, routes: routes, vendors: plan.config.sourceVendors)
        return RoutesAPI(
            routes: routes, trials: trials, counts: gateway.foundations.counts, standing: plan.standing,
            access: operators)
    }

    private func access(_ config: GatewayConfig, address: ListenAddress) throws(ConfigRefusal) -> SourceAccess {
        guard config.sources.isEmpty else {
            return SourceAccess(try ConfigFile.tokens(config, path: options.configPath))
        }
        guard address.isLoopback else {
            throw ConfigRefusal(
                "\(address) can be reached from other machines, and \(options.configPath) names no sources, so anybody "
                    + "could hand in payloads. Add sources with tokens to it, or listen on 127.0.0.1.")
        }
        return .open
    }

    private static func fault(of queue: SQLiteQueue) async -> StoreError? {
        do throws(StoreError) {
            try await queue.probe()
            return nil
        } catch {
            return error
        }
    }

    private static func greet(_ address: ListenAddress, _ config: GatewayConfig, dataDirectory: String) {
        let example = "Examples/payloads/synerise-simple-push.json"
        let body = FileManager.default.fileExists(atPath: example) ? "@\(example)" : "'{\"aps\":{\"alert\":\"Hello\"}}'"
        let token = config.sources.isEmpty ? "" : " -H \"authorization: Bearer $TOKEN\""
        StandardError.write(
            """
            signalbox \(Version.current) listening on http://\(address)
            destinations: \(config.destinations.map(\.name.name).joined(separator: ", ")); queue: \(dataDirectory)
            Try:  curl -H 'content-type: application/json'\(token) --data \(body) http://\(address)/v1/notifications

            """)
    }
}

/// Runs services until one fails, SIGTERM or ^C.
struct ServiceRun {
    let services: [any Service]
    let logger: Logger

    /// True when it was ^C that ended it. Says what failed on standard error.
    func run() async throws -> Bool {
        var configuration = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm], logger: logger)
        let interrupt = Interrupt()
        configuration.services.append(.init(service: interrupt))
        let group = ServiceGroup(configuration: configuration)
        interrupt.onInterrupt { await group.triggerGracefulShutdown() }
        do {
            try await group.run()
        } catch let error as ListenError {
            throw refuse("\(error)")
        }
        return interrupt.happened
    }
}

/// Turns ^C into a graceful shutdown and remembers it.
final class Interrupt: Service {
    // A class because the signal is noted by one task and read by another.
    private let state = Mutex((happened: false, action: Optional<@Sendable () async -> Void>.none))

    var happened: Bool { state.withLock { $0.happened } }

    func onInterrupt(_ action: @escaping @Sendable () async -> Void) {
        state.withLock { $0.action = action }
    }

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sigint).cancelOnGracefulShutdown() {
            let action = state.withLock { state in
                state.happened = true
                return state.action
            }
            await action?()
        }
    }
}

extension SQLiteQueue.Retention {
    fileprivate init(_ config: GatewayConfig) {
        let retention = config.retention
        self.init(
            ended: retention.ended, dead: retention.dead, bytes: retention.bytes,
            categories: .init(age: config.categories.age, count: config.categories.count))
    }
}
