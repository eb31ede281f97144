import Foundation
import SignalboxConfig
package import SignalboxNotification
package import SignalboxStore
import Synchronization

/// Counts what the flows do, since the start of the process. Labels have few values: names of the config, vendors and
/// codes of this version. Callable from any thread; a call takes less than a microsecond.
package final class GatewayCounters: Sendable {
    // A class because the flows of all configs share it.
    /// The label of values beyond a limit.
    package static let other = "other"
    /// The most vendors with series of their own.
    static let mostVendors = 200

    /// Accepted events of one kind.
    package struct Received: Hashable, Sendable {
        package let source: SourceName
        package let vendor: VendorID
        package let kind: PushNotification.Kind

        /// The kind is left out: it has few values.
        package func hash(into hasher: inout Hasher) {
            hasher.combine(source)
            hasher.combine(vendor)
        }
    }

    /// Rejected payloads with one code.
    package struct Rejected: Hashable, Sendable {
        package let source: SourceName
        /// Of a problem of the API, or a push service's word.
        package let code: String
    }

    /// Events with one warning.
    package struct Warned: Hashable, Sendable {
        package let vendor: VendorID
        /// A code of ``WarningDescription``.
        package let code: String
    }

    /// Stored events; repeats are not stored.
    package let received = SeriesTable<Received, Counter>(
        limit: 2000, other: { Received(source: SourceName(other), vendor: VendorID(other), kind: $0.kind) },
        make: { Counter() })
    /// Payloads and reports of known sources that were refused. Beyond the limit, only codes of payloads have series
    /// of their own.
    package let rejected = SeriesTable<Rejected, Counter>(
        limit: 300,
        other: { key in
            let isKnown = Rejection.Code(rawValue: key.code) != nil
            return Rejected(source: SourceName(other), code: isKnown ? key.code : other)
        }, make: { Counter() })
    package let warned = SeriesTable<Warned, Counter>(
        limit: 500, other: { _ in Warned(vendor: VendorID(other), code: other) }, make: { Counter() })
    /// Stored events that no route matched.
    package let unrouted = Counter()
    /// Attempts by destination; 35 destinations have series of their own.
    package let destinations = SeriesTable<DestinationName, DestinationCounters>(
        limit: 35, other: { _ in DestinationName(other) }, make: { DestinationCounters() })
    /// Spans and points of metrics that were neither exported nor kept.
    package let telemetry = DropCounts()
    private let vendors = VendorLabels()
    private let sources = SourceLabels()
    /// Counters by the values of events, whose labels need not be looked up again.
    private let resolved = Mutex<[Received: Counter]>([:])
    /// Further combinations are looked up each time.
    private static let mostResolved = 4000

    package init() {}

    /// Counts the events of payloads among the committed events of one request.
    func accepted(_ tally: EventTally) {
        resolved.withLock { counters in
            for group in tally.groups where group.first.event.isOfPayload {
                counter(of: group.first, in: &counters).add(group.count)
                if group.first.routes.isEmpty { unrouted.add(group.count) }
            }
        }
        for event in tally.warned where event.event.isOfPayload { countWarnings(of: event.event) }
    }

    /// The counter of an event. Looks its labels up once.
    private func counter(of routed: RoutedEvent, in counters: inout [Received: Counter]) -> Counter {
        let key = Received(source: routed.event.source, vendor: routed.event.vendor, kind: routed.event.kind)
        if let known = counters[key] { return known }
        let counter = received.series(for: labels(of: key))
        if counters.count < Self.mostResolved { counters[key] = counter }
        return counter
    }

    private func labels(of key: Received) -> Received {
        Received(source: sources.label(of: key.source), vendor: vendors.label(of: key.vendor), kind: key.kind)
    }

    /// Counts a refused payload. `code`: of ``RefusedPayload``.
    func rejected(_ code: String, from source: SourceName) {
        rejected.series(for: Rejected(source: sources.label(of: source), code: code)).add()
    }

    /// Counts the ends of one request to a destination. `trace`: of the attempt if it is exported. `now`: by the wall
    /// clock.
    func settled(_ settlements: [Settlement], trace: String? = nil, at now: Date) {
        guard let first = settlements.first else { return }
        let counters = destinations.series(for: first.lease.destination)
        if let attempt = first.attempt { counters.durations.observe(attempt.duration, trace: trace) }
        for settlement in settlements {
            counters.attempted(settlement)
            guard case .delivered = settlement.outcome, let ready = settlement.lease.readyAt else { continue }
            counters.lags.observe(.seconds(now.timeIntervalSince(ready)), trace: trace)
        }
    }

    private func countWarnings(of event: Event) {
        let vendor = vendors.label(of: event.vendor)
        for code in event.warningCodes { warned.series(for: Warned(vendor: vendor, code: code)).add() }
    }
}

/// Begins the series of a config with 0, so that their first increase is seen.
extension GatewayCounters {
    /// Called for each plan that becomes active. Series of an earlier config stay.
    func expect(_ config: GatewayConfig) {
        let sources = config.sources.isEmpty ? [SourceName.default] : config.sources.keys.sorted { $0.name < $1.name }
        self.sources.know(sources)
        // A source that had the label of the others may have its own now.
        resolved.withLock { $0 = [:] }
        let vendors = [VendorID.unknown] + config.vendorChain.vendors
        for source in sources {
            rejected.expect(Rejection.Code.allCases.map { Rejected(source: source, code: $0.rawValue) })
        }
        received.expect(expected(sources, vendors.map { self.vendors.label(of: $0) }))
        let names = Set(vendors)
        for code in WarningDescription.all.map(\.code) where !code.hasPrefix("VENDOR.") {
            let component = VendorID(String(code.prefix { $0 != "." }))
            warned.expect([Warned(vendor: names.contains(component) ? component : .unknown, code: code)])
        }
        destinations.expect(config.destinations.map(\.name))
    }

    /// Every combination; of a config with many sources only those that are likely.
    private func expected(_ sources: [SourceName], _ vendors: [VendorID]) -> [Received] {
        let all = PushNotification.Kind.allCases
        let kinds = sources.count * vendors.count * all.count <= 1000 ? all : [.alert, .silent]
        let named = sources.count * vendors.count * kinds.count <= 1000 ? vendors : [.unknown]
        return sources.flatMap { source in
            named.flatMap { vendor in kinds.map { Received(source: source, vendor: vendor, kind: $0) } }
        }
    }
}
