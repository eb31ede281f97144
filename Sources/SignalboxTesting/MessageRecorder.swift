import Foundation

/// Records the webhook messages that tests make or receive, so that third-party libraries can verify each of them.
package enum MessageRecorder {
    /// Appends a message as a line to the file that SIGNALBOX_RECORD_MESSAGES names; does nothing when it names none.
    /// `secret`: the signing secret. `events`: the events in the message. `headers`: of names that differ only in
    /// case, the last one counts.
    package static func record(
        format: String, headers: [(name: String, value: String)], body: [UInt8], secret: String? = nil,
        events: [[UInt8]]? = nil
    ) throws {
        guard let path = ProcessInfo.processInfo.environment["SIGNALBOX_RECORD_MESSAGES"] else { return }
        var message: [String: Any] = [
            "format": format, "headers": Dictionary(headers.map { ($0.name, $0.value) }) { $1 },
            "body": Data(body).base64EncodedString(),
        ]
        message["secret"] = secret
        message["events"] = events?.map { String(decoding: $0, as: UTF8.self) }
        try LineFile.append(Array(JSONSerialization.data(withJSONObject: message)), to: path)
    }
}
