import Foundation

/// Records the requests to collectors that tests make or receive, so that the reference library can read each of them.
package enum OTLPRecorder {
    /// Appends a request as a line to the file that SIGNALBOX_RECORD_OTLP names; does nothing when it names none.
    /// `request`: uncompressed JSON. `kind`: `traces` or `metrics`.
    package static func record(_ request: [UInt8], as kind: String) {
        guard let path = ProcessInfo.processInfo.environment["SIGNALBOX_RECORD_OTLP"] else { return }
        LineFile.append(Array(#"{"kind":"\#(kind)","request":"#.utf8) + request + [UInt8(ascii: "}")], to: path)
    }
}
