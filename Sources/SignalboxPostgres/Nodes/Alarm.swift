import Foundation

/// Lets one thread wait until another calls, or until a time has passed.
///
/// The wait does not follow the machine's clock. That of a semaphore does on Linux: after the clock was set back, it
/// would last longer, and a node without heartbeats is declared gone. A class because it owns descriptors.
final class Alarm: Sendable {
    /// One end of a pipe, non-blocking and closed on exec; -1 if the process had no descriptor left.
    private let reader: Int32
    /// The other end. A byte in the pipe is a call that no wait has seen.
    private let writer: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        // Without descriptors, each wait lasts its whole time, and no call ends it.
        if pipe(&ends) == 0 {
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
        }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit { for end in [reader, writer] where end >= 0 { close(end) } }

    /// Ends the present wait, or the next one. Callable from any thread. Several calls end one wait.
    func ring() {
        var byte: UInt8 = 1
        // A full pipe ends the wait, too.
        _ = write(writer, &byte, 1)
    }

    /// Blocks until a call or for this time. Removes all calls so far. Rounded down to milliseconds.
    func wait(atMost time: Duration) {
        var event = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        // A negative descriptor is ignored. A signal that interrupts the wait ends it early.
        _ = poll(&event, 1, Int32(clamping: Int64(time / .milliseconds(1))))
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(reader, &bytes, bytes.count) > 0 {}
    }
}
