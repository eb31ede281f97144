import SignalboxGateway

/// The values of the metrics of in-app messages.
/// Read once for each page of metrics, so that its lines belong together.
struct InAppValues: Sendable {
    /// Since the start of the process; a restart begins at zero.
    let counts: InAppCounts.Values
    /// Messages for all devices. Addressed ones are read with their user's or device's rows and are not counted.
    let messages: (active: Int, skipped: Int)

    /// Reads the counts of this process.
    init(_ flow: InAppFlow) {
        counts = flow.shared.counts.current
        messages = flow.shared.messages.counts
    }
}

/// In-app messages have metrics of their own; their events also count in those of routes and destinations.
extension Metric {
    /// Metrics of in-app messages, in the order of the page.
    /// Labels come from closed sets: results, vendors with a reader of their own, outcomes and replies. No metric
    /// names a message, a user or a device.
    static let inApp: [Metric] = [
        Metric(
            "signalbox_inapp_decisions_total", .counter, ["result"],
            "Answered triggers and slots by result, since the start."
        ) { values in
            InAppCounts.Result.allCases.map { ([$0.rawValue], Double(values.inApp.counts.decisions[$0] ?? 0)) }
        },
        Metric(
            "signalbox_inapp_offers_total", .counter, ["vendor"], "Offered in-app messages by vendor, since the start."
        ) { values in InAppCounts.vendors.map { ([$0], Double(values.inApp.counts.offers[$0] ?? 0)) } },
        Metric(
            "signalbox_inapp_reports_total", .counter, ["outcome"],
            "Accepted reports about offers by outcome, since the start."
        ) { values in
            ReportForm.Outcome.allCases.map { ([$0.rawValue], Double(values.inApp.counts.reports[$0.rawValue] ?? 0)) }
        },
        Metric(
            "signalbox_inapp_replies_total", .counter, ["reply"],
            "Reports about offers by their reply, since the start."
        ) { values in
            InAppCounts.Reply.allCases.map { ([$0.rawValue], Double(values.inApp.counts.replies[$0] ?? 0)) }
        },
        Metric(
            "signalbox_inapp_events_fallback_total", .counter, [],
            "In-app events sent to the fallback because their routing took too much work, since the start."
        ) { [([], Double($0.inApp.counts.costly))] },
        Metric("signalbox_inapp_messages", .gauge, [], "Active in-app messages for all devices.") {
            [([], Double($0.inApp.messages.active))]
        },
        Metric(
            "signalbox_inapp_messages_skipped", .gauge, [],
            "Stored in-app messages that the config does not permit or that exceed a bound."
        ) { [([], Double($0.inApp.messages.skipped))] },
        optional("signalbox_inapp_devices_due", "Devices with overdue in-app offers, at most 1,000.") {
            ($0.queue?.dueDevices).map { Double($0) }
        },
    ]
}
