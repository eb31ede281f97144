import Foundation
import SignalboxGateway
import SignalboxNotification
import SignalboxStore

/// Metrics of deliveries and destinations.
extension Metric {
    /// Metrics of deliveries. Those of attempts have series for fewer destinations; see ``GatewayCounters``.
    static let deliveries: [Metric] = [
        perDestination(
            "signalbox_deliveries_accepted_total", .counter, "Deliveries created; survives restarts."
        ) { gauges, _ in Double(gauges.accepted) },
        Metric(
            "signalbox_deliveries_ended_total", .counter, ["destination", "outcome"],
            "Deliveries that ended since the start.",
            samples: { values in
                guard let gauges = values.queue?.gauges else { return [] }
                let ends = values.ends
                let counted = MetricValues.counted(values.destinations, gauges)
                return counted.flatMap { destination in
                    DeliveryRecord.State.allCases.filter { $0 != .waiting }.map {
                        Sample([destination.name, $0.rawValue], ends[destination]?[$0] ?? 0)
                    }
                }
            }),
        Metric(
            "signalbox_delivery_attempts_total", .counter, ["destination", "outcome", "error"],
            "Attempts since the start, one for each delivery of a request.",
            samples: { values in
                values.attempts.flatMap { destination, counters in
                    counters.values.map { Sample([destination.name, $0.outcome.label, $0.error], $0.count) }
                }
            }),
        Metric(
            "signalbox_delivery_attempt_duration_seconds", .histogram, ["destination"],
            "Time of a request to a destination.",
            samples: { $0.attempts.map { Sample([$0.key.name], $0.series.durations) } }),
        Metric(
            "signalbox_delivery_lag_seconds", .histogram, ["destination"],
            "Time from the first moment a delivery could be sent (its acceptance, or the start of its schedule) to its "
                + "success.",
            samples: { $0.attempts.map { Sample([$0.key.name], $0.series.lags) } }),
        perDestination(
            "signalbox_deliveries_waiting", .gauge, "Deliveries that have not ended."
        ) { gauges, _ in Double(gauges.waiting) },
        perDestination("signalbox_deliveries_dead", .gauge, "Dead letters.") { gauges, _ in Double(gauges.dead) },
        perDestination("signalbox_oldest_due_seconds", .gauge, "Age of the oldest overdue delivery, in seconds.") {
            gauges, now in
            gauges.oldestDue.map { max(0, now.timeIntervalSince($0)) } ?? 0
        },
    ]

    /// Metrics of destinations.
    static let destinations: [Metric] = [
        Metric(
            "signalbox_destination_up", .gauge, ["destination"],
            "1 while a destination accepts deliveries, 0 while it is paused, disabled or without permission, while its "
                + "circuit breaker is open, or while deliveries wait for a destination that is not in the config; "
                + "signalbox_destination_state tells the causes apart."
        ) { values in
            values.states.map { name, status in
                ([name.name], values.left.contains(name) || status?.isDown ?? false ? 0 : 1)
            }
        },
        Metric(
            "signalbox_destination_state", .gauge, ["destination", "state"],
            "1 for the current state of a destination, 0 for the others."
        ) { values in
            values.states.flatMap { name, status in
                let current = status?.word ?? (values.left.contains(name) ? DestinationView.unknown : "active")
                let words = DestinationStatus.words + [DestinationView.unknown]
                return words.map { ([name.name, $0], $0 == current ? 1.0 : 0) }
            }
        },
        Metric(
            "signalbox_destination_in_flight", .gauge, ["destination"], "Deliveries with an attempt in progress.",
            samples: { $0.attempts.map { Sample([$0.key.name], $0.series.inFlight.value) } }),
    ]
}
