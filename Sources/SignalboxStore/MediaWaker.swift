import Synchronization

/// Wakes who downloads media and releases deliveries. A class because writer and timer share it with who opens it.
final class MediaWaker: Sendable {
    private let waker = Mutex<(@Sendable () -> Void)?>(nil)

    func open(_ wake: @escaping @Sendable () -> Void) { waker.withLock { $0 = wake } }

    func wake() { waker.withLock(\.self)?() }
}
