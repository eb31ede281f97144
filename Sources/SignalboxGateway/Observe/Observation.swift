package import Foundation
package import SignalboxNotification
import SignalboxStore

/// Everything that the gateway observes of its own work, for operators: recent occurrences, counts, refused payloads.
///
/// One for each process; it survives reloads. The flows call it after a commit or an answer, one call for each. A class
/// because all threads share it. Without a reader, a call counts and returns: it parses no event and copies at most
/// the payloads of ``SampleGate``'s rate.
package final class Observation: Sendable {
    /// The newest events, deliveries and changes of destinations.
    package let recent: RecentLog
    /// Counts of the last minutes.
    package let activity: ActivityCounts
    /// The newest refused payloads.
    package let rejections = RejectionLog()
    /// Counts since the start of the process, for metrics.
    package let counters = GatewayCounters()
    /// Keys of payloads that no detector reads.
    package let drift: KeyDrift
    /// When the process began to observe.
    package let started: Date
    /// The time of everything here.
    package let clock: ObservationClock
    /// Choose the events and the deliveries of ``recent``.
    private let events = SampleGate<VendorID>()
    private let deliveries = SampleGate<DestinationName>()

    /// `recent`: the most events and the most other entries of the log; 0 for none.
    package init(recent: Int = 1_000, clock: ObservationClock = .system) {
        self.recent = RecentLog(limit: recent)
        self.clock = clock
        activity = ActivityCounts(clock)
        started = clock.now
        drift = KeyDrift(since: started)
    }

    // MARK: Events

    /// Decides whether operators see the event of a payload, and keeps the payload then. Called when the payload is
    /// read, with its bytes; see ``Event/Sampling``.
    func sampling(_ payload: UnsafeBufferPointer<UInt8>, of vendor: VendorID) -> Event.Sampling {
        guard recent.isOn, events.admits(vendor, at: clock.nanoseconds()) else { return .passed }
        return .shown(payload: payload.count <= RecentLog.largestPayload ? Array(payload) : nil)
    }

    /// Committed events of one request.
    func accepted(_ tally: EventTally) {
        let now = clock.nanoseconds()
        counters.accepted(tally)
        activity.count(tally, at: now)
        let passed = tally.count - tally.sampled.count { show($0, at: now) }
        if passed > 0 { recent.pass(.event, count: passed) }
    }

    /// False if the event is only counted.
    private func show(_ routed: RoutedEvent, at now: Int64) -> Bool {
        var payload: [UInt8]?
        switch routed.event.sampling {
        case .passed: return false
        case .shown(let bytes): payload = bytes
        case .undecided: guard recent.isOn, events.admits(routed.event.vendor, at: now) else { return false }
        }
        recent.append(.event(RecentEvent(routed, payload: payload)))
        return true
    }

    /// A payload, or a report of a device, that was refused. A report is listed and not counted. So is a payload of a
    /// sender without identity: any client can cause it.
    package func refused(_ payload: RefusedPayload) {
        rejections.append(payload)
        guard let source = payload.source, !payload.isReport else { return }
        activity.count(.rejected, payload.code, at: clock.nanoseconds())
        counters.rejected(payload.code, from: source)
    }

    // MARK: Deliveries

    /// Settled attempts and expired deliveries of one request to a destination. `trace`: of the attempt if it is
    /// exported.
    func settled(_ settlements: [Settlement], trace: TraceContext? = nil) {
        let now = clock.nanoseconds()
        counters.settled(settlements, trace: trace?.traceID.description, at: clock.date(at: now))
        for settlement in settlements {
            let name = settlement.lease.destination.name
            switch settlement.outcome {
            case .delivered: activity.count(.delivered, name, at: now)
            case .retry, .dead: activity.count(.failed, name, at: now)
            // Not an attempt. The queue ends expired deliveries too, and they do not arrive here.
            case .expired: break
            case .postponed, .returned: continue
            }
            if recent.isOn, deliveries.admits(settlement.lease.destination, at: now),
                let delivery = RecentDelivery(settlement, at: clock.date(at: now))
            {
                recent.append(.delivery(delivery))
            } else {
                recent.pass(.delivery)
            }
        }
    }

    /// A destination began to accept deliveries, or stopped. `state`: a word of `DestinationStatus.words`.
    package func changed(_ destination: DestinationName, to state: String, because reason: String? = nil) {
        guard recent.isOn else { return recent.pass(.destination) }
        let change = DestinationChange(at: clock.now, name: destination, state: state, reason: reason)
        recent.append(.destination(change))
    }
}
