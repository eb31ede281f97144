package import Foundation
import SignalboxNotification
import SignalboxRouting
package import SignalboxStore

/// The table of `signalbox events list`.
package enum EventTable {
    /// The heading of ``row(_:)``.
    package static let heading =
        "TIME                      ID                                    SOURCE            SUBJECT                 DELIVERIES            TITLE"

    /// One event as a row. Control characters of texts become spaces, because payloads are not trusted. An event
    /// without a delivery has `none` as its deliveries.
    package static func row(_ record: EventRecord) -> String {
        TextTable.row(
            [
                Timestamp(record.acceptedAt).text, record.id, record.source.name, EventLine.printable(record.subject),
                deliveries(record), EventLine.printable(EventSummary(record).title ?? ""),
            ], widths: [24, 36, 16, 22, 20])
    }

    private static func deliveries(_ record: EventRecord) -> String {
        let counts = DeliveryRecord.State.allCases.compactMap { state in
            record.deliveries[state].map { "\($0) \(state.rawValue)" }
        }
        return counts.isEmpty ? "none" : counts.joined(separator: ", ")
    }
}

/// The text of `signalbox events show`.
extension EventDetail {
    /// The event, each route with its reason, each delivery with its attempts, the taps and the files. `attempts`: by
    /// delivery. `waits`: explains why deliveries wait. Lines have no line end. Control characters become spaces.
    package func lines(attempts: [Int64: [AttemptRecord]], waits: DeliveryWaits, now: Date = Date()) -> [String] {
        let summary = EventSummary(record)
        let payload = record.hasPayload ? "payload stored" : "payload not stored"
        var lines = [
            "Event", "  \(record.id)  \(record.subject)  \(Timestamp(record.acceptedAt).text)",
            "  from \(record.source.name), \(record.body.count) bytes, \(payload)",
        ]
        if let title = summary.title { lines.append("  \(title)") }
        lines += summary.warnings.map { "  warning \($0)" }
        lines.append("Routes of the active config")
        lines += routes.map { $0.routes.map { "  \($0.name): \($0.verdict.words)" } } ?? ["  too costly to evaluate"]
        lines.append(deliveries.isEmpty ? "Deliveries: none" : "Deliveries")
        for delivery in deliveries {
            lines.append("  " + waits.row(delivery, now: now) + (delivery.isManual ? "  (manual)" : ""))
            lines += (attempts[delivery.id] ?? []).map { "    " + $0.line }
        }
        if !interactions.isEmpty { lines.append("Interactions") }
        lines += interactions.map {
            "  \(Timestamp($0.time).text)  \($0.action ?? "?")  \($0.outcome ?? "?")  \($0.id)"
        }
        if !media.isEmpty { lines.append("Files") }
        lines += media.map { file in
            ["  \(file.state)", file.url, file.sha256, file.reason].compactMap(\.self).joined(separator: "  ")
        }
        return lines.map { EventLine.printable($0) }
    }

    /// The attempts of its deliveries, by delivery.
    package func attempts(in queue: any InspectionStore) async throws(StoreError) -> [Int64: [AttemptRecord]] {
        var attempts: [Int64: [AttemptRecord]] = [:]
        for delivery in deliveries { attempts[delivery.id] = try await queue.attempts(of: delivery.id) }
        return attempts
    }
}

extension AttemptRecord {
    /// The attempt in words.
    package var line: String {
        let time = startedAt.map { Timestamp($0).text }
        let answer = status.map { "answered \($0)" } ?? error
        let length = duration.map { "after \($0) ms" }
        return (["attempt \(number)", time, answer, length, reason].compactMap(\.self)).joined(separator: "  ")
    }
}
