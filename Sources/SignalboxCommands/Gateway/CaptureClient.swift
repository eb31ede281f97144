import SignalboxConfig
import SignalboxEgress
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification

/// The conditions of `signalbox capture`, as the gateway's API reads them.
package struct CaptureRequest: Sendable {
    /// Query parameters and their values, not escaped.
    package var parameters: [(name: String, value: String)] = []
    /// A device token, in clear or as a hash. In the body, because proxies log queries.
    package var token: String?
    /// The JSON text of a pattern.
    package var match: [UInt8]?

    /// Selects everything.
    package init() {}

    /// Nil unless the text is one JSON object. The gateway reads the pattern itself.
    static func pattern(_ text: [UInt8]) -> [UInt8]? {
        JSONParser.read(text) { $0.isObject ? JSONText($0).bytes : nil }
    }

    var body: [UInt8] {
        .jsonObject { json in
            json.member("token", token)
            json.member("match", raw: match)
        }
    }
}

/// Asks a running gateway for captures.
struct CaptureClient: Sendable {
    /// A part of the gateway's list.
    struct Page: Sendable {
        /// Each capture as the API shows it.
        var captures: [JSONText] = []
        /// The cursor of the next page.
        var next = ""
        /// The cursor of the newest capture; empty if the response has none.
        var last = ""
        /// True if the gateway dropped captures that were not read.
        var isTruncated = false
        /// The near misses of a wait that ended without enough captures.
        var nearMisses: [JSONText] = []
        /// False for a wait that ended without enough captures.
        var isComplete = true
    }

    let connection: GatewayConnection
    /// The most bytes of a response. A page has fewer.
    private static let longestReply = 256 * 1024 * 1024
    /// The time for an answer, in addition to that of a wait.
    private static let patience: Duration = .seconds(15)

    /// The captures after a cursor, the oldest first.
    func search(_ request: CaptureRequest, after cursor: String, limit: Int) async throws(CommandFailure) -> Page {
        try await send("/search", request, [("after", cursor), ("limit", String(limit))])
    }

    /// The cursor of the newest capture.
    func last() async throws(CommandFailure) -> String {
        try await send("/search", CaptureRequest(), [("limit", "1")]).last
    }

    /// Returns as soon as `count` captures came after the cursor, or the time is over.
    func wait(
        _ request: CaptureRequest, for count: Int, after cursor: String, atMost time: Duration
    ) async throws(CommandFailure) -> Page {
        let timeout = "\(max(0, time.milliseconds))ms"
        return try await send(
            "/wait", request, [("after", cursor), ("count", String(count)), ("timeout", timeout)],
            patience: time + Self.patience)
    }

    private func send(
        _ path: String, _ request: CaptureRequest, _ more: [(name: String, value: String)],
        patience: Duration = Self.patience
    ) async throws(CommandFailure) -> Page {
        let query = (request.parameters + more).map { "\($0.name)=\($0.value.percentEncoded)" }.joined(separator: "&")
        let reply = try await connection.answer(
            to: OutboundRequest(
                url: "\(connection.address.root)/v1/captures\(path)?\(query)",
                headers: connection.headers([("content-type", "application/json")]), body: request.body,
                timeout: patience, keptBytes: Self.longestReply))
        return try Self.page(of: reply)
    }

    private static func page(of reply: OutboundReply) throws(CommandFailure) -> Page {
        let parser = JSONParser(limits: limits)
        return try withExtendedLifetime(parser) { () throws(CommandFailure) in
            guard let root = try? parser.parse(reply.excerpt), root.isObject else {
                throw .refused(reply.otherServerDetail)
            }
            let code = root["code"]?.string
            guard reply.status == 200 || code == "capture-timeout" else {
                let hint =
                    reply.isAboutAccess ? " Name an operator's token with --admin-token or SIGNALBOX_ADMIN_TOKEN." : ""
                throw .refused((root["detail"]?.string ?? "The gateway answered \(reply.status).") + hint)
            }
            guard let captures = root["captures"] else { throw .refused(reply.otherServerDetail) }
            return Page(
                captures: captures.elements.map { JSONText($0) }, next: root["next"]?.string ?? "",
                last: root["last"]?.string ?? "", isTruncated: root["truncated"]?.bool ?? false,
                nearMisses: root["nearMisses"]?.elements.map { JSONText($0) } ?? [], isComplete: reply.status == 200)
        }
    }

    private static let limits: JSONParser.Limits = {
        var limits = JSONParser.Limits()
        limits.bytes = longestReply
        return limits
    }()
}
