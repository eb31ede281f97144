import Foundation
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

/// Writes server-sent events (WHATWG HTML, 9.2). Each frame is at most some kilobytes: lists and texts are cut.
struct LiveFrames {
    private(set) var bytes: [UInt8] = []
    private let cursor: (RecentPosition) -> String

    /// Entries of a list in a frame.
    private static let longestList = 20
    /// Characters of a text in a frame.
    private static let longestText = 200

    /// `cursor`: a position as readers send it in `last-event-id`.
    init(cursor: @escaping (RecentPosition) -> String) { self.cursor = cursor }

    /// The first bytes of a stream. A reader that loses the connection before the first frame resumes here.
    mutating func begin(at position: RecentPosition) { append(": connected\nid: \(cursor(position))\n\n") }

    /// A comment, which keeps the connection and tells that the reader is gone.
    mutating func ping() { append(": ping\n\n") }

    /// `position`: everything up to it was sent or is missing; nil for a gap before a frame.
    mutating func gap(_ dropped: Int, at position: RecentPosition? = nil) {
        frame("gap", at: position, .json { $0.object { $0.member("dropped", dropped) } })
    }

    mutating func entry(_ entry: RecentEntry, hidesContent: Bool) {
        let data = [UInt8].json(capacity: 512) { json in
            json.object { json in
                switch entry.item {
                case .event(let event): Self.write(event, hidesContent: hidesContent, into: &json)
                case .delivery(let delivery): Self.write(delivery, hidesContent: hidesContent, into: &json)
                case .destination(let change): Self.write(change, into: &json)
                }
            }
        }
        frame(entry.kind.rawValue, at: entry.position, data)
    }

    /// Writes no frame for a second without a count.
    mutating func stats(_ series: ActivityCounts.Series) {
        guard series.sums.values.contains(where: { !$0.isEmpty }) else { return }
        let data = [UInt8].json { json in
            json.object { json in
                json.member("at", series.from)
                for group in ActivityCounts.Group.allCases {
                    json.key(group.rawValue)
                    json.object { json in
                        for (name, sums) in (series.sums[group] ?? [:]).sorted(by: { $0.key < $1.key }) {
                            json.key(name)
                            json.integer(sums.last ?? 0)
                        }
                    }
                }
            }
        }
        frame("stats", at: nil, data)
    }

    /// JSON without line ends, so that it is one field.
    private mutating func frame(_ name: String, at position: RecentPosition?, _ data: [UInt8]) {
        if let position { append("id: \(cursor(position))\n") }
        append("event: \(name)\ndata: ")
        bytes += data
        append("\n\n")
    }

    private mutating func append(_ text: String) { bytes += Array(text.utf8) }

    // MARK: Data

    private static func shown(_ text: String, hidesContent: Bool) -> String {
        hidesContent ? ContentMask.hidden : String(text.prefix(longestText))
    }

    private static func write(_ event: RecentEvent, hidesContent: Bool, into json: inout JSONWriter) {
        let parts = ParserPool.events.withParser { parser -> [String?] in
            guard let document = EventDocument(event.body, with: parser) else { return [nil, nil, nil, nil] }
            let title = document.text("data", "content", "title") ?? document.text("data", "content", "body")
            return [document.text("time"), document.text("type"), document.text("subject"), title]
        }
        json.member("id", event.id.description)
        json.member("time", parts[0])
        json.member("source", event.source.name)
        json.member("type", parts[1])
        json.member("subject", parts[2])
        json.member("vendor", event.vendor.name)
        json.member("kind", event.kind.rawValue)
        json.member("title", parts[3].map { shown($0, hidesContent: hidesContent) })
        json.member("warnings", Array(event.warnings.prefix(longestList)))
        json.member("routes", event.routes.prefix(longestList).map { String($0.prefix(longestText)) })
        json.member("bytes", event.body.count)
    }

    /// A reason may quote the answer of the destination, which may repeat texts.
    private static func write(_ delivery: RecentDelivery, hidesContent: Bool, into json: inout JSONWriter) {
        json.member("event", delivery.event)
        json.member("destination", delivery.destination.name)
        json.member("at", delivery.at)
        json.member("attempt", delivery.attempt)
        json.member("outcome", delivery.outcome.rawValue)
        if let status = delivery.status { json.member("status", status) }
        json.member("error", delivery.error)
        json.member("reason", delivery.reason.map { shown($0, hidesContent: hidesContent) })
        if let duration = delivery.duration { json.member("durationMs", duration) }
    }

    private static func write(_ change: DestinationChange, into json: inout JSONWriter) {
        json.member("name", change.name.name)
        json.member("at", change.at)
        json.member("state", change.state)
        json.member("reason", change.reason.map { String($0.prefix(longestText)) })
    }
}
