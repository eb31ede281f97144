import SignalboxEgress
import SignalboxJSON
import SignalboxNotification

extension PushVerdict {
    /// Fields of answers that senders use.
    static let keptHeaders = [
        "apns-id", "apns-unique-id", "apns-request-id", "content-type", "content-encoding", "retry-after",
        // An answer of status 401 has it (RFC 9110, 15.5.2).
        "www-authenticate",
    ]
    /// The most bytes of a body. Those of push services have some hundred.
    static let largestBody = 64 * 1024
    /// The most bytes of a message's name in an event.
    private static let longestName = 256
    /// The most bytes of a reason. The longest one of Apple's has 26. Device tokens have at least 64.
    private static let longestReason = 63

    /// The verdict of a request to `host`.
    init(_ result: OutboundResult, of provider: ForwardedPush.Provider, host: String) {
        switch result.answer {
        case .failure(let error): self.init(host: host, outcome: .unreachable, reason: error.code)
        case .success(let reply) where reply.excerpt.count > Self.largestBody:
            self.init(host: host, outcome: .unreachable, reason: "reply-too-large")
        case .success(let reply): self.init(reply, of: provider, host: host)
        }
        duration = result.duration
    }

    private init(_ reply: OutboundReply, of provider: ForwardedPush.Provider, host: String) {
        let isAccepted = (200..<300).contains(reply.status)
        self.init(host: host, outcome: isAccepted ? .accepted : .rejected, status: reply.status)
        headers = Self.keptHeaders.compactMap { name in
            reply.headers[name].map { Header(name: name, value: $0) }
        }
        body = reply.excerpt
        readBody(of: provider)
    }

    /// A body that is not of the service's form leaves reason, time and name unknown: a verdict never fails.
    private mutating func readBody(of provider: ForwardedPush.Provider) {
        guard !body.isEmpty else { return }
        ParserPool.events.withParser { parser in
            parser.reset()
            guard let root = try? parser.parse(body), root.isObject else { return }
            switch provider {
            case .apns:
                reason = root["reason"].flatMap(Self.code)
                // Milliseconds since 1970. Source: "Handling notification responses from APNs"
                timestamp = root["timestamp"]?.integer.flatMap { Timestamp(milliseconds: $0)?.date }
            case .fcm:
                message = root["name"].flatMap(Self.name)
                if let error = root["error"] { reason = Self.reason(of: error) }
            }
        }
    }

    /// The code of FCM's own detail, otherwise the canonical status.
    /// Source: firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
    private static func reason(of error: JSONValue) -> String? {
        let codes = error["details"]?.elements.lazy.prefix(16).compactMap { $0["errorCode"].flatMap(code) }
        return codes?.first ?? error["status"].flatMap(code)
    }

    /// Nil for a text that is not a code.
    private static func code(_ value: JSONValue) -> String? { value.string.flatMap { isCode($0) ? $0 : nil } }

    /// Whether a text is a word of letters, digits and `_`. A service may answer with any text, also with one that
    /// quotes the device token of the request.
    package static func isCode(_ text: String) -> Bool {
        (1...longestReason).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
    }

    private static func name(_ value: JSONValue) -> String? {
        guard let text = value.string, !text.isEmpty, text.utf8.count <= longestName else { return nil }
        return text
    }
}
