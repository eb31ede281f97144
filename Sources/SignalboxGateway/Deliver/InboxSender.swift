import Foundation
package import SignalboxStore

/// The built-in destination: shows every event on the gateway's terminal. Every delivery succeeds with status 204; it
/// makes no request and needs no permission.
package struct InboxSender: Sender {
    private let color: Bool
    private let asJSON: Bool
    private let show: @Sendable (String) -> Void

    /// `show` receives the lines of one event. `show` must not block, because a lane calls it; the gateway passes
    /// ``Terminal/show(_:)``. `asJSON`: shows each event as one line of JSON, unchanged.
    package init(color: Bool, asJSON: Bool = false, show: @escaping @Sendable (String) -> Void) {
        (self.color, self.asJSON, self.show) = (color, asJSON, show)
    }

    package func send(
        _ leases: [Lease], if mayBegin: @escaping @Sendable () -> Bool,
        whenDone done: @escaping @Sendable (_ result: @escaping @Sendable () -> SendResult?) -> Void
    ) {
        guard mayBegin() else { return done { nil } }
        let attempt = Attempt(startedAt: Date(), duration: .zero)
        for lease in leases {
            show(asJSON ? String(decoding: lease.body, as: UTF8.self) + "\n" : EventLine(color: color).text(lease.body))
        }
        done { SendResult(.replied(status: 204, retryAfter: nil), attempt) }
    }
}
