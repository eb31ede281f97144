package import Foundation
package import SignalboxEgress
import SignalboxJSON

/// The meaning of a gateway's reply to a request of payloads. Pure.
package enum UploadAnswer: Sendable, Equatable {
    /// Every payload is settled: their results, in their order.
    case settled([Item])
    /// No payload was accepted. Repeat the request, after this time if the gateway names one.
    case later(after: TimeInterval?, because: String)
    /// A repetition is useless. One sentence.
    case refused(String)

    package enum Item: Sendable, Equatable {
        case taken(vendor: String, routes: [String], warnings: [String], isRepeat: Bool)
        case rejected(code: String, message: String)
    }

    /// `count`: number of payloads in the request.
    package init(_ reply: OutboundReply, to count: Int, now: Date) {
        let parser = JSONParser()
        self = withExtendedLifetime(parser) {
            let body = try? parser.parse(reply.excerpt)
            switch reply.status {
            case 202, 207: return Self.settled(body, count)
            case 408, 425, 429, 500, 502, 503, 504:
                return .later(
                    after: reply.retryAfter?.delay(from: now),
                    because: "the gateway answered \(reply.status)\(Self.detail(of: body))")
            default:
                if count == 1, let body, let rejected = Self.rejected(body) { return .settled([rejected]) }
                return .refused("The gateway answered \(reply.status)\(Self.detail(of: body)).")
            }
        }
    }

    private static func settled(_ body: JSONValue?, _ count: Int) -> UploadAnswer {
        let items: [Item?]
        if let list = body?["items"], list.isArray {
            items = list.elements.map { value in
                value["error"].map { error($0) } ?? taken(value)
            }
        } else {
            items = [body.flatMap { taken($0) }]
        }
        let known = items.compactMap(\.self)
        guard known.count == count, items.count == count else {
            return .refused(
                "The server is not a signalbox gateway, or has another version: its reply does not list a result for each payload."
            )
        }
        return .settled(known)
    }

    private static func taken(_ value: JSONValue) -> Item? {
        guard value["id"]?.isString == true, let vendor = value["vendor"]?.string else { return nil }
        return .taken(
            vendor: vendor, routes: value["routes"]?.elements.compactMap(\.string) ?? [],
            warnings: value["warnings"]?.elements.compactMap(\.string) ?? [],
            isRepeat: value["duplicate"]?.bool == true)
    }

    private static func error(_ value: JSONValue) -> Item? {
        guard let code = value["code"]?.string else { return nil }
        return .rejected(code: code, message: value["detail"]?.string ?? "The gateway rejected this payload.")
    }

    /// The reply to a request whose only payload is rejected.
    private static func rejected(_ body: JSONValue) -> Item? {
        guard body["code"]?.string?.hasPrefix("payload-") == true else { return nil }
        return error(body)
    }

    private static func detail(of body: JSONValue?) -> String {
        guard let detail = body?["detail"]?.string else { return "" }
        return ": " + (detail.hasSuffix(".") ? String(detail.dropLast()) : detail)
    }
}
