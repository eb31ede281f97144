import Dispatch
import Foundation
import Synchronization

/// Diagnostics, for people.
enum StandardError {
    static func write(_ text: String) { Terminal.write(text, to: STDERR_FILENO) }

    /// Writes a line, over one that says how far a command has come.
    static func writeLine(_ text: String) { write((canRedraw ? "\r\u{1B}[K" : "") + text + "\n") }

    /// Whether a line can be drawn anew: on a terminal that is not a dumb one.
    static var canRedraw: Bool {
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether to use colours.
    static var hasColor: Bool { isTerminal && StandardOutput.wantsColor }
}

/// Lines for whoever watches. A gateway must neither end nor wait because nobody does any more, so they are written
/// behind everybody's back and lost when they cannot be. Commands whose output is their purpose use ``StandardOutput``.
enum Terminal {
    // A queue of its own, because a write blocks for as long as the terminal or the pipe is stopped.
    private static let queue = DispatchQueue(label: "signalbox.terminal")
    private static let waiting = Mutex((bytes: 0, lost: 0))
    /// The first error of writing to standard output.
    private static let failure = Mutex<Int32?>(nil)
    private static let mostWaiting = 1024 * 1024

    /// Writes to standard output when it can be written; says how many pieces were lost once it can again.
    static func show(_ text: String) {
        let size = text.utf8.count
        let hasRoom = waiting.withLock { waiting in
            guard waiting.bytes + size <= mostWaiting else {
                waiting.lost += 1
                return false
            }
            waiting.bytes += size
            return true
        }
        guard hasRoom else { return }
        queue.async {
            let lost = waiting.withLock { waiting in
                defer { waiting.lost = 0 }
                return waiting.lost
            }
            if lost > 0 { output("(\(lost) not shown: this output was not read)\n") }
            output(text)
            waiting.withLock { $0.bytes -= size }
        }
    }

    private static func output(_ text: String) {
        guard !write(text, to: STDOUT_FILENO) else { return }
        let code = errno
        failure.withLock { $0 = $0 ?? code }
    }

    /// Waits briefly until all output is written. False when some could not be written, which it reports on standard
    /// error.
    static func finish() -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        _ = done.wait(timeout: .now() + .seconds(1))
        guard let code = failure.withLock({ $0 }) else { return true }
        StandardError.write("signalbox: standard output could not be written: \(String(cString: strerror(code))).\n")
        return false
    }

    /// False when not everything could be written; `errno` has the reason.
    @discardableResult
    fileprivate static func write(_ text: String, to descriptor: Int32) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
            return true
        }
    }
}
