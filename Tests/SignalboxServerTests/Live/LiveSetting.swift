import Foundation
import SignalboxNotification
import SignalboxStore
import Synchronization

@testable import SignalboxGateway
@testable import SignalboxServer

/// An observation whose clock a test moves, and one reader of it.
struct LiveSetting {
    let observation: Observation
    private let time = Nanoseconds()

    static let start = Date(timeIntervalSince1970: 1_800_000_000)

    init() {
        observation = Observation(
            clock: ObservationClock(start: Self.start) { [time] in time.value.load(ordering: .relaxed) })
    }

    private final class Nanoseconds: Sendable {
        // A class because the clock and the test share the number.
        let value = Atomic<Int64>(0)
    }

    var now: Int64 { time.value.load(ordering: .relaxed) }

    func advance(by duration: Duration) { time.value.add(Int64(duration / .nanoseconds(1)), ordering: .relaxed) }

    func session(_ selection: LiveSelection = LiveSelection(), after cursor: String? = nil) -> LiveSession {
        LiveSession(
            selection, of: observation, after: cursor.flatMap { observation.recent.position(ofCursor: $0) }, at: now)
    }

    /// Accepts events of a vendor.
    func accept(_ count: Int = 1, of vendor: String = "mce", title: String = "Hello") {
        // The first ones only may be shown.
        let events = (0..<min(count, 300)).map { _ in
            let id = EventID(at: Self.start, random: (.random(in: 0 ... .max), .random(in: 0 ... .max)))
            let body =
                #"{"specversion":"1.0","id":"\#(id)","type":"io.signalbox.notification.received","#
                + #""subject":"\#(vendor)/alert","time":"2027-01-15T08:00:00.000Z","#
                + #""data":{"vendor":"\#(vendor)","content":{"title":"\#(title)"}}}"#
            let event = Event(
                id: id, source: SourceName("mobile"), acceptedAt: Self.start, vendor: VendorID(vendor), kind: .alert,
                warnings: ["x.y"], body: Array(body.utf8))
            return RoutedEvent(event: event, routes: ["all"], deliveries: [])
        }
        observation.accepted(EventTally(events, without: [:]))
        guard let last = events.last, count > events.count else { return }
        observation.accepted(EventTally(Array(repeating: last, count: count - events.count), without: [:]))
    }

    /// The frames of some bytes.
    static func frames(_ bytes: [UInt8]) -> [Frame] {
        String(decoding: bytes, as: UTF8.self).components(separatedBy: "\n\n").dropLast().map { Frame($0) }
    }

    struct Frame {
        var id: String?
        var event: String?
        var data: [String: Any] = [:]
        var comment: String?

        init(_ text: String) {
            for line in text.split(separator: "\n") {
                if let id = line.value(of: "id: ") { self.id = id }
                if let event = line.value(of: "event: ") { self.event = event }
                if let comment = line.value(of: ": ") { self.comment = comment }
                if let data = line.value(of: "data: ") {
                    let object = try? JSONSerialization.jsonObject(with: Data(data.utf8))
                    self.data = object as? [String: Any] ?? [:]
                }
            }
        }
    }
}

extension Substring {
    fileprivate func value(of prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }
}
