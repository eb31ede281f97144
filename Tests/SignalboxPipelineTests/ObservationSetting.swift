import Foundation
import SignalboxNotification
import SignalboxStore
import Synchronization

@testable import SignalboxGateway

/// An observation whose clock a test moves.
struct ObservationSetting {
    let observation: Observation
    private let time = ManualNanoseconds()

    /// The wall clock at the start: a whole second.
    static let start = Date(timeIntervalSince1970: 1_800_000_000)

    init(recent: Int = 1_000) {
        observation = Observation(
            recent: recent, clock: ObservationClock(start: Self.start) { [time] in time.now })
    }

    /// Nanoseconds of the clock.
    var now: Int64 { time.now }

    func advance(by duration: Duration) { time.advance(by: duration) }

    /// Nanoseconds that only a test moves.
    private final class ManualNanoseconds: Sendable {
        // A class because the clock and the test share the number.
        private let value = Atomic<Int64>(5_000_000_000)

        var now: Int64 { value.load(ordering: .relaxed) }

        func advance(by duration: Duration) {
            value.add(Int64(duration / .nanoseconds(1)), ordering: .relaxed)
        }
    }

    // MARK: Values

    static func event(
        of vendor: String = "mce", number: UInt64 = 0, title: String = "Hello", custom: String = "{}",
        warnings: [String] = [], sampling: Event.Sampling = .undecided
    ) -> RoutedEvent {
        let id = EventID(at: start, random: (number, number))
        let body =
            #"{"specversion":"1.0","id":"\#(id)","source":"/signalbox/test/mobile","#
            + #""type":"io.signalbox.notification.received","subject":"\#(vendor)/alert","#
            + #""time":"2027-01-15T08:00:00.000Z","data":{"vendor":"\#(vendor)","kind":"alert","#
            + #""content":{"title":"\#(title)"},"custom":\#(custom)}}"#
        var event = Event(
            id: id, source: SourceName("mobile"), acceptedAt: start, vendor: VendorID(vendor), kind: .alert,
            warnings: warnings, body: Array(body.utf8))
        event.sampling = sampling
        return RoutedEvent(event: event, routes: ["all"], deliveries: [])
    }

    static func settlement(_ outcome: Outcome, to destination: String = "crm") -> Settlement {
        let lease = Lease(
            delivery: 1, event: "e1", destination: DestinationName(destination), attempts: 0, body: [])
        return Settlement(lease, outcome, attempt: Attempt(startedAt: start, duration: .milliseconds(12)))
    }
}
