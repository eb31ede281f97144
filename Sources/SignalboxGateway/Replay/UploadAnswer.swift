package import Foundation
package import SignalboxEgress
package import SignalboxNotification

/// The meaning of a gateway's reply to a request of payloads. Pure. ``GatewayClient`` acts on it.
package enum UploadAnswer: Sendable, Equatable {
    /// Every payload is settled: their results, in their order.
    case settled([Receipt])
    /// Perhaps no payload was accepted. Repeat the request with its key, after this time in seconds if the gateway
    /// names one.
    case later(after: TimeInterval?, because: String)
    /// A repetition is useless. One sentence.
    case refused(String)

    /// Bytes of a reply. Leaves a receipt of 300 KiB to each payload of the largest request, because a receipt lists
    /// the routes and destinations of its payload.
    package static let longestReply = 32 << 20

    /// `count`: number of payloads in the request. `now`: for a `Retry-After` that is a date. A request of one
    /// payload that is rejected as a whole counts as settled. A reply that lists fewer or more results than payloads
    /// refuses the run, because the results could not be matched.
    package init(_ reply: OutboundReply, to count: Int, now: Date) {
        let body = ReceiptList(reply.excerpt)
        switch reply.status {
        case 202, 207:
            guard reply.excerpt.count <= Self.longestReply else {
                self = .refused(
                    "The gateway accepted \(count) payloads, but its reply is longer than \(Self.longestReply >> 20) "
                        + "MiB: too many routes or destinations receive them.")
                return
            }
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
            } else if let detail = body.detail {
                let sentence = "The gateway answered \(reply.status)\(Self.suffix(detail))"
                self = .refused(sentence.hasSuffix("?") ? sentence : sentence + ".")
            } else {
                self = .refused(
                    "The server answered \(reply.status), but not as a Signalbox gateway does; check the address.")
            }
        }
    }

    private static func suffix(_ detail: String?) -> String {
        guard let detail else { return "" }
        return ": " + (detail.hasSuffix(".") ? String(detail.dropLast()) : detail)
    }
}
