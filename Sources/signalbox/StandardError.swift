import Foundation
import SignalboxGateway

/// Diagnostics for people.
enum StandardError {
    static func write(_ text: String) { _ = writeAll(text, to: STDERR_FILENO) }

    /// True on a terminal that can redraw a line.
    static var canRedraw: Bool {
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// True to use colours.
    static var hasColor: Bool { isTerminal && StandardOutput.wantsColor }
}
