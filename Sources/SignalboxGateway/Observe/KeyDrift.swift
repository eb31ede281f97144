package import Foundation
import SignalboxJSON
import SignalboxNotification
import Synchronization

/// The keys of payloads that no detector reads, by vendor, with the time at which each was seen first.
///
/// A class because a service records and requests read. Examines the sampled events of ``RecentLog``, so a key of a
/// rare event may be noticed late. The record outlives a restart (``KnownKeysFile``).
package final class KeyDrift: Sendable {
    /// The most vendors; further ones share ``ActivityCounts/other``.
    static let mostVendors = 200

    /// Everything known at one time.
    package struct Snapshot: Sendable, Equatable {
        /// When the record began; a key seen before has an unknown first time.
        package var since: Date
        package var vendors: [String: VendorKeys] = [:]
    }

    private struct State {
        var snapshot: Snapshot
        /// Whether a key was recorded since ``takeChange()``.
        var isChanged = false
    }

    private let state: Mutex<State>

    /// A record that begins now.
    init(since: Date) { state = Mutex(State(snapshot: Snapshot(since: since))) }

    package var snapshot: Snapshot { state.withLock { $0.snapshot } }

    /// Continues the record of an earlier process. Call it before the first event.
    func restore(_ snapshot: Snapshot) { state.withLock { $0.snapshot = snapshot } }

    /// Whether there is anything to store since the last call.
    func takeChange() -> Bool { state.withLock { exchange(&$0.isChanged, with: false) } }

    /// Undoes ``takeChange()`` after a failed write, so that the next one has the same keys.
    func returnChange() { state.withLock { $0.isChanged = true } }

    /// Records the unread keys of an event about a notification; ignores all other events. Parses the event.
    func record(_ event: RecentEvent, at time: Date) {
        guard let pointers = Self.pointers(of: event.body), !pointers.isEmpty else { return }
        let milliseconds = Int64((time.timeIntervalSince1970 * 1000).rounded(.down))
        state.withLock { state in
            var name = event.vendor.name
            if state.snapshot.vendors[name] == nil, state.snapshot.vendors.count >= Self.mostVendors {
                name = ActivityCounts.other
            }
            state.snapshot.vendors[name, default: VendorKeys()].record(pointers, at: milliseconds)
            state.isChanged = true
        }
    }

    private static func pointers(of body: [UInt8]) -> [String: KeyType]? {
        ParserPool.events.withParser { parser in
            guard let event = EventDocument(body, with: parser),
                event.text("type") == "io.signalbox.notification.received"
            else { return nil }
            return event.withRoot { root, _ in root["data"]?["custom"].map { KeyPointers.of($0) } }
        }
    }
}
