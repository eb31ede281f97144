import SignalboxServer
import Synchronization

/// A receiver's responses. The first one waits until it is released. A class because the receiver and the test share
/// it.
final class HeldAnswer: Sendable {
    private let number = Mutex(0)
    private let (released, releasing) = AsyncStream.makeStream(of: Void.self)

    var count: Int { number.withLock { $0 } }

    func release() { releasing.finish() }

    @Sendable func answer(_ message: WebhookReceiver.Message) async -> Int {
        let isFirst = number.withLock { number in
            number += 1
            return number == 1
        }
        if isFirst { for await _ in released {} }
        return 204
    }
}
