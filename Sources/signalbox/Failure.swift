import ArgumentParser
import Foundation

/// Exit codes that programs rely on.
extension ExitCode {
    /// Some inputs were rejected or some deliveries failed.
    static let incomplete = ExitCode(1)
    /// The command line, the config or the environment does not allow it.
    static let unusable = ExitCode(2)
    /// ^C, after a clean stop.
    static let interrupted = ExitCode(130)
}

/// Says on standard error, in a sentence, why nothing was done, and ends with ``ExitCode/unusable``.
func refuse(_ sentence: String) -> ExitCode {
    StandardError.write("signalbox: \(sentence)\n")
    return .unusable
}

enum StandardError {
    static func write(_ text: String) { Terminal.write(text, to: STDERR_FILENO) }

    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}

/// Lines for whoever watches. When nobody does any more, because a pipe or a terminal was closed, they are lost: that
/// must not end a gateway. Commands whose output is their purpose use ``StandardOutput``, which does end them.
enum Terminal {
    /// Writes to standard output.
    static func show(_ text: String) { write(text, to: STDOUT_FILENO) }

    fileprivate static func write(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
