import Foundation
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import Synchronization

/// Asks Google whether it accepts an access token for a project, and remembers the answer. The gateway cannot verify
/// such tokens, which are opaque. Requests with the same token share one question.
///
/// A class because the endpoints of all configs share the memory.
final class BearerProofs: Sendable {
    enum Answer: Sendable {
        case accepted, rejected
        /// The token is valid, but its account may not send messages of the project.
        case forbidden
        /// Google did not decide, or too many questions are in progress. Not remembered: the next request asks again.
        case unknown
    }

    /// A token for a project, and the client that sent it.
    struct Claim: Sendable {
        /// The field of the request. With its scheme; a secret.
        let authorization: String
        let project: String
        /// The owner of the project.
        let source: SourceName
        /// Counts for ``mostOfPeer``; not a part of the digest.
        let peer: PeerAddress

        /// Identifies the claim in memory, which has no token in clear.
        fileprivate var digest: [UInt8] { sha256(Array("\(source)\0\(project)\0\(authorization)".utf8)) }
    }

    private struct State {
        /// By the digest of token, source and project; with the time at which the answer is forgotten.
        var known = BoundedTable<[UInt8], (answer: Answer, end: Date)>(capacity: 10_000)
        /// The questions in progress, by the same digest.
        var asking: [[UInt8]: Task<Answer, Never>] = [:]
        /// Questions in progress, without zeros.
        var sources: [SourceName: Int] = [:]
        /// The same questions by network.
        var peers: [PeerAddress: Int] = [:]

        /// Without room, the answer is ``Answer/unknown``, and Google receives no question.
        func hasRoom(for claim: Claim) -> Bool {
            asking.count < BearerProofs.most && sources[claim.source] ?? 0 < BearerProofs.mostOfSource
                && peers[claim.peer] ?? 0 < BearerProofs.mostOfPeer
        }

        /// `change`: 1 at the begin of a question, -1 at its end.
        mutating func count(_ claim: Claim, by change: Int) {
            let (source, peer) = ((sources[claim.source] ?? 0) + change, (peers[claim.peer] ?? 0) + change)
            sources[claim.source] = source == 0 ? nil : source
            peers[claim.peer] = peer == 0 ? nil : peer
        }
    }

    /// Seconds. A token that Google revokes keeps its access for so long.
    private static let acceptedTime: TimeInterval = 600
    /// In seconds. Google may accept the token later, after a change of its rights.
    private static let rejectedTime: TimeInterval = 60
    /// The most questions in progress. Bounded, because every client can cause one.
    static let most = 256
    static let mostOfSource = 64
    /// So one client cannot use up the questions of a source.
    static let mostOfPeer = 16

    private let state = Mutex(State())

    /// The answer to a claim. Calls `ask` unless the answer is known, or another request with the same claim asks. All
    /// requests that wait for one question get its answer. `now`: the time from which the answer is remembered.
    func answer(to claim: Claim, at now: Date, ask: @escaping @Sendable () async -> Answer) async -> Answer {
        let digest = claim.digest
        enum Step {
            case known(Answer)
            case wait(Task<Answer, Never>)
        }
        let step = state.withLock { state -> Step in
            if let known = state.known[digest], now < known.end { return .known(known.answer) }
            if let question = state.asking[digest] { return .wait(question) }
            guard state.hasRoom(for: claim) else { return .known(.unknown) }
            state.count(claim, by: 1)
            // Unstructured, because several requests wait for it. The timeout of the upstream ends it.
            let question = Task { [self] in
                let answer = await ask()
                end(claim, digest, answer, at: now)
                return answer
            }
            state.asking[digest] = question
            return .wait(question)
        }
        switch step {
        case .known(let answer): return answer
        case .wait(let question): return await question.value
        }
    }

    /// Remembers the answer to a question.
    private func end(_ claim: Claim, _ digest: [UInt8], _ answer: Answer, at now: Date) {
        state.withLock { state in
            state.asking[digest] = nil
            state.count(claim, by: -1)
            switch answer {
            case .accepted: state.known[digest] = (answer, now.addingTimeInterval(Self.acceptedTime))
            case .rejected, .forbidden: state.known[digest] = (answer, now.addingTimeInterval(Self.rejectedTime))
            case .unknown: break
            }
        }
    }
}

extension BearerProofs.Claim {
    /// Sends a message that is only validated, with the token, through the upstream of the source. No device receives
    /// it. 401 rejects the token, 403 and 404 its use for the project; any other failure decides nothing.
    func ask(by passThrough: PassThrough) async -> BearerProofs.Answer {
        var question = ForwardedPush(
            .fcm, from: source, event: "", path: "/v1/projects/\(project)/messages:send",
            body: Array(#"{"validate_only":true,"message":{"topic":"signalbox"}}"#.utf8))
        question.headers = [("authorization", authorization), ("content-type", "application/json")]
        // All questions of a source share a connection: most of the tokens may be made up.
        question.credential = Array("questions".utf8)
        switch await passThrough.probe(question)?.status {
        case .some(200..<300): return .accepted
        case 401: return .rejected
        case 403, 404: return .forbidden
        default: return .unknown
        }
    }
}
