import SignalboxConfig
import SignalboxGateway
import SignalboxNotification

/// Senders whose access tokens come from Google. The gateway cannot verify such a token; Google can. Only a source that
/// forwards its pushes, and lists the project, accepts them.
extension FCMEndpoint {
    /// The source that a request with a token of Google's speaks for, if Google accepts the token; nil for a request
    /// that ``GoogleAccess`` decides on. `project`: of its path.
    func sourceToAsk(_ request: ProviderRequest, _ project: String) -> SourceName? {
        guard let source = access.owner(of: project),
            let forwarding = acceptance.forwarding, forwarding.passThrough.mode(of: source) != .capture,
            let authorization = request.header("authorization"), authorization.lowercased().hasPrefix("bearer "),
            !forwarding.isOwnToken(authorization, request)
        else { return nil }
        return source
    }

    /// Reads a request whose token Google must accept first. Until then nothing counts for the source: any client can
    /// name its project. Throws 503 for a request that the source must send to Google.
    func verdict(
        on request: ProviderRequest, _ operation: FCMOperation, askingFor source: SourceName, _ project: String
    ) throws(GoogleError) -> ProviderVerdict {
        if !operation.isForwarded, acceptance.forwarding?.refusesOthers(of: source) == true { throw .notForwarded }
        return body(of: request, operation, nil, limit: Self.sendLimit) { body, reply in
            ask(about: request, to: project, of: source, reply) {
                switch acceptance.admission.admit(source, request) {
                case .refused(let excess): reply(GoogleError.exhausted(excess).reply)
                case .admitted(let permit):
                    let answer: @Sendable (ProviderReply) -> Void = { response in
                        withExtendedLifetime(permit) { reply(response) }
                    }
                    switch operation {
                    case .subscriptions(_, let registration), .subscription(_, let registration, _):
                        answer(managed(registration, of: project, from: source, operation, request))
                    default: send(body, to: project, from: source, of: request, answer)
                    }
                }
            }
        }
    }

    /// Calls `send` if Google accepts the token of the request for the project. Otherwise replies 401, 403 if the
    /// token may not send messages of the project, or 503 if Google does not decide.
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
            let answer = await proofs.answer(
                to: claim, at: now(), ask: { await claim.ask(by: forwarding.passThrough) })
            switch answer {
            case .accepted: send()
            case .rejected, .forbidden:
                var refusal: GoogleError =
                    answer == .forbidden ? .projectForbidden : .unauthenticated(.unsupported)
                refusal.delay = failures.record(.fcm(refusal.status), from: request.connection)
                reply(refusal.reply)
            case .unknown: reply(GoogleError.unavailable.reply)
            }
        }
    }
}

extension GoogleError {
    /// Google accepts the token, but does not permit it to send messages of the project.
    static let projectForbidden = GoogleError(
        status: .permissionDenied,
        message: "Google does not permit this token to send messages of the project: grant its account the permission "
            + "cloudmessaging.messages.create, and check that the project exists and has the FCM API enabled.")
    /// A request of a source that forwards its pushes, which the gateway neither forwards nor answers.
    static let notForwarded = GoogleError(
        status: .unavailable,
        message: "This source forwards its pushes. Only projects.messages.send can be forwarded; send other requests "
            + "to Google.", details: [.fcm("UNAVAILABLE")])
}
