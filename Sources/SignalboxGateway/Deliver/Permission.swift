import Foundation
import SignalboxConfig
package import SignalboxEgress

/// What a destination said when it was asked whether it may be sent to.
package enum Permission: Sendable, Equatable {
    /// `perMinute`: how many requests it takes in a minute; nil for any number.
    case given(perMinute: Int?)
    /// `retryAfter`: when it wants to be asked again, where it says so.
    case withheld(reason: String, retryAfter: RetryAfter?)
    /// Our own stop came before the answer.
    case unknown
}

extension Permission {
    /// Of the reply, what it is read from.
    static let headers = ["webhook-allowed-origin", "webhook-allowed-rate"]

    /// Reads the answer to a validation request (CloudEvents, HTTP 1.1 Web Hooks for Event Delivery, 4.2): only a reply of
    /// 2xx whose `WebHook-Allowed-Origin` is our origin or `*` gives permission. Without a `WebHook-Allowed-Rate` the rate
    /// that was asked for counts.
    init(_ answer: Result<OutboundReply, TransportError>, to handshake: Destination.Handshake) {
        switch answer {
        case .failure(.stopped): self = .unknown
        case .failure(let error): self = .withheld(reason: Self.words(error.description), retryAfter: nil)
        case .success(let reply): self = Self.read(reply, handshake)
        }
    }

    private static func read(_ reply: OutboundReply, _ handshake: Destination.Handshake) -> Permission {
        func withheld(_ reason: String) -> Permission {
            .withheld(reason: words(reason), retryAfter: reply.retryAfter)
        }
        guard (200..<300).contains(reply.status) else { return withheld("OPTIONS was answered \(reply.status)") }
        guard let origin = reply.headers["webhook-allowed-origin"].map(trimmed), !origin.isEmpty else {
            return withheld("the answer to OPTIONS (\(reply.status)) has no WebHook-Allowed-Origin")
        }
        // Names of DNS are the same in either letter case.
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

    private static func words(_ reason: String) -> String { "no permission to send: \(reason)" }

    private static func trimmed(_ text: String) -> String { text.trimmingCharacters(in: .whitespaces) }

    /// The beginning of what somebody else wrote, in letters that do no harm in a log or a terminal.
    private static func glimpse(_ text: String) -> String {
        "\"" + String(text.unicodeScalars.prefix(64).map { (" "..."~").contains($0) ? Character($0) : "?" }) + "\""
    }
}
