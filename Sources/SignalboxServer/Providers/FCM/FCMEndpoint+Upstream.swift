import SignalboxConfig
import SignalboxGateway
import SignalboxNotification

/// Senders whose access tokens come from Google. The gateway cannot verify such a token; Google can. Only a source that
/// forwards its pushes, and lists the project, accepts them.
extension FCMEndpoint {
    /// The source that a request with a token of Google's speaks for, if Google accepts the token; nil for a request
    /// that ``GoogleAccess`` decides on.
    func sourceToAsk(_ request: ProviderRequest, _ operation: FCMOperation) -> SourceName? {
        guard case .send(let project) = operation, let source = access.owner(of: project),
            let forwarding = acceptance.forwarding, forwarding.passThrough.mode(of: source) != .capture,
            let authorization = request.header("authorization"), authorization.lowercased().hasPrefix("bearer "),
            !forwarding.isOwnToken(authorization, request)
        else { return nil }
        return source
    }

    /// Calls `send` if Google accepts the token of the request for the project. Otherwise replies 401, or 503 if Google
    /// does not decide.
    func ask(
        about request: ProviderRequest, to project: String, of source: SourceName,
        _ reply: @escaping @Sendable (ProviderReply) -> Void, _ send: @escaping @Sendable () -> Void
    ) {
        guard let forwarding = acceptance.forwarding, let authorization = request.header("authorization") else {
            return reply(GoogleError.unauthenticated(.missing).reply)
        }
        // Unstructured, because the caller is an event loop. The timeout of the upstream ends it.
        Task {
            switch await proofs.answer(
                for: authorization, project: project, of: source, by: forwarding.passThrough, at: now())
            {
            case .accepted: send()
            case .rejected:
                let error = GoogleError.unauthenticated(.unsupported)
                failures.record(.fcm(error.status), from: request.connection)
                reply(error.reply)
            case .unknown: reply(GoogleError.unavailable.reply)
            }
        }
    }
}

extension GoogleError {
    /// A request of a source that forwards its pushes, which the gateway neither forwards nor answers.
    static let notForwarded = GoogleError(
        status: .unavailable,
        message: "This source forwards its pushes. Only projects.messages.send can be forwarded; send other requests "
            + "to Google.", details: [.fcm("UNAVAILABLE")])
}
