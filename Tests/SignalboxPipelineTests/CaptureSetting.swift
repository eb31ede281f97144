import Foundation
import SignalboxConfig
import SignalboxNotification
import SignalboxRouting

@testable import SignalboxGateway

/// Captures for tests.
enum CaptureSetting {
    static func accepted(run: String? = nil, token: String = "sha256:aa", kind: String = "alert") -> Capture {
        var capture = Capture(.apns, .accepted, status: 200, at: Date(timeIntervalSince1970: 1_800_000_000))
        capture.source = SourceName("mobile")
        capture.run = run
        capture.eventID = "id"
        capture.event = Array(#"{"id":"id","data":{"kind":"\#(kind)","target":{"token":"\#(token)"}}}"#.utf8)
        return capture
    }

    static func refused(_ reason: String = "InvalidProviderToken", run: String? = nil) -> Capture {
        var capture = Capture(.apns, .rejected, status: 403, at: Date(timeIntervalSince1970: 1_800_000_000))
        capture.reason = reason
        capture.run = run
        return capture
    }

    static func limits(count: Int = 10_000, bytes: Int = 64 << 20) -> GatewayConfig.Captures {
        var limits = GatewayConfig.Captures()
        limits.count = count
        limits.bytes = bytes
        return limits
    }

    static func match(_ text: String) throws -> CaptureSelection.EventMatch {
        CaptureSelection.EventMatch(try Pattern(text: Array(text.utf8)), text: Array(text.utf8))
    }
}
