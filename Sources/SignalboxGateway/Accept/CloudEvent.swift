package import Foundation
import SignalboxJSON
package import SignalboxNotification

/// The source and the time of received payloads. All payloads of one request, or of one block of a recording, share
/// it.
package struct Reception: Sendable {
    /// The second part of `source` in the events.
    package let source: SourceName
    /// The `time` of the events.
    package let receivedAt: Date
    /// The vendor of all payloads of this source, if the config names one.
    package let vendor: VendorID?
    /// The trace of the request, which its events carry on; nil for none.
    let trace: RequestTrace?

    /// `source` is the name that the token or the path of the request selects. `vendor`: nil to detect the vendor.
    /// `trace`: of the request; nil for none.
    package init(from source: SourceName, at receivedAt: Date, vendor: VendorID? = nil, trace: RequestTrace? = nil) {
        (self.source, self.receivedAt, self.vendor, self.trace) = (source, receivedAt, vendor, trace)
    }
}

/// The CloudEvents 1.0 envelope, in structured JSON, of all notifications of one reception. Their common attributes
/// are written once.
///
/// Attributes have the order `specversion`, `id`, `source`, `type`, `subject`, `time`, `datacontenttype`,
/// `dataschema`, `data`; those of a trace follow `specversion`. Other code depends on these positions, and on `data`
/// being the last. Source: github.com/cloudevents/spec, v1.0.2, spec.md and formats/json-format.md
package struct CloudEventEnvelope: Sendable {
    let reception: Reception
    private let untilSubject: [UInt8]
    private let time: String

    /// The attributes from `source` to the key of `subject`, which all events of a source share.
    struct Opening: Sendable {
        fileprivate let bytes: [UInt8]

        /// `gateway`: the first part of `source`.
        init(gateway: String, source: SourceName) {
            var json = JSONWriter()
            json.key("source")
            json.string("/signalbox/" + gateway, "/", source.name)
            json.key("type")
            json.string("io.signalbox.notification.received" as StaticString)
            json.key("subject")
            bytes = json.bytes
        }
    }

    /// From the opening brace to the key of `id`.
    private static let untilID: [UInt8] = {
        var json = JSONWriter()
        json.beginObject()
        json.key("specversion")
        json.string("1.0" as StaticString)
        json.key("id")
        return json.bytes
    }()

    /// Writes the same with the attributes of the trace.
    private static func beginTraced(_ trace: RequestTrace, id: EventID, into json: inout JSONWriter) {
        json.beginObject()
        json.key("specversion")
        json.string("1.0" as StaticString)
        json.traceAttributes(of: trace, event: id)
        json.key("id")
    }

    /// From `datacontenttype` to the key of `data`.
    private static let untilData: [UInt8] = {
        var json = JSONWriter()
        json.key("datacontenttype")
        json.string("application/json" as StaticString)
        json.key("dataschema")
        json.string("urn:signalbox:schema:notification:1" as StaticString)
        json.key("data")
        return json.bytes
    }()

    /// `opening`: of the reception's source.
    init(_ opening: Opening, reception: Reception) {
        self.reception = reception
        time = Timestamp(reception.receivedAt).text
        untilSubject = opening.bytes
    }

    /// Writes a complete event, as it is stored, signed and sent. Appends one line without a line end. `id` and
    /// `notification` are the only parts that differ between events.
    func write(_ notification: borrowing PushNotification, id: EventID, into json: inout JSONWriter) {
        if let trace = reception.trace {
            Self.beginTraced(trace, id: id, into: &json)
        } else {
            json.fragment(Self.untilID)
        }
        json.id(id)
        json.fragment(untilSubject)
        json.string(notification.vendor.name, "/", notification.kind.rawValue)
        json.key("time")
        json.string(time)
        json.fragment(Self.untilData)
        json.notification(notification)
        json.endObject()
    }
}
