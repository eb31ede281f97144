import Foundation

/// Keeps the answers that tests received from gateways, so that each of them can be compared with the description of
/// the API. The Makefile sets the variable and checks the answers.
package enum AnswerRecorder {
    /// Appends an answer as a line to the file that SIGNALBOX_RECORD_ANSWERS names. Does nothing if the variable is
    /// unset. `type`: the media type; nil if the client did not keep it. `body`: nil for a body that is not whole.
    package static func record(
        _ method: String, _ url: String, status: Int, type: String? = nil, body: [UInt8]?
    ) throws {
        guard let path = ProcessInfo.processInfo.environment["SIGNALBOX_RECORD_ANSWERS"] else { return }
        var line: [String: Any] = ["method": method, "url": url, "status": status]
        line["type"] = type
        line["body"] = body.map { Data($0).base64EncodedString() }
        try LineFile.append(Array(JSONSerialization.data(withJSONObject: line)), to: path)
    }
}
