import Foundation
import SignalboxConfig
package import SignalboxEgress

/// A destination's answer to a request for permission. ``WebhookSender/askPermission()`` returns it, and
/// ``Handshake`` decides from it when the next request is made.
package enum Permission: Sendable, Equatable {
    /// `perMinute`: permitted requests per minute; nil for no limit.
    case given(perMinute: Int?)
    /// `retryAfter`: when to repeat the request, if the destination names a time.
    case withheld(reason: String, retryAfter: RetryAfter?)
    /// The gateway stopped before the answer arrived.
    case unknown
}

extension Permission {
    /// The headers of the reply that are read.
    static let headers = ["webhook-allowed-origin", "webhook-allowed-rate"]

    /// Reads the answer to a validation request (CloudEvents, HTTP 1.1 Web Hooks for Event Delivery, 4.2). Only a
    /// reply of 2xx whose `WebHook-Allowed-Origin` is the gateway's origin or `*` gives permission. Without a
    /// `WebHook-Allowed-Rate`, the requested rate applies. A malformed rate counts as withheld, because the gateway
    /// must not send faster than permitted. Network failures count as withheld too.
    init(_ answer: Result<OutboundReply, TransportError>, to handshake: Destination.Handshake) {
        switch answer {
        case .failure(.stopped): self = .unknown
        case .failure(let error): self = .withheld(reason: Self.text(error.description), retryAfter: nil)
        case .success(let reply): self = Self.read(reply, handshake)
        }
    }

    /// The reason names the header and the status, for operators. `reply`: of any status.
    private static func read(_ reply: OutboundReply, _ handshake: Destination.Handshake) -> Permission {
        func withheld(_ reason: String) -> Permission {
            .withheld(reason: text(reason), retryAfter: reply.retryAfter)
        }
        guard (200..<300).contains(reply.status) else { return withheld("OPTIONS was answered \(reply.status)") }
        guard let origin = reply.headers["webhook-allowed-origin"].map(trimmed), !origin.isEmpty else {
            return withheld("the answer to OPTIONS (\(reply.status)) has no WebHook-Allowed-Origin")
        }
        // DNS names are case-insensitive.
        guard origin == "*" || origin.lowercased() == handshake.origin.lowercased() else {
            return withheld("WebHook-Allowed-Origin is \(glimpse(origin)), not \(handshake.origin)")
        }
        guard let rate = reply.headers["webhook-allowed-rate"].map(trimmed) else {
            return .given(perMinute: handshake.perMinute)
        }
        if rate == "*" { return .given(perMinute: nil) }
        guard rate.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = Int(rate),
            number > 0
        else { return withheld("WebHook-Allowed-Rate is \(glimpse(rate)), neither * nor a whole number above 0") }
        return .given(perMinute: number)
    }

    /// The prefix is part of the reason that operators see in lists and logs.
    private static func text(_ reason: String) -> String { "no permission to send: \(reason)" }

    private static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespaces) }

    /// The beginning of a received text, limited to characters that are safe in logs and terminals. At most 64
    /// characters; characters other than printable ASCII become question marks.
    private static func glimpse(_ text: String) -> String {
        "\"" + String(text.unicodeScalars.prefix(64).map { (" "..."~").contains($0) ? Character($0) : "?" }) + "\""
    }
}
