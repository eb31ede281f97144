import Synchronization

/// Wakes who downloads media and releases deliveries. A class because writer and timer share it with who opens it.
package final class MediaWaker: Sendable {
    package init() {}

    private let waker = Mutex<(@Sendable () -> Void)?>(nil)

    package func open(_ wake: @escaping @Sendable () -> Void) { waker.withLock { $0 = wake } }

    package func wake() { waker.withLock(\.self)?() }
}
