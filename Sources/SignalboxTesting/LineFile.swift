import Foundation

/// A file to which several test processes append lines.
enum LineFile {
    /// Traps if the file cannot be opened or written, so that a recording is never incomplete unnoticed.
    static func append(_ text: [UInt8], to path: String) {
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else { preconditionFailure("\(path) cannot be opened to record test output.") }
        defer { close(file) }
        // One write a line: others append to the same file.
        let line = text + [UInt8(ascii: "\n")]
        precondition(write(file, line, line.count) == line.count, "\(path) cannot be written.")
    }
}
