import Foundation
import SignalboxGateway
import Synchronization

/// Diagnostics for people. The log, errors and progress share it. Results of commands go to standard output.
enum StandardError {
    private static let lock = Mutex(())

    /// Writes a text before another thread may write the next. Ignores failures: there is no other place to report
    /// them. Blocks while standard error is a full pipe.
    static func write(_ text: String) { lock.withLock { _ in _ = writeAll(text, to: STDERR_FILENO) } }

    /// True on a terminal that can redraw a line.
    static var canRedraw: Bool {
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }
    /// Decides whether a command may ask a question or show lines of the config.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// True to use colours.
    static var hasColor: Bool { isTerminal && StandardOutput.wantsColor }
}
