import Foundation
package import SignalboxModel

/// Keeps the events that tests produce, so that a validator outside can check them against the published schema.
package enum EventRecorder {
    /// The file that the environment names; nil when nobody wants to see the events.
    private static let file: Int32? = {
        guard let path = ProcessInfo.processInfo.environment["SIGNALBOX_RECORD_EVENTS"], !path.isEmpty else {
            return nil
        }
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        precondition(file >= 0, "SIGNALBOX_RECORD_EVENTS must name a file that can be written.")
        return file
    }()

    /// Appends an event as a line to the file that `SIGNALBOX_RECORD_EVENTS` names; does nothing when it names none. Any
    /// thread, any process: a line is one write.
    package static func record(_ event: Event) {
        guard let file else { return }
        let line = event.body + [UInt8(ascii: "\n")]
        precondition(write(file, line, line.count) == line.count, "An event could not be recorded.")
    }
}
