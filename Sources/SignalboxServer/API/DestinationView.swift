package import Foundation
package import SignalboxConfig
package import SignalboxGateway
package import SignalboxJSON
package import SignalboxNotification
package import SignalboxStore

/// A destination as operators see it: its config, the state of the queue, and the memory of its lane.
package struct DestinationView: Sendable {
    /// Of the config or of the queue; `config` and `gauges` tell which of them know it.
    package let name: DestinationName
    /// Nil for a destination that the config no longer has.
    package let config: Destination?
    /// Nil while the queue lets it receive deliveries.
    package let status: DestinationStatus?
    /// Nil without deliveries.
    package let gauges: DestinationGauges?
    /// Deliveries that wait for files; nil when it is not known. Commands do not read it.
    package var held: Int?
    /// Nil outside the gateway.
    package var lane: LaneSnapshot?

    /// Leaves ``held`` and ``lane`` unknown; the gateway sets them afterwards.
    package init(name: DestinationName, config: Destination?, status: DestinationStatus?, gauges: DestinationGauges?) {
        (self.name, self.config, self.status, self.gauges) = (name, config, status, gauges)
    }

    /// Every destination of the config and of the queue, by name.
    package static func all(
        _ config: [Destination], _ statuses: [DestinationName: DestinationStatus],
        _ gauges: [DestinationName: DestinationGauges]
    ) -> [DestinationView] {
        let known = Dictionary(config.map { ($0.name, $0) }) { first, _ in first }
        return Set(known.keys).union(gauges.keys).sorted().map {
            DestinationView(name: $0, config: known[$0], status: statuses[$0], gauges: gauges[$0])
        }
    }

    /// The word of the API: a status, `active`, or `unknown` for a destination that left the config. From the queue
    /// only, like the metrics and the reasons of waiting deliveries, so that they agree.
    package var state: String { status?.word ?? (config == nil ? Self.unknown : "active") }

    /// The state of a destination that left the config.
    static let unknown = "unknown"

    /// Why nothing is sent, or less than is due; nil while everything due is sent. The words of the API: those of a
    /// status, `unknown` for a destination that left the config, and `rate` while its limit delays due deliveries.
    package var cause: String? {
        if let status { return status.cause }
        if config == nil { return "unknown" }
        return gauges?.oldestDue != nil && lane?.isRateExhausted == true ? "rate" : nil
    }

    /// One line of JSON, for commands.
    package func json(now: Date) -> String {
        String(decoding: [UInt8].json { $0.destination(self, now: now) }, as: UTF8.self)
    }

    /// The URL without user and query, and without its path if that is hidden, or is a credential as for chat services.
    /// The reference to a URL that is a secret; nil for the inbox.
    func url(hidesPath: Bool) -> String? {
        guard case .webhook(let webhook)? = config?.endpoint else { return nil }
        if let reference = webhook.urlReference { return reference.description }
        if hidesPath || !webhook.format.name.isSigned { return ContentMask.link(webhook.url) }
        // The config rejects a user name in a URL.
        return String(webhook.url.prefix { $0 != "?" && $0 != "#" })
    }
}

extension JSONWriter {
    /// Writes one destination as an object. Absent values have no member. `hidesPath`: for an operator who may not read
    /// content. `now`: the clock of the queue.
    package mutating func destination(_ view: DestinationView, hidesPath: Bool = false, now: Date) {
        object { json in
            json.member("name", view.name.name)
            json.member("state", view.state)
            json.member("cause", view.cause)
            json.member("since", view.status?.since)
            json.member("until", view.status?.until)
            json.member("reason", view.status?.reason)
            json.member("waiting", view.gauges?.waiting ?? 0)
            json.member("dead", view.gauges?.dead ?? 0)
            json.member("oldestDue", view.gauges?.oldestDue)
            if let held = view.held { json.member("held", held) }
            if let lane = view.lane { json.members(of: lane, now: now, hidesReason: hidesPath) }
            guard let config = view.config else { return }
            json.member("concurrency", config.concurrency)
            json.member("url", view.url(hidesPath: hidesPath))
            if case .inbox = config.endpoint { json.member("builtin", "inbox") }
        }
    }

    /// `hidesReason`: a reason may quote the answer of the destination, which may repeat texts. `breaker.probeAt` is
    /// present while the breaker is open, and `latencyMs` after the first attempt.
    private mutating func members(of lane: LaneSnapshot, now: Date, hidesReason: Bool) {
        member("inFlight", lane.inFlight)
        object("breaker") { json in
            json.member("state", lane.breaker.rawValue)
            json.member("failures", lane.failures)
            json.member("probeAt", lane.probeIn.map { now.addingTimeInterval($0 / .seconds(1)) })
        }
        object("rate") { json in
            if let limit = lane.limit { json.member("limit", double: limit) }
            json.member("now", double: lane.attemptsPerSecond)
        }
        if let latency = lane.latency {
            object("latencyMs") { json in
                json.member("p50", latency.p50)
                json.member("p95", latency.p95)
                json.member("p99", latency.p99)
            }
        }
        end("lastSuccess", lane.lastSuccess, hidesReason: hidesReason)
        end("lastFailure", lane.lastFailure, hidesReason: hidesReason)
    }

    /// Writes no member before the first attempt with this result.
    private mutating func end(_ name: StaticString, _ end: LaneSnapshot.End?, hidesReason: Bool) {
        guard let end else { return }
        key(name)
        object { json in
            json.member("at", end.at)
            if let status = end.status { json.member("status", status) }
            json.member("error", end.error)
            json.member("reason", end.reason.map { hidesReason ? ContentMask.hidden : $0 })
        }
    }
}
