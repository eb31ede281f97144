import Foundation
import SignalboxGateway

/// Standard output, written in large pieces. Noncopyable, so lines are written once. The owner calls ``flush()`` at
/// the end; a dropped value loses its buffer.
package struct StandardOutput: ~Copyable {
    /// Empty after ``flush()``.
    private var buffer: [UInt8] = []
    /// Bytes that are collected before a write.
    private static let capacity = 256 * 1024

    /// Allocates the buffer once; writes do not grow it.
    package init() { buffer.reserveCapacity(Self.capacity) }

    /// Appends whole lines.
    package mutating func write(_ lines: [UInt8]) { lines.withUnsafeBytes { write($0) } }

    /// Appends whole lines. Large pieces are written without a copy.
    package mutating func write(_ lines: UnsafeRawBufferPointer) {
        if buffer.count + lines.count < Self.capacity {
            buffer.append(contentsOf: lines)
        } else {
            flush()
            put(lines)
        }
    }

    /// Writes the buffer. A closed pipe ends the process, as with other filters.
    package mutating func flush() {
        buffer.withUnsafeBytes { put($0) }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Exits with 2 when the output cannot be written, such as on a full disk. Runs no exit handlers: those of the
    /// libraries would free locks that the threads of the command still use. Standard error has no buffer to flush.
    private func put(_ bytes: UnsafeRawBufferPointer) {
        guard !writeAll(bytes, to: STDOUT_FILENO) else { return }
        if errno == EPIPE {
            // A command that has connections ignores the signal, which a write to a closed connection would cause too.
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        StandardError.write("signalbox: cannot write standard output: \(String(cString: strerror(errno))).\n")
        _exit(2)
    }

    /// Writes a text at once, for short output. The buffer of another value is not flushed before it.
    package static func print(_ text: String, terminator: String = "\n") {
        var output = StandardOutput()
        output.write(Array((text + terminator).utf8))
        output.flush()
    }

    /// Opens standard streams that the caller has closed. Otherwise a file or connection opened later would get their
    /// number and receive the output. Writing to standard output then fails; error messages are dropped. Must run
    /// before any file is opened.
    package static func reserveDescriptors() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
        where fcntl(descriptor, F_GETFD) < 0 {
            // Opens the lowest free number, which is this one.
            _ = open("/dev/null", mode)
        }
    }

    /// True to use colours: on a terminal, unless the environment forbids it.
    package static var hasColor: Bool { isatty(STDOUT_FILENO) == 1 && wantsColor }

    /// False if NO_COLOR (no-color.org) is set or the terminal is dumb.
    package static var wantsColor: Bool {
        let environment = ProcessInfo.processInfo.environment
        return environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }
}
