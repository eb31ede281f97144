import Foundation

/// Keeps the calendar files that tests make, so that a library that is not ours can read every one of them. The
/// Makefile sets the variable and checks the files.
package enum CalendarRecorder {
    /// Appends a calendar file and its expected content as a line to the file that SIGNALBOX_RECORD_CALENDARS names.
    /// Does nothing if the variable is unset. Throws for an expected content that is not JSON.
    package static func record(_ name: String, _ file: [UInt8], expected: [String: String]) throws {
        guard let path = ProcessInfo.processInfo.environment["SIGNALBOX_RECORD_CALENDARS"] else { return }
        let line: [String: Any] = ["name": name, "file": Data(file).base64EncodedString(), "expected": expected]
        try LineFile.append(Array(JSONSerialization.data(withJSONObject: line)), to: path)
    }
}
