import SignalboxConfig
import SignalboxEgress
package import SignalboxGateway
import SignalboxNotification
import SignalboxStore

/// The services that the gateway offers over HTTP under one config, and their access. A reload makes a new surface;
/// the queue, the stored files and the counters remain those of the gateway.
package struct GatewaySurface: Sendable {
    /// Accepts payloads.
    let intake: Intake
    /// Accepts reports of taps.
    let interactions: InteractionIntake
    /// Decides in-app messages.
    let inApp: InAppFlow
    /// Access of senders.
    let sources: SourceAccess
    /// Access of operators.
    let operators: AdminAccess
    /// Protects operators from pages of other sites.
    let browsers: BrowserAccess
    /// Deliveries and metrics.
    let operations: OperationsAPI
    /// Destinations and their lanes.
    let destinations: DestinationsAPI
    /// Routes, their counters and trials.
    let routes: RoutesAPI
    /// The vendors that an event can have.
    let vendorNames: [String]
    /// Stored events.
    let events: EventsAPI
    /// Explanations of payloads.
    let explanations: ExplainAPI
    /// Checks of configs, and the last ones.
    let configs: ConfigAPI
    /// The ledger of deliveries, and the list of media.
    let ledger: LedgerAPI
    /// The paths of events, and trials of patterns.
    let flows: FlowsAPI
    /// Failure rules of provider endpoints.
    let failures: FailuresAPI
    /// The failure rules of the config. They replace those of the former config when the surface becomes active.
    let configuredFailures: [PreparedFailure]
    /// Button sets for apps.
    let categories: CategoriesAPI
    /// Stored files, by open or signed links.
    let media: MediaAPI
    /// Accepted events, and the channels of senders.
    let queue: any IntakeStore & ChannelStore
    /// Hashes device tokens as events show them.
    let tokens: TokenHash
    /// Keys that sign access tokens of senders and confirmations of bulk changes.
    let keys: DerivedKeys
    /// Confirms bulk changes.
    let confirmations: BulkConfirmations
    /// How many pushes to provider endpoints are kept in memory.
    let captures: GatewayConfig.Captures
    /// Identities of senders at provider endpoints.
    let senders: ProviderSenders
    /// Forwards pushes to the real push services.
    let passThrough: PassThrough
    /// Traces of requests.
    let telemetry: Telemetry
    /// The gateway's observation of its own work; shared by all configs.
    let observation: Observation
    /// The version of the program.
    let version: String
    /// The certificate of the listener for providers; nil without TLS.
    let tls: ProviderTLS?

    /// `plan`: a plan of `gateway`, active or not. `sources`, `operators`: the access of senders and operators.
    /// `senders`: the identities of the same sources at provider endpoints. `tls`: for new connections to the listener
    /// for providers.
    package init(
        _ gateway: Gateway, _ plan: GatewayPlan, sources: SourceAccess, operators: AdminAccess,
        senders: ProviderSenders, tls: ProviderTLS?
    ) {
        let config = plan.config
        intake = plan.intake
        interactions = plan.interactions
        inApp = plan.inApp
        (self.sources, self.operators) = (sources, operators)
        browsers = BrowserAccess(publicUrl: config.gateway.publicUrl)
        operations = OperationsAPI(
            queue: gateway.queue, destinations: config.destinations.map(\.name),
            limited: Set(config.destinations.filter { $0.perSecond != nil }.map(\.name)),
            forwards: gateway.resources.forwards)
        let trials = RouteTrials(normalizer: plan.normalizer, routes: plan.routes, vendors: config.sourceVendors)
        events = EventsAPI(operations: operations, trials: trials, orders: plan.orders, links: plan.links)
        explanations = ExplainAPI(
            explainer: PayloadExplainer(
                normalizer: plan.normalizer, routes: plan.routes, vendors: config.sourceVendors,
                failures: { [rules = gateway.resources.failures] in rules.entries }), events: events)
        destinations = DestinationsAPI(
            queue: gateway.queue, destinations: config.destinations, lanes: gateway.dispatcher.snapshots,
            senders: plan.senders, events: OperationalEvent(gateway: config.gateway.name),
            observation: gateway.resources.observation)
        routes = RoutesAPI(routes: plan.routes, trials: trials, counts: gateway.resources.counts, status: plan.status)
        vendorNames = config.vendorNames
        configs = ConfigAPI(history: gateway.resources.history, folder: config.origin.folder)
        ledger = LedgerAPI(queue: gateway.queue, links: plan.links)
        flows = FlowsAPI(queue: gateway.queue, routes: plan.routes, counts: gateway.resources.counts)
        failures = FailuresAPI(rules: gateway.resources.failures, tokens: gateway.resources.tokens)
        configuredFailures = plan.failures
        categories = CategoriesAPI(
            queue: gateway.queue, statics: config.categories.statics.records, limit: config.categories.count)
        media = MediaAPI(store: gateway.resources.media, links: plan.links)
        queue = gateway.queue
        tokens = plan.normalizer.tokens
        keys = gateway.resources.keys
        confirmations = BulkConfirmations(key: keys.key(for: .confirmations)) { [queue] in queue.now }
        captures = config.gateway.captures
        self.senders = senders
        passThrough = plan.passThrough
        telemetry = gateway.resources.telemetry
        observation = gateway.resources.observation
        version = gateway.resources.version
        self.tls = tls
    }

    /// Applies what the config declares for the whole process. Called once, before the surface answers requests.
    func activate() { failures.rules.replaceFile(by: configuredFailures) }
}
