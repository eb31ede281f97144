import Logging
import SignalboxStore

/// The objects of the server that outlive a config: the handlers of every config share them. Safe for concurrent use.
struct ServerResources: Sendable {
    /// Largest total of request bodies in memory. A request beyond it receives 503 with the code `gateway-busy`.
    private static let bodyBytes = 256 * 1024 * 1024

    /// Logs an outage of the queue once.
    let alarm: QueueAlarm
    /// The state of the provider endpoints.
    let providers: ProviderState
    /// The connections of the listeners for providers.
    let connections: ConnectionTable
    /// Bounds the memory of all bodies.
    let budget = BodyBudget(bytes: Self.bodyBytes)
    /// Whether events can be accepted.
    let readiness: Readiness
    /// Counts and delays wrong tokens.
    let failedTokens: FailedTokens
    /// Bounds the refusals that are recorded.
    let refusals = RefusalBudget()
    /// Measurements of requests and actions.
    let counters = ServerCounters()
    /// The live streams.
    let streams = LiveStreams()
    /// Admits requests that compute over payloads.
    let reads = ReadGate()

    /// `connections`: the most connections to the listeners for providers. `probe`: why the queue cannot accept
    /// events; nil when it can.
    init(connections: Int, logger: Logger, probe: @escaping @Sendable () async -> StoreError?) {
        alarm = QueueAlarm(logger: logger)
        providers = ProviderState(logger: logger)
        self.connections = ConnectionTable(capacity: connections)
        readiness = Readiness { await probe().map { .notReady($0) } ?? .ready }
        failedTokens = FailedTokens(logger: logger)
    }

    /// The values of the metrics of provider endpoints.
    var providerValues: ProviderValues {
        ProviderValues(providers, connections: connections.count, evicted: connections.evicted)
    }
}
