import Foundation
import SignalboxGateway
import Synchronization

/// Diagnostics for people. The log, errors and progress share it. Results of commands go to standard output.
package enum StandardError {
    /// Held for the time of a write, so that texts of different threads do not mix.
    private static let lock = Mutex(())

    /// Writes a text before another thread may write the next. Ignores failures: there is no other place to report
    /// them. Blocks while standard error is a full pipe.
    package static func write(_ text: String) { lock.withLock { _ in _ = writeAll(text, to: STDERR_FILENO) } }

    /// True on a terminal that can redraw a line.
    package static var canRedraw: Bool {
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// True if standard error is a terminal. Commands show lines of the config only then.
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// True if a command may ask a question: standard input and standard error are terminals.
    package static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isTerminal }

    /// True if output to standard error uses colours.
    package static var hasColor: Bool { isTerminal && StandardOutput.wantsColor }

    /// Tells a person at the terminal that the command waits for their input. `paths`: the inputs. `-` or an
    /// empty list means standard input. `noun`: the text to type, such as `payloads` or `a payload`.
    package static func announceInput(_ paths: [String], of noun: String) {
        guard paths.isEmpty || paths.contains("-"), isatty(STDIN_FILENO) == 1 else { return }
        write("Reading \(noun) from standard input; end with ^D.\n")
    }

    /// Writes a sentence after the program's name, as a line.
    package static func warn(_ sentence: String) { write("signalbox: \(sentence)\n") }
}
