import Foundation
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import Synchronization

/// Asks Google whether it accepts an access token for a project. The gateway cannot verify such tokens, which are
/// opaque. It sends a message that is only validated, with the token of the sender, and remembers the answer.
///
/// A class because the endpoints of all configs share the memory.
final class BearerProofs: Sendable {
    enum Answer: Sendable {
        case accepted, rejected
        /// Google did not decide, or too many questions are in progress.
        case unknown
    }

    private struct State {
        /// By the digest of token, source and project; with the time at which the answer is forgotten.
        var known = BoundedTable<[UInt8], (answer: Answer, end: Date)>(capacity: 10_000)
        var asking = 0
    }

    /// Seconds. A token that Google revokes keeps its access for so long.
    private static let acceptedTime: TimeInterval = 600
    private static let rejectedTime: TimeInterval = 60
    /// Questions in progress. Bounded, because every client can cause one.
    private static let most = 64

    private let state = Mutex(State())

    /// The answer for the token in `authorization`. Asks Google through the upstream of the source, unless the answer
    /// is known.
    func answer(
        for authorization: String, project: String, of source: SourceName, by passThrough: PassThrough, at now: Date
    ) async -> Answer {
        let digest = sha256(Array("\(source)\0\(project)\0\(authorization)".utf8))
        let known = state.withLock { state -> Answer? in
            if let known = state.known[digest], now < known.end { return known.answer }
            guard state.asking < Self.most else { return .unknown }
            state.asking += 1
            return nil
        }
        if let known { return known }
        let answer = await ask(authorization, project, source, passThrough)
        state.withLock { state in
            state.asking -= 1
            switch answer {
            case .accepted: state.known[digest] = (answer, now.addingTimeInterval(Self.acceptedTime))
            case .rejected: state.known[digest] = (answer, now.addingTimeInterval(Self.rejectedTime))
            case .unknown: break
            }
        }
        return answer
    }

    private func ask(
        _ authorization: String, _ project: String, _ source: SourceName, _ passThrough: PassThrough
    ) async -> Answer {
        var question = ForwardedPush(
            .fcm, from: source, event: "", path: "/v1/projects/\(project)/messages:send",
            body: Array(#"{"validate_only":true,"message":{"topic":"signalbox"}}"#.utf8))
        question.headers = [("authorization", authorization), ("content-type", "application/json")]
        question.credential = sha256(Array(authorization.utf8))
        switch await passThrough.probe(question)?.status {
        case .some(200..<300): return .accepted
        case 401, 403, 404: return .rejected
        default: return .unknown
        }
    }
}
