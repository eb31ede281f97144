import Foundation
import SignalboxGateway
import SignalboxNotification
import SignalboxRouting
import SignalboxStore

/// The values that metrics read from the queue. Values of the last commit; they may differ by a commit from each other.
struct QueueValues: Sendable {
    /// Destinations that are not active.
    let statuses: [DestinationName: DestinationStatus]
    /// Counts of deliveries; none for a destination without deliveries. ``MetricValues`` adds up those of destinations
    /// beyond its bound, as `other`.
    var gauges: [DestinationName: DestinationGauges]
    /// Downloads and stored files.
    let media: MediaGauges
    /// Devices whose due time has passed. More than zero for longer than a second means that the timer cannot keep
    /// up.
    let dueDevices: Int
    /// The space of the queue and of its file system.
    let space: StoreSpace
}

/// The values of all metrics at one time. Read at one time for a page, from the queue and from the memory of this
/// process.
struct MetricValues: Sendable {
    /// Nil while the queue cannot be read: its metrics have no samples then.
    let queue: QueueValues?
    /// The destinations of the config and of the queue, at most ``Bounds/destinations``.
    let destinations: [DestinationName]
    /// The ones among ``destinations`` that are no longer in the config.
    let left: Set<DestinationName>
    /// Durations of commits and ends of deliveries, since the start of the process.
    let health: StoreHealth
    /// This node among others; nil for a store of one process.
    let fleet: FleetStatus?
    /// Connections and rejected requests of provider endpoints.
    let providers: ProviderValues
    /// When the certificate of the listeners for providers expires, in seconds since 1970; nil without one.
    let certificateEnd: Int?
    /// Decisions and messages.
    let inApp: InAppValues
    /// Payloads and attempts since the start of the process.
    let counters: GatewayCounters
    /// Requests and changes by operators, since the start of the process.
    let server: ServerCounters
    /// Open streams of live events.
    let streams: Int
    /// Wrong tokens since the start of the process.
    let failedTokens: [FailedTokens.Endpoint: Int]
    /// Forwarded pushes since the start of the process.
    let forwards: ForwardLedger
    /// Counters since the start of the process, in the order of the config, at most ``Bounds/routes``.
    let routes: [(name: String, count: RouteCounts.Count)]
    /// Pushes that failure rules took, in the order of evaluation, at most ``Bounds/rules``.
    let failures: [(rule: String, taken: Int)]
    /// The active config, and the last rejected one.
    let config: ActiveConfigStatus
    /// Read from the system for each page. Values that the system does not tell are nil.
    let process: ProcessValues
    /// Of the program.
    let version: String
    /// The clock of the queue. Ages are relative to it.
    let now: Date

    /// The destinations that have a state: those of the config, and those that left it while deliveries wait for them.
    /// None while the queue cannot be read.
    var states: [(destination: DestinationName, status: DestinationStatus?)] {
        guard let queue else { return [] }
        return destinations.filter { !left.contains($0) || (queue.gauges[$0]?.waiting ?? 0) > 0 }
            .map { ($0, queue.statuses[$0]) }
    }

    /// Deliveries that ended, by destination and state. Those of destinations beyond the bound count as `other`.
    var ends: [DestinationName: [DeliveryRecord.State: Int]] {
        let shown = Set(destinations)
        return health.ends.values.reduce(into: [:]) { ends, entry in
            ends[shown.contains(entry.key) ? entry.key : .other, default: [:]].merge(entry.value, uniquingKeysWith: +)
        }
    }

    /// Attempts by destination, in the order of names.
    var attempts: [(key: DestinationName, series: DestinationCounters)] {
        counters.destinations.all.sorted { $0.key < $1.key }
    }
}
