import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

/// Writes server-sent events (WHATWG HTML, 9.2). Each frame is at most some kilobytes: lists and texts are cut. The
/// names of frames are `event`, `delivery`, `destination`, `gap` and `stats`. An `id` is a position, which a reader
/// sends back as `last-event-id`.
struct LiveFrames {
    /// Whole frames in UTF-8; empty until the first one.
    private(set) var bytes: [UInt8] = []
    private let cursor: (RecentPosition) -> String

    /// The most entries of a list in a frame.
    private static let longestList = 20
    /// Unicode scalars of a text in a frame.
    private static let longestText = 200

    /// `cursor`: a position as readers send it in `last-event-id`.
    init(cursor: @escaping (RecentPosition) -> String) { self.cursor = cursor }

    /// The first bytes of a stream. A reader that loses the connection before the first frame resumes here.
    mutating func begin(at position: RecentPosition) { append(": connected\nid: \(cursor(position))\n\n") }

    /// A comment that keeps the connection open; a failed write shows that the reader has gone.
    mutating func ping() { append(": ping\n\n") }

    /// `dropped`: the number of missing occurrences, the only member of the data. `position`: everything up to it was
    /// sent or is missing, so a reader resumes after it; nil for a gap before a frame.
    mutating func gap(_ dropped: Int, at position: RecentPosition? = nil) {
        frame("gap", at: position, .json { $0.object { $0.member("dropped", dropped) } })
    }

    /// The name of the frame is the kind of the entry, and its `id` the position after it. `hidesContent`: titles and
    /// reasons become ``ContentMask/hidden``.
    mutating func entry(_ entry: RecentEntry, hidesContent: Bool) {
        let data = [UInt8].jsonObject(capacity: 512) { json in
            switch entry.item {
            case .event(let event): Self.write(event, hidesContent: hidesContent, into: &json)
            case .delivery(let delivery): Self.write(delivery, hidesContent: hidesContent, into: &json)
            case .destination(let change): Self.write(change, into: &json)
            }
        }
        frame(entry.kind.rawValue, at: entry.position, data)
    }

    /// Writes no frame for a second without a count. The data has the counts of the last complete second by group and
    /// name. The frame has no `id`, because counts do not move the position of a reader.
    mutating func stats(_ series: ActivityCounts.Series) {
        guard series.sums.values.contains(where: { !$0.isEmpty }) else { return }
        let data = [UInt8].jsonObject { json in
            json.member("at", series.from)
            for group in ActivityCounts.Group.allCases {
                json.key(group.rawValue)
                json.object(of: series.sums[group] ?? [:]) { $0.integer($1.last ?? 0) }
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

    /// Values of an event's bytes. All are absent if the bytes cannot be read.
    private struct Parts {
        var time, type, subject, title: String?
        /// JSON Pointers by which the vendor was recognised.
        var evidence: [String] = []

        /// The most pointers of a frame.
        private static let mostEvidence = 3

        /// The title is that of the notification; without one, its body.
        init(_ body: [UInt8], with parser: JSONParser) {
            guard let event = EventDocument(body, with: parser) else { return }
            (time, type, subject) = (event.text("time"), event.text("type"), event.text("subject"))
            title = event.text("data", "content", "title") ?? event.text("data", "content", "body")
            evidence = event.withRoot { root, _ in
                let all = root["data"]?["detection"]?["evidence"]?.elements.compactMap(\.string) ?? []
                return Array(all.prefix(Self.mostEvidence))
            }
        }
    }

    /// The first ``longestText`` scalars, or ``ContentMask/hidden`` instead of all of them.
    private static func shown(_ text: String, hidesContent: Bool) -> String {
        hidesContent ? ContentMask.hidden : text.beginning(ofScalars: longestText)
    }

    /// Routes and warnings beyond ``longestList`` are left out without a mark. `bytes` is the size of the whole event.
    private static func write(_ event: RecentEvent, hidesContent: Bool, into json: inout JSONWriter) {
        let parts = ParserPool.events.withParser { Parts(event.body, with: $0) }
        json.member("id", event.id.description)
        json.member("time", parts.time)
        json.member("source", event.source.name)
        json.member("type", parts.type)
        json.member("subject", parts.subject)
        json.member("vendor", event.vendor.name)
        json.member("kind", event.kind.rawValue)
        json.member("title", parts.title.map { shown($0, hidesContent: hidesContent) })
        json.member("evidence", parts.evidence)
        json.member("warnings", Array(event.warnings.prefix(longestList)))
        json.member("routes", event.routes.prefix(longestList).map { $0.beginning(ofScalars: longestText) })
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
        json.member("reason", change.reason.map { $0.beginning(ofScalars: longestText) })
    }
}
