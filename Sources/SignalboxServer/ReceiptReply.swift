import HTTPTypes
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxStore

/// The answer to somebody who handed in payloads: what each one was taken for, and where it goes.
struct ReceiptReply {
    private let report: Intake.Report

    init(_ report: Intake.Report) { self.report = report }

    /// For one payload 202 with its receipt; for a batch 202 when all were taken, else 207, with the items in the order of
    /// the payloads.
    var answer: StoredAnswer {
        if !report.isBatch, case .success(let event)? = report.items.first {
            var json = JSONWriter()
            json.receipt(event, duplicate: report.duplicates[0])
            return StoredAnswer(status: HTTPResponse.Status.accepted.code, body: json.bytes)
        }
        return .batch(report.items) { json, position, item in
            switch item {
            case .success(let event): json.receipt(event, duplicate: report.duplicates[position])
            case .failure(let rejection): json.rejection(rejection)
            }
        }
    }
}

extension JSONWriter {
    /// `duplicate`: the id of the earlier event that this one repeats.
    fileprivate mutating func receipt(_ routed: RoutedEvent, duplicate: String?) {
        beginObject()
        key("id")
        if let duplicate {
            string(duplicate)
            key("duplicate")
            bool(true)
        } else {
            id(routed.event.id)
        }
        key("vendor")
        string(routed.event.vendor.name)
        key("kind")
        string(routed.event.kind.rawValue)
        key("routes")
        strings(routed.routes)
        key("destinations")
        beginArray()
        for order in routed.deliveries { string(order.destination.name) }
        endArray()
        if !routed.event.warnings.isEmpty {
            key("warnings")
            strings(routed.event.warnings)
        }
        endObject()
    }

    fileprivate mutating func rejection(_ rejection: Rejection) {
        beginObject()
        key("line")
        integer(rejection.place.line)
        key("offset")
        integer(rejection.place.offset)
        key("error")
        Problem(rejection).write(into: &self)
        endObject()
    }
}
