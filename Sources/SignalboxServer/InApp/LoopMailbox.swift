import NIOCore
import Synchronization

/// Hands work over to an event loop. Work that gathers before the loop runs it is run at once, so that a group of
/// decisions wakes the loop once. A class because it is shared state between the store's thread and the loop.
final class LoopMailbox: Sendable {
    private let eventLoop: any EventLoop
    private let waiting = Mailbox<@Sendable () -> Void>()

    /// `eventLoop`: runs the work. It drops work that is added after its shutdown.
    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Callable from any thread; does not block. `work` runs on the event loop, once, after all that was added before.
    func add(_ work: @escaping @Sendable () -> Void) {
        guard waiting.append(work) else { return }
        eventLoop.execute { [waiting] in
            for work in waiting.takeAll() { work() }
        }
    }
}

/// A mailbox for each event loop. A class because all connections share it.
final class LoopMailboxes: Sendable {
    /// As many as the server has event loops.
    private let mailboxes = Mutex<[ObjectIdentifier: LoopMailbox]>([:])

    /// The same one for each call with this event loop. Callable from any thread.
    func mailbox(of eventLoop: any EventLoop) -> LoopMailbox {
        mailboxes.withLock { mailboxes in
            let key = ObjectIdentifier(eventLoop)
            if let mailbox = mailboxes[key] { return mailbox }
            let mailbox = LoopMailbox(eventLoop)
            mailboxes[key] = mailbox
            return mailbox
        }
    }
}
