import Synchronization

/// Items that other threads hand to an event loop. Items that gather before the loop takes them are taken together,
/// because the commit of a group answers many requests at once.
final class Mailbox<Item: Sendable>: Sendable {
    // A class because the threads and the event loop share it.
    private let waiting = Mutex<[Item]>([])

    /// Callable from any thread; does not block. Returns true when the caller must make the event loop call
    /// ``takeAll()``.
    func append(_ item: Item) -> Bool {
        waiting.withLock { waiting in
            waiting.append(item)
            return waiting.count == 1
        }
    }

    /// The items since the last call, in their order.
    func takeAll() -> [Item] { waiting.withLock { exchange(&$0, with: []) } }
}
