package import Foundation
import SignalboxNotification
package import SignalboxStore

/// One stored event with all that is known about it.
package struct EventDetail: Sendable {
    /// A report of a tap on the event's notification.
    package struct Interaction: Sendable, Equatable {
        /// The id of the event about the tap.
        package let id: String
        /// When the gateway accepted the report.
        package let time: Date
        /// The identifier of the button, or that of the notification itself.
        package let action: String?
        /// The gateway's action, such as `passed` or `snoozed`.
        package let outcome: String?
    }

    /// A file that the event names.
    package struct File: Sendable, Equatable {
        package let url: String
        /// The state of the download: `wanted`, `waiting`, `stored` or `failed`; `none` if it was never requested.
        package let state: String
        /// Of the last stored file.
        package let sha256: String?
        /// The code of the last failure.
        package let reason: String?
    }

    package let record: EventRecord
    /// The oldest first, at most ``mostDeliveries``.
    package let deliveries: [DeliveryRecord]
    /// The decision of each route of the active config; nil if it takes too much work.
    package let routes: RouteTrial?
    /// The oldest first, at most ``mostInteractions``.
    package let interactions: [Interaction]
    /// Each URL once, in the order of the event, at most ``mostFiles``.
    package let media: [File]
    /// The trace id of the attribute `traceparent`, 32 hexadecimal digits; nil without one.
    package let trace: String?

    package static let mostDeliveries = 500
    package static let mostInteractions = 500
    package static let mostFiles = 100

    /// Reads an event; nil for an unknown id. `routes`: evaluates the routes for the stored event.
    package init?(
        _ id: String, in queue: any InspectionStore, routes trial: (EventRecord) -> RouteTrial?
    ) async throws(StoreError) {
        guard let record = try await queue.eventRecord(id) else { return nil }
        self.record = record
        deliveries = Array(
            try await queue.deliveries(DeliveryFilter(event: id), limit: Self.mostDeliveries).reversed())
        interactions = try await queue.reports(onEvent: id, limit: Self.mostInteractions).map { Interaction($0) }
        let named = Self.references(in: record.body)
        let known = try await queue.mediaURLs(named: named.urls)
        media = named.urls.map { url in File(url, known.first { $0.url == url }) }
        trace = named.trace
        routes = trial(record)
    }

    /// The URLs of the files, and the trace of the event.
    private static func references(in body: [UInt8]) -> (urls: [String], trace: String?) {
        guard let event = EventDocument(body) else { return ([], nil) }
        var urls: [String] = []
        for url in event.elements(["data", "media"], "url").compactMap(\.[0]) where !urls.contains(url) {
            urls.append(url)
            if urls.count == mostFiles { break }
        }
        let parts = event.text("traceparent")?.split(separator: "-") ?? []
        return (urls, parts.count >= 4 && parts[1].utf8.count == 32 ? String(parts[1]) : nil)
    }
}

extension EventDetail.Interaction {
    fileprivate init(_ record: EventRecord) {
        let event = EventDocument(record.body)
        self.init(
            id: record.id, time: record.acceptedAt, action: event?.text("data", "actionIdentifier"),
            outcome: event?.text("data", "outcome"))
    }
}

extension EventDetail.File {
    fileprivate init(_ url: String, _ record: MediaURLRecord?) {
        let state = record.map { $0.state == .resting ? "waiting" : $0.state.rawValue } ?? "none"
        self.init(url: url, state: state, sha256: record?.sha256, reason: record?.failure?.code.rawValue)
    }
}

extension RouteTrials {
    /// The decision on a stored event; nil if it takes too much work.
    package func trial(of record: EventRecord) -> RouteTrial? {
        do throws(Rejection) { return try trial(of: record.body, from: record.source, at: record.acceptedAt) } catch {
            return nil
        }
    }
}
