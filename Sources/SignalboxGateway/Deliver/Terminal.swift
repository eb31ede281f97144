import Dispatch
import Foundation
import Synchronization

/// Output of a gateway that must neither end nor wait if its terminal or pipe is closed or not read: a queue of its
/// own writes it, and lines that do not fit are dropped. Commands whose purpose is their output do not use it. Its
/// state belongs to the process: there is one standard output.
package enum Terminal {
    // A write blocks while the terminal or the pipe is stopped.
    private static let queue = DispatchQueue(label: "signalbox.terminal")
    /// Bytes that wait to be written, texts dropped since the last report, and those dropped before it.
    private static let waiting = Mutex((bytes: 0, lost: 0, reported: 0))
    /// The first error of a write to standard output.
    private static let failure = Mutex<Int32?>(nil)
    /// Room for several of the largest events.
    private static let mostWaiting = 16 * 1024 * 1024

    /// Writes to standard output in the background. Reports the number of dropped texts with the next one, on standard
    /// error, because programs may read the texts. Returns at once. Texts keep their order. A text that does not fit
    /// into 16 MiB of waiting output is dropped as a whole; a larger one is written if nothing waits.
    package static func show(_ text: String) {
        let size = text.utf8.count
        let hasRoom = waiting.withLock { waiting in
            guard waiting.bytes == 0 || waiting.bytes + size <= mostWaiting else {
                waiting.lost += 1
                return false
            }
            waiting.bytes += size
            return true
        }
        guard hasRoom else { return }
        queue.async {
            let lost = waiting.withLock { waiting in
                defer { (waiting.lost, waiting.reported) = (0, waiting.reported + waiting.lost) }
                return waiting.lost
            }
            if lost > 0 {
                let words = "\(lost) not shown: standard output was not read in time"
                _ = writeAll("signalbox: \(words).\n", to: STDERR_FILENO)
            }
            output(text)
            waiting.withLock { $0.bytes -= size }
        }
    }

    /// Keeps the first error only, because later writes usually fail for the same reason.
    private static func output(_ text: String) {
        guard !writeAll(text, to: STDOUT_FILENO) else { return }
        let code = errno
        failure.withLock { $0 = $0 ?? code }
    }

    /// Waits at most a second until all output is written. Returns false, and reports it on standard error, if any
    /// output of the process was lost. Call it once, at the end of the process; text that is shown later may be lost.
    package static func finish() -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        _ = done.wait(timeout: .now() + .seconds(1))
        let rest = waiting.withLock { $0 }
        let code = failure.withLock { $0 }
        guard code != nil || rest != (0, 0, 0) else { return true }
        let reader = rest.bytes > 0 ? "nothing reads it" : "it was not read in time"
        let reason = code.map { String(cString: strerror($0)) } ?? "\(reader); some of it is lost"
        _ = writeAll("signalbox: cannot write standard output: \(reason).\n", to: STDERR_FILENO)
        return false
    }
}
