import NIOCore
import Synchronization

/// Records since when a connection has been idle.
final class ConnectionActivity: Sendable {
    // A class because the event loop of the connection writes it, and the event loop of a newer connection reads it.
    private static let busy = UInt64.max
    private let since: Atomic<UInt64>

    init(idleSince now: NIODeadline) { since = Atomic(now.uptimeNanoseconds) }

    /// Nil while a request is in progress.
    var idleSince: NIODeadline? {
        let since = since.load(ordering: .relaxed)
        return since == Self.busy ? nil : .uptimeNanoseconds(since)
    }

    func markBusy() { since.store(Self.busy, ordering: .relaxed) }

    func markIdle(at now: NIODeadline) { since.store(now.uptimeNanoseconds, ordering: .relaxed) }
}
