package import Foundation
package import SignalboxEgress
package import SignalboxNotification

/// The meaning of a gateway's reply to a request of payloads. Pure. ``GatewayClient`` acts on it.
package enum UploadAnswer: Sendable, Equatable {
    /// Every payload is settled: their results, in their order.
    case settled([Receipt])
    /// No payload was accepted. Repeat the request, after this time if the gateway names one.
    case later(after: TimeInterval?, because: String)
    /// A repetition is useless. One sentence.
    case refused(String)

    /// `count`: number of payloads in the request. `now`: for a `Retry-After` that is a date. A request of one
    /// payload that is rejected as a whole counts as settled. A reply that lists fewer or more results than payloads
    /// refuses the run, because the results could not be matched.
    package init(_ reply: OutboundReply, to count: Int, now: Date) {
        let body = ReceiptList(reply.excerpt)
        switch reply.status {
        case 202, 207:
            let known = body.receipts.compactMap(\.self)
            self =
                known.count == count && body.receipts.count == count
                ? .settled(known)
                : .refused(
                    "The server is not a signalbox gateway, or has another version: its reply does not list a result for each payload."
                )
        case 408, 425, 429, 500, 502, 503, 504:
            self = .later(
                after: reply.retryAfter?.delay(from: now),
                because: "the gateway answered \(reply.status)\(Self.suffix(body.detail))")
        default:
            if count == 1, let rejection = body.rejection {
                self = .settled([rejection])
            } else {
                self = .refused("The gateway answered \(reply.status)\(Self.suffix(body.detail)).")
            }
        }
    }

    private static func suffix(_ detail: String?) -> String {
        guard let detail else { return "" }
        return ": " + (detail.hasSuffix(".") ? String(detail.dropLast()) : detail)
    }
}
