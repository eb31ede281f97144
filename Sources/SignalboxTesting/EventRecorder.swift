import Foundation

/// Keeps the events that tests produce, so that a validator that is not ours can check every one of them.
package enum EventRecorder {
    /// Appends an event as a line to the file that SIGNALBOX_RECORD_EVENTS names; does nothing when it names none.
    /// Traps if the file cannot be written. Any number of test processes may append.
    package static func record(_ event: [UInt8]) {
        guard let path = ProcessInfo.processInfo.environment["SIGNALBOX_RECORD_EVENTS"] else { return }
        LineFile.append(event, to: path)
    }
}
