import Foundation

/// Replaces Swift's `print`, which does not report that standard output cannot be written.
func print(_ text: String, terminator: String = "\n") { StandardOutput.print(text, terminator: terminator) }

/// Standard output, written in large pieces.
struct StandardOutput: ~Copyable {
    private var buffer: [UInt8] = []
    private static let capacity = 256 * 1024

    init() { buffer.reserveCapacity(Self.capacity) }

    /// Adds whole lines.
    mutating func write(_ lines: [UInt8]) { lines.withUnsafeBytes { write($0) } }

    /// As above; many at once are not gathered first.
    mutating func write(_ lines: UnsafeRawBufferPointer) {
        if buffer.count + lines.count < Self.capacity {
            buffer.append(contentsOf: lines)
        } else {
            flush()
            put(lines)
        }
    }

    /// Writes what has gathered. A reader that went away ends the process, as it does other filters.
    mutating func flush() {
        buffer.withUnsafeBytes { put($0) }
        buffer.removeAll(keepingCapacity: true)
    }

    private func put(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Foundation.write(STDOUT_FILENO, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                StandardError.write(
                    "signalbox: standard output cannot be written: \(String(cString: strerror(errno))).\n")
                exit(2)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    /// Writes a text at once, for commands that have little to say.
    static func print(_ text: String, terminator: String = "\n") {
        var output = StandardOutput()
        output.write(Array((text + terminator).utf8))
        output.flush()
    }

    /// Opens standard streams that the caller has closed. Otherwise a file or connection opened later gets their
    /// number, and output goes into it. Writing to standard output then fails; error messages are dropped.
    static func reserveDescriptors() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
        where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number, which is this one.
            _ = open("/dev/null", mode)
        }
    }

    /// Whether to use colours: on a terminal, unless the environment says otherwise.
    static var hasColor: Bool { isatty(STDOUT_FILENO) == 1 && wantsColor }

    /// False where NO_COLOR (no-color.org) or a dumb terminal says so.
    static var wantsColor: Bool {
        let environment = ProcessInfo.processInfo.environment
        return environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }
}
