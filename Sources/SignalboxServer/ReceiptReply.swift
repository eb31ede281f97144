import HTTPTypes
import Hummingbird
import SignalboxJSON
import SignalboxModel
import SignalboxPipeline

/// The answer to somebody who handed in payloads: what each one was taken for, and where it goes.
struct ReceiptReply {
    private let report: Intake.Report

    init(_ report: Intake.Report) { self.report = report }

    /// 202 with the receipt of the only payload.
    static func one(_ event: RoutedEvent) -> Response {
        var json = JSONWriter()
        json.receipt(event)
        return .json(.accepted, json.bytes)
    }

    /// 202 when all were taken, else 207; the items stand in the order of the payloads.
    var batch: Response {
        let rejected = report.items.count { if case .failure = $0 { true } else { false } }
        var json = JSONWriter(reservingCapacity: 256 * report.items.count)
        json.beginObject()
        json.key("accepted")
        json.integer(report.items.count - rejected)
        json.key("rejected")
        json.integer(rejected)
        json.key("items")
        json.beginArray()
        for item in report.items {
            switch item {
            case .success(let event): json.receipt(event)
            case .failure(let rejection): json.rejection(rejection)
            }
        }
        json.endArray()
        json.endObject()
        return .json(
            rejected == 0 ? .accepted : HTTPResponse.Status(code: 207, reasonPhrase: "Multi-Status"), json.bytes)
    }
}

extension JSONWriter {
    fileprivate mutating func receipt(_ routed: RoutedEvent) {
        beginObject()
        key("id")
        string(routed.event.id.description)
        key("vendor")
        string(routed.event.vendor.name)
        key("kind")
        string(routed.event.kind.rawValue)
        key("routes")
        strings(routed.routes)
        key("destinations")
        strings(routed.destinations.map(\.name))
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
