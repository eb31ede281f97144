import SignalboxEgress
import SignalboxJSON

/// The request and the response of an attempt that did not deliver, for operators. Has no secret and no content.
///
/// Header fields are shown only if their meaning is known: of others the request's have `[hidden]`, and the response's
/// are not recorded.
struct FailedExchange {
    let request: OutboundRequest
    /// Nil without a response.
    let reply: OutboundReply?
    /// The reference to a URL that is a secret; nil for a URL in the config itself.
    let urlReference: String?
    /// Hide response fields that repeat a secret.
    let secrets: [SecretEcho]

    /// Response fields that are recorded. None of them is a credential.
    static let responseFields = [
        "content-type", "content-length", "date", "server", "via", "retry-after", "location", "allow", "cache-control",
        "x-request-id", "x-correlation-id", "traceparent", "x-amzn-requestid", "cf-ray", "ratelimit-limit",
        "ratelimit-remaining", "ratelimit-reset", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset",
    ]
    /// Request fields whose values the gateway makes.
    private static let requestFields: Set = [
        "content-type", "content-encoding", "user-agent", "webhook-id", "webhook-timestamp", "signalbox-attempt",
        "traceparent", "webhook-request-origin",
    ]
    /// The most fields of the request, and bytes of each value.
    private static let (mostFields, longestValue) = (64, 256)

    /// `{"request": {"method", "url", "headers", "bytes"}, "response": {"headers"}}`. At most a few kilobytes.
    var json: [UInt8] {
        .jsonObject(capacity: 1024) { json in
            json.object("request") { json in
                json.member("method", "POST")
                json.member("url", urlReference ?? Self.cut(Self.origin(of: request.url)))
                write(fields, into: &json)
                json.member("bytes", request.body.count)
            }
            if let reply { json.object("response") { write(shown(reply.headers), into: &$0) } }
        }
    }

    private func write(_ fields: [(name: String, value: String)], into json: inout JSONWriter) {
        json.object("headers") { json in
            for (name, value) in fields {
                json.key(name)
                json.string(value)
            }
        }
    }

    private func shown(_ headers: [String: String]) -> [(name: String, value: String)] {
        headers.sorted { $0.key < $1.key }.map { name, value in
            let text = name == "location" ? Self.origin(of: value) : value
            return (name, Self.cut(secrets.reduce(text) { $1.masked($0) }))
        }
    }

    /// Scheme and host: users, paths and queries of webhooks may be secrets.
    private static func origin(of url: String) -> String {
        // A relative reference has a path before the first colon.
        guard let scheme = url.firstRange(of: "://"), !url[..<scheme.lowerBound].contains(where: { "/?#".contains($0) })
        else { return "[hidden]" }
        let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        return "\(url[..<scheme.upperBound])\(host)/[hidden]"
    }

    private static func cut(_ value: String) -> String {
        String(decoding: value.utf8.prefix(longestValue), as: UTF8.self)
    }

    private var fields: [(name: String, value: String)] {
        request.headers.prefix(Self.mostFields).map { field in
            (field.name, Self.requestFields.contains(field.name) ? Self.cut(field.value) : "[hidden]")
        }
    }
}
