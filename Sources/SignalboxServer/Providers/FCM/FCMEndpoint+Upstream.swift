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

    /// Reads a push whose token Google must accept first. Until then nothing counts for the source: any client can name
    /// its project.
    func verdict(on request: ProviderRequest, askingFor source: SourceName, _ project: String) -> ProviderVerdict {
        body(of: request, .send(project: project), nil, limit: Self.sendLimit) { body, reply in
            ask(about: request, to: project, of: source, reply) {
                switch acceptance.admission.admit(source, request) {
                case .refused(let excess): reply(GoogleError.exhausted(excess).reply)
                case .admitted(let permit):
                    send(body, to: project, from: source, of: request) { answer in
                        withExtendedLifetime(permit) { reply(answer) }
                    }
                }
            }
        }
    }

    /// Calls `send` if Google accepts the token of the request for the project. Otherwise replies 401, or 503 if Google
    /// does not decide.
    private func ask(
        about request: ProviderRequest, to project: String, of source: SourceName,
        _ reply: @escaping @Sendable (ProviderReply) -> Void, _ send: @escaping @Sendable () -> Void
    ) {
        guard let forwarding = acceptance.forwarding, let authorization = request.header("authorization") else {
            return reply(GoogleError.unauthenticated(.missing).reply)
        }
        let claim = BearerProofs.Claim(
            authorization: authorization, project: project, source: source, peer: request.connection.peer)
        // Unstructured, because the caller is an event loop. The timeout of the upstream ends it.
        Task {
            switch await proofs.answer(to: claim, at: now(), ask: { await claim.ask(by: forwarding.passThrough) }) {
            case .accepted: send()
            case .rejected:
                var refusal = GoogleError.unauthenticated(.unsupported)
                refusal.delay = failures.record(.fcm(refusal.status), from: request.connection)
                reply(refusal.reply)
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
