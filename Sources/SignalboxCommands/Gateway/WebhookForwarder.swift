import SignalboxEgress
package import SignalboxServer

/// Passes received webhooks on to a local application, for `signalbox listen --forward-to`. The operator typed the
/// address, so the egress policy does not apply.
package struct WebhookForwarder: Sendable {
    /// The address for every webhook. The path of the received request is not appended.
    private let url: String
    private let http: OutboundHTTP

    /// The time for an answer, below the longest timeout of a destination.
    private static let timeout: Duration = .seconds(30)
    /// Headers about the connection from the sender (RFC 9110, 7.6.1), and those that the client writes itself. Further
    /// ones are named by ``OutboundRequest/connectionOptions(in:)``.
    private static let dropped: Set<String> = [
        "host", "content-length", "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "expect",
        "proxy-authorization", "proxy-connection",
    ]

    /// Throws for a text that is not an http or https address, without repeating one that may contain a password.
    package init(_ text: String) throws(CommandFailure) {
        guard OutboundURL(text) != nil, text.hasPrefix("http://") || text.hasPrefix("https://"), !text.contains("@")
        else {
            throw .refused(
                "Invalid --forward-to: write an address such as http://127.0.0.1:3000/hooks, without a user or an @.")
        }
        url = text
        http = OutboundHTTP(policy: .unrestricted)
    }

    /// Ends requests in progress.
    package func stop() { http.stop() }

    /// Posts the webhook with its body and its headers unchanged, except for those of the connection. Returns the
    /// status of the answer; 502 if there is none. `remark`: for the printed line.
    package func forward(_ message: WebhookReceiver.Message) async -> (status: Int, remark: String) {
        let dropped = Self.dropped.union(OutboundRequest.connectionOptions(in: message.headers))
        var request = OutboundRequest(
            url: url, headers: message.headers.filter { !dropped.contains($0.name) }, body: message.body,
            timeout: Self.timeout)
        request.isVerbatim = true
        switch await http.attempt(request).answer {
        case .success(let reply): return (reply.status, "forwarded")
        case .failure(let error): return (502, "cannot forward: \(error)")
        }
    }
}
