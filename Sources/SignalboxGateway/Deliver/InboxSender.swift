import Foundation
package import SignalboxStore

/// The built-in destination: shows every event on the gateway's terminal. Every delivery succeeds with status 204; it
/// makes no request and needs no permission.
package struct InboxSender: Sender {
    private let color: Bool
    private let show: @Sendable (String) -> Void

    /// `show` receives the lines of one event. `show` must not block, because a lane calls it; the gateway passes
    /// ``Terminal/show(_:)``.
    package init(color: Bool, show: @escaping @Sendable (String) -> Void) {
        self.color = color
        self.show = show
    }

    package func send(_ leases: [Lease]) async -> SendResult {
        let attempt = Attempt(startedAt: Date(), duration: .zero)
        for lease in leases { show(EventLine(color: color).text(lease.body)) }
        return SendResult(.replied(status: 204, retryAfter: nil), attempt)
    }
}
