import NIOCore
import NIOPosix
import Synchronization

/// Holds replies for the delay of a failure rule. The number of held replies is bounded. Safe for concurrent use.
final class HeldReplies: Sendable {
    // A class because all requests share the count.

    /// Runs a closure after a delay, on any thread.
    typealias Schedule = @Sendable (Duration, @escaping @Sendable () -> Void) -> Void

    private let schedule: Schedule
    private let most: Int
    /// Reserved places. Exceeds ``most`` for an instant while ``reserve()`` gives one back.
    private let count = Atomic(0)

    /// `most`: replies that are held at one time.
    init(most: Int = 10_000, schedule: @escaping Schedule = HeldReplies.onEventLoop) {
        (self.most, self.schedule) = (most, schedule)
    }

    /// A timer on any event loop of the shared group of NIO.
    private static let onEventLoop: Schedule = { delay, body in
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(delay)) { body() }
    }

    /// Reserves a place, which ``hold(for:_:)`` or ``cancel()`` gives back. False if too many replies are held.
    func reserve() -> Bool {
        guard count.add(1, ordering: .relaxed).newValue <= most else {
            cancel()
            return false
        }
        return true
    }

    /// Gives back a reserved place that no reply uses.
    func cancel() { count.subtract(1, ordering: .relaxed) }

    /// Calls `send` after the delay. Requires a reserved place. The place is free again before `send` runs.
    func hold(for delay: Duration, _ send: @escaping @Sendable () -> Void) {
        schedule(delay) { [self] in
            cancel()
            send()
        }
    }
}
