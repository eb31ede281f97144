package import Foundation
package import SignalboxConfig
package import SignalboxNotification
package import SignalboxStore

/// Explains why deliveries wait, from the config and the status of their destinations. A value that is made once for
/// a list; it does not follow later changes. Needs the config because the queue does not know which destinations
/// exist and which of them have a rate.
package struct DeliveryWaits: Sendable {
    /// Nil without a config.
    private let destinations: [DestinationName: Destination]?
    private let statuses: [DestinationName: DestinationStatus]

    /// `statuses`: those of destinations that are not active. A destination
    /// that is missing in `statuses` counts as active. Traps if two destinations of the config have the same name,
    /// which the reader of the config rejects. `config`: without one, all destinations count as known.
    package init(_ config: GatewayConfig?, _ statuses: [DestinationName: DestinationStatus]) {
        destinations = config.map { Dictionary(uniqueKeysWithValues: $0.destinations.map { ($0.name, $0) }) }
        self.statuses = statuses
    }

    /// Why a delivery waits; nil if it has ended. `now`: decides whether the delivery is due already. The rule is
    /// ``DeliveryWait/init(of:status:isKnown:hasRate:at:)``, as in the operations API.
    package func wait(of record: DeliveryRecord, now: Date = Date()) -> DeliveryWait? {
        let destination = destinations?[record.destination]
        return DeliveryWait(
            of: record, status: statuses[record.destination], isKnown: destinations == nil || destination != nil,
            hasRate: destination?.perSecond != nil, at: now)
    }

    /// The heading of ``row(_:now:)``. The widths of its columns are those of the rows.
    package static let heading =
        "ID        STATE      ATTEMPTS  DESTINATION       SUBJECT                 NEXT / LAST ERROR"

    /// One delivery as a row of a table. Times are in UTC. A delivery that has ended shows its last error only. A
    /// waiting delivery shows the time of its next attempt if that is not due or an attempt has failed, its last
    /// error, the status of its destination, and its own reason to wait. Cells are not cut, so a long subject shifts
    /// the rest of its row. Control characters become spaces: reasons may quote receivers and operators.
    package func row(_ record: DeliveryRecord, now: Date = Date()) -> String {
        let next = record.state == .waiting && (record.due > now || record.reason != nil)
        let last = [next ? Timestamp(record.due).text : nil, record.reason].compactMap(\.self)
        var details = [last.joined(separator: " after: ")]
        if record.state == .waiting, let status = statuses[record.destination],
            record.reason == nil || record.reason != status.reason
        {
            details.append([status.word, status.reason].compactMap(\.self).joined(separator: ": "))
        }
        if let text = wait(of: record, now: now)?.detailText { details.append(text) }
        return TextTable.row(
            [
                String(record.id), record.state.rawValue, String(record.attempts), record.destination.name,
                record.subject, details.filter { !$0.isEmpty }.joined(separator: "; "),
            ].map { EventLine.printable($0) }, widths: [8, 9, 8, 16, 22])
    }
}

extension DeliveryWait {
    /// The reason in words, unless the destination's status or the time of the next attempt shows it. Nil for reasons
    /// that another column shows already. Times are RFC 3339 in UTC.
    fileprivate var detailText: String? {
        switch reason {
        case .inProgress: "attempt in progress or about to begin"
        case .unknownDestination: "the config has no such destination"
        case .media: "waits for files" + (until.map { " until \(Timestamp($0).text)" } ?? "")
        case .scheduled: "scheduled"
        case .predecessor: detail
        case .rateLimit: "due, within the rate of its destination"
        case .paused, .disabled, .noPermission, .retry, .breakerOpen, .retryAfter, .queued: nil
        }
    }
}

/// The table of `signalbox destinations list`.
package enum DestinationTable {
    /// The heading, and a row for each destination of the config or the queue. `statuses`: statuses of destinations
    /// that are not active. `counts`: deliveries that wait and dead letters, by destination. Rows are sorted by name.
    /// A destination that left the config has the state `unknown` unless it has a status. Lines have no line end.
    /// Control characters of reasons become spaces.
    package static func lines(
        _ config: GatewayConfig, _ statuses: [DestinationName: DestinationStatus],
        _ counts: [DestinationName: DestinationGauges]
    ) -> [String] {
        let known = Set(config.destinations.map(\.name))
        return ["DESTINATION       STATE         WAITING   DEAD      SINCE / WHY"]
            + known.union(counts.keys).sorted().map { name in
                let status = statuses[name]
                let next = status?.until.map { until in
                    "(\(status?.word == "paused" ? "until" : "next attempt at") \(Timestamp(until).text))"
                }
                let why = status.map { [Timestamp($0.since).text, $0.reason, next].compactMap(\.self) } ?? []
                return TextTable.row(
                    [
                        name.name, status?.word ?? (known.contains(name) ? "active" : "unknown"),
                        String(counts[name]?.waiting ?? 0), String(counts[name]?.dead ?? 0),
                        EventLine.printable(why.joined(separator: " ")),
                    ], widths: [16, 12, 8, 8])
            }
    }
}
