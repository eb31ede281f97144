import Foundation

/// Standard output, written in large pieces.
struct StandardOutput: ~Copyable {
    private var buffer: [UInt8] = []
    private static let capacity = 256 * 1024

    init() { buffer.reserveCapacity(Self.capacity + 64 * 1024) }

    /// Adds whole lines.
    mutating func write(_ lines: [UInt8]) {
        buffer.append(contentsOf: lines)
        if buffer.count >= Self.capacity { flush() }
    }

    /// Writes what has gathered. A reader that went away ends the process, as it does other filters.
    mutating func flush() {
        buffer.withUnsafeBytes { bytes in
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
        buffer.removeAll(keepingCapacity: true)
    }

    /// Whether to use colours: on a terminal, unless NO_COLOR (no-color.org) or a dumb terminal says otherwise.
    static var hasColor: Bool {
        let environment = ProcessInfo.processInfo.environment
        return isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR", default: ""].isEmpty
            && environment["TERM"] != "dumb"
    }
}
