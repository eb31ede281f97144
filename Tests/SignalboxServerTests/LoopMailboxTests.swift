import NIOEmbedded
import Synchronization
import Testing

@testable import SignalboxServer

@Suite struct LoopMailboxTests {
    /// A class because the work shares it.
    private final class Log: Sendable {
        let numbers = Mutex<[Int]>([])
        func append(_ number: Int) { numbers.withLock { $0.append(number) } }
        var all: [Int] { numbers.withLock { $0 } }
    }

    private let loop = EmbeddedEventLoop()
    private let log = Log()

    @Test func runsWorkOnTheLoopInItsOrder() {
        let mailbox = LoopMailbox(loop)
        for number in 1...3 { mailbox.add { [log] in log.append(number) } }
        #expect(log.all.isEmpty)
        loop.run()
        #expect(log.all == [1, 2, 3])
    }

    @Test func runsWorkThatWorkAdds() {
        let mailbox = LoopMailbox(loop)
        mailbox.add { [log] in
            mailbox.add { log.append(2) }
            log.append(1)
        }
        loop.run()
        #expect(log.all == [1, 2])
        mailbox.add { [log] in log.append(3) }
        loop.run()
        #expect(log.all == [1, 2, 3])
    }

    @Test func keepsOneMailboxForEachLoop() {
        let mailboxes = LoopMailboxes()
        let other = EmbeddedEventLoop()
        #expect(mailboxes.mailbox(of: loop) === mailboxes.mailbox(of: loop))
        #expect(mailboxes.mailbox(of: loop) !== mailboxes.mailbox(of: other))
    }
}
