import Foundation

/// Keeps the events that tests produce, so that a validator that is not ours can check every one of them.
package enum EventRecorder {
    /// Appends an event as a line to the file that SIGNALBOX_RECORD_EVENTS names; does nothing when it names none.
    package static func record(_ event: [UInt8]) {
        guard let path = ProcessInfo.processInfo.environment["SIGNALBOX_RECORD_EVENTS"] else { return }
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard file >= 0 else { preconditionFailure("\(path) cannot be opened for the events.") }
        defer { close(file) }
        // One write a line: others append to the same file.
        let line = event + [UInt8(ascii: "\n")]
        precondition(write(file, line, line.count) == line.count, "\(path) cannot be written.")
    }
}
