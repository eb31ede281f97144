import Hummingbird
package import Logging
import NIOCore
import ServiceLifecycle
package import SignalboxGateway
import SignalboxNotification
package import SignalboxStore

/// The HTTP servers of the gateway: of the API, and of the provider endpoints. Runs in the service group of the
/// gateway. Its state is shared and safe for concurrent use.
package struct GatewayServer: NamedService {
    /// Largest request body in bytes. The default of endpoints that take a body; some declare a smaller limit.
    static let bodyLimit = 8 * 1024 * 1024

    /// Outlives reloads.
    private let resources: ServerResources
    /// Serves HTTP/1.1 without TLS; a proxy in front of it adds TLS.
    private let http: HTTPService
    /// The listeners of `gateway.listen.apns` and `gateway.listen.proxy`.
    private let providers: [ProviderListener]
    private let logger: Logger
    /// Read by each request, written by a reload.
    private let active: Replaceable<ActiveAPI>

    /// The addresses of the gateway.
    package struct Addresses: Sendable {
        /// The address of the API.
        package let http: ListenAddress
        /// The address of the provider endpoints; nil for none.
        package let providers: ListenAddress?
        /// The address of the proxy to the provider endpoints; nil for none.
        package let proxy: ListenAddress?

        package init(http: ListenAddress, providers: ListenAddress?, proxy: ListenAddress? = nil) {
            (self.http, self.providers, self.proxy) = (http, providers, proxy)
        }

        /// The addresses that are not nil.
        package var all: [ListenAddress] { [http, providers, proxy].compactMap { $0 } }

        /// True when no other machine can connect.
        package var areLoopback: Bool { all.allSatisfy(\.isLoopback) }
    }

    /// As requested: a port may be 0. `onListening` receives the ports that the system assigned.
    private let addresses: Addresses

    /// `probe`: why the queue cannot accept events; nil when it can. `onListening`: called once with the addresses in
    /// use, when all listeners are ready. Does not listen yet; ``run()`` does. Traps for open access on an address that
    /// other machines reach.
    package init(
        _ surface: GatewaySurface, addresses: Addresses, logger: Logger,
        probe: @escaping @Sendable () async -> StoreError?, onListening: @escaping @Sendable (Addresses) async -> Void
    ) {
        precondition(!surface.sources.isOpen || addresses.areLoopback, "Open access is for loopback only.")
        surface.activate()
        let capacity = OpenFiles.connections(atMost: ProviderListener.connections, besides: 1)
        let resources = ServerResources(connections: capacity, logger: logger, probe: probe)
        let active = Replaceable(ActiveAPI(surface, resources))
        let greeting = Greeting(addresses, report: onListening)
        let own: [(ListenError.Listener, ListenAddress?)] = [(.apns, addresses.providers), (.proxy, addresses.proxy)]
        // The limits count the connections of both listeners together.
        let serving = ProviderServing(
            endpoints: { active.value.providers }, budget: resources.budget, limits: ProviderLimits(),
            refusals: resources.providers.refusals, handshakes: resources.providers.handshakes,
            table: resources.connections, mostConnections: capacity + HTTPService.reserve)
        providers = own.compactMap { option, address in
            address.map { address in
                ProviderListener(
                    address: address, tls: { active.value.tls }, serving: serving, option: option,
                    onListening: { await greeting.listens(option, on: $0) })
            }
        }
        http = HTTPService(
            address: addresses.http, logger: logger, budget: resources.budget,
            onListening: { await greeting.listens(.http, on: $0) }, isAlone: providers.isEmpty)
        (self.addresses, self.resources, self.active, self.logger) = (addresses, resources, active, logger)
        reportCertificate(of: surface, instead: nil)
    }

    /// Logs the hosts that the proxy cannot serve, unless they are those of the former certificate.
    private func reportCertificate(of surface: GatewaySurface, instead former: ProviderTLS?) {
        guard addresses.proxy != nil, let hosts = surface.tls?.uncoveredHosts, !hosts.isEmpty,
            hosts != former?.uncoveredHosts
        else { return }
        logger.warning(
            "Proxy rejects hosts that the TLS certificate does not cover.",
            metadata: ["hosts": "\(hosts.joined(separator: " "))"])
    }

    /// Serves until a graceful shutdown, and returns after the commits of all requests. Throws ``ListenError``.
    /// Requests in progress get five seconds after the shutdown begins.
    package func run() async throws {
        let direct = DirectResponder { [active] head in
            let api = active.value
            return api.notifications.directHandler(for: head) ?? api.inApp.handler(for: head)
        }
        let result = await Result(awaiting: {
            try await withGracefulShutdownHandler {
                try await run(direct)
            } onGracefulShutdown: {
                // The server waits for open responses, and a stream has no end of its own.
                resources.streams.close()
            }
        })
        // The connections are closed; appends of their requests may still be in progress.
        await active.value.notifications.finish()
        try result.get()
    }

    /// Runs all listeners. The failure of one ends the others. The provider endpoints listen before the API does.
    private func run(_ direct: DirectResponder) async throws {
        // First, because the other server cannot be stopped without a graceful shutdown.
        var channels: [(ProviderListener, any Channel)] = []
        for listener in providers { channels.append((listener, try await listener.listen())) }
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await http.run(ActiveResponder(active: active, budget: resources.budget), direct: direct)
            }
            for (listener, channel) in channels { group.addTask { await listener.run(channel) } }
            do {
                // Not `waitForAll`, which throws the error only after the other listeners have ended.
                while try await group.next() != nil {}
            } catch {
                group.cancelAll()
                throw error
            }
        }
    }

    /// The present values of all metrics. Waits for the queue at most ``StoreLimits/longestCommit``, and leaves the
    /// metrics of its contents without points if it does not answer.
    package func metricReadings() async -> [MetricReading] { await active.value.api.metricValues().readings }

    /// Answers later requests by another config. A request is answered by the config that was active when it began.
    /// Safe while requests are in progress. Other authorities of clients end the connections to the provider endpoints
    /// gracefully. Traps when the new config would open a public address to every client.
    package func replace(by surface: GatewaySurface) {
        precondition(!surface.sources.isOpen || addresses.areLoopback, "Open access is for loopback only.")
        let former = active.value.tls
        reportCertificate(of: surface, instead: former)
        surface.activate()
        active.replace(by: ActiveAPI(surface, resources))
        resources.streams.revoke(by: surface.operators)
        // A connection knows whether the authorities of its handshake issued the certificate of its client.
        guard surface.tls?.clientAuthorities != former?.clientAuthorities else { return }
        for connection in resources.connections.all {
            connection.triggerUserOutboundEvent(StopConnection(), promise: nil)
        }
    }
}

/// The handlers of the active config. Replaced as a whole, so no request sees parts of two configs.
private final class ActiveAPI: Sendable {
    // A class because every request asks for it, and a copy of all that it holds costs more than some responses.
    /// Reads the values of metrics.
    let api: GatewayAPI
    /// Answers every request that the direct responder leaves.
    let router: RouterResponder<GatewayRequestContext>
    /// Serves direct requests, and those of the router.
    let notifications: NotificationsAPI
    /// Serves direct requests about in-app messages.
    let inApp: DirectInAppAPI
    /// The APIs of push services.
    let providers: ProviderEndpoints
    /// For new connections to the listener for providers.
    let tls: ProviderTLS?

    /// Builds the whole router; the former one answers requests meanwhile.
    init(_ surface: GatewaySurface, _ resources: ServerResources) {
        let (alarm, budget, counters) = (resources.alarm, resources.budget, resources.counters)
        notifications = NotificationsAPI(
            intake: surface.intake, sources: surface.sources, alarm: alarm, budget: budget,
            observation: surface.observation, counters: counters, telemetry: surface.telemetry)
        inApp = DirectInAppAPI(
            flow: surface.inApp, sources: surface.sources, alarm: alarm, budget: budget,
            observation: surface.observation, counters: counters, telemetry: surface.telemetry)
        providers = ProviderEndpoints(surface, resources.providers, alarm: alarm, counters: counters)
        tls = surface.tls
        resources.providers.captures.set(surface.captures)
        api = GatewayAPI(surface: surface, notifications: notifications, resources: resources)
        router = api.router()
    }
}

/// Reports the addresses once all listeners are ready.
private actor Greeting {
    /// The listeners that are ready, with the ports that the system assigned.
    private var found: [ListenError.Listener: ListenAddress] = [:]
    /// The number of listeners.
    private let count: Int
    /// Called once, by the listener that becomes ready last.
    private let report: @Sendable (GatewayServer.Addresses) async -> Void

    /// `addresses`: as requested. Only their number matters here.
    init(_ addresses: GatewayServer.Addresses, report: @escaping @Sendable (GatewayServer.Addresses) async -> Void) {
        count = addresses.all.count
        self.report = report
    }

    /// Called once by each listener, in any order. If one of them fails to listen, no address is reported.
    func listens(_ listener: ListenError.Listener, on address: ListenAddress) async {
        found[listener] = address
        guard found.count == count, let http = found[.http] else { return }
        await report(GatewayServer.Addresses(http: http, providers: found[.apns], proxy: found[.proxy]))
    }
}

/// Looks up the active config for each request.
private struct ActiveResponder: HTTPResponder {
    /// Read once for each request, so that a reload does not change a request in progress.
    let active: Replaceable<ActiveAPI>
    /// Bounds the bodies of provider endpoints. The router reserves from the same budget.
    let budget: BodyBudget

    /// Provider endpoints first: their paths and the paths of the API differ.
    func respond(to request: Request, context: GatewayRequestContext) async throws -> Response {
        let api = active.value
        let providers = ProviderResponder(endpoints: api.providers, budget: budget)
        if let response = await providers.respond(to: request, context: context) { return response }
        return try await api.router.respond(to: request, context: context)
    }
}
