import Foundation
import NIOCore
import SignalboxNotification
import Synchronization
import Testing

@testable import SignalboxServer

/// Access tokens that Google issued. The tests answer the questions to Google.
@Suite(.timeLimit(.minutes(15))) struct BearerProofsTests {
    /// The questions in progress.
    private final class Google: Sendable {
        // A class because questions and test share it.
        private let waiting = Mutex<[CheckedContinuation<BearerProofs.Answer, Never>]>([])
        private let total = Atomic(0)

        var questions: Int { total.load(ordering: .relaxed) }

        func ask() async -> BearerProofs.Answer {
            await withCheckedContinuation { question in
                waiting.withLock { $0.append(question) }
                total.add(1, ordering: .relaxed)
            }
        }

        func answer(_ answer: BearerProofs.Answer) {
            let questions = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for question in questions { question.resume(returning: answer) }
        }
    }

    private let proofs = BearerProofs()
    private let google = Google()
    private let now = Date(timeIntervalSince1970: 1_795_000_000)

    private func claim(_ token: String, of source: String = "mobile", from peer: Int = 1) throws -> BearerProofs.Claim {
        BearerProofs.Claim(
            authorization: "Bearer " + token, project: "demo", source: SourceName(source),
            peer: PeerAddress(try SocketAddress(ipAddress: "192.0.2.\(peer)", port: 1)))
    }

    private func answer(_ claim: BearerProofs.Claim, after seconds: TimeInterval = 0) async -> BearerProofs.Answer {
        await proofs.answer(to: claim, at: now.addingTimeInterval(seconds)) { [google] in await google.ask() }
    }

    /// The answers to many requests at once. Google answers as soon as it has `questions` of them.
    private func answers(
        _ claims: [BearerProofs.Claim], after questions: Int, _ verdict: BearerProofs.Answer = .accepted
    ) async -> [BearerProofs.Answer] {
        await withTaskGroup { group in
            for claim in claims { group.addTask { await answer(claim) } }
            while google.questions < questions { await Task.yield() }
            google.answer(verdict)
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func requestsWithOneTokenShareAQuestion() async throws {
        let claim = try claim("fresh")
        let answers = await answers(Array(repeating: claim, count: 200), after: 1)
        #expect(answers == Array(repeating: .accepted, count: 200))
        #expect(google.questions == 1)
        // Remembered for ten minutes.
        #expect(await answer(claim, after: 599) == .accepted)
        #expect(google.questions == 1)
    }

    @Test func anUndecidedQuestionIsAskedAgain() async throws {
        let claim = try claim("fresh")
        #expect(await answers([claim], after: 1, .unknown) == [.unknown])
        #expect(await answers([claim], after: 2, .rejected) == [.rejected])
        #expect(await answer(claim, after: 59) == .rejected)
        #expect(google.questions == 2)
    }

    @Test func aTokenWithoutRightsIsAskedAboutAfterAMinute() async throws {
        let claim = try claim("fresh")
        #expect(await answers([claim], after: 1, .forbidden) == [.forbidden])
        #expect(await answer(claim, after: 59) == .forbidden)
        #expect(google.questions == 1)
    }

    /// A client with made-up tokens leaves questions for other clients of the same source, and for other sources.
    @Test func clientsAndSourcesHaveShares() async throws {
        try await withThrowingTaskGroup(of: BearerProofs.Answer.self) { group in
            for peer in 1...4 {
                for number in 0..<BearerProofs.mostOfPeer {
                    let claim = try claim("\(peer) \(number)", from: peer)
                    group.addTask { await answer(claim) }
                }
            }
            while google.questions < BearerProofs.mostOfSource { await Task.yield() }
            #expect(await answer(try claim("more", from: 1)) == .unknown)
            #expect(await answer(try claim("more", from: 5)) == .unknown)
            let other = try claim("other", of: "other", from: 5)
            group.addTask { await answer(other) }
            while google.questions < BearerProofs.mostOfSource + 1 { await Task.yield() }
            google.answer(.rejected)
            for try await answer in group { #expect(answer == .rejected) }
        }
        // The shares are free again.
        #expect(await answers([try claim("more", from: 1)], after: BearerProofs.mostOfSource + 2) == [.accepted])
    }
}
