import Foundation
import SignalboxConfig
import SignalboxEgress
import SignalboxJSON
import SignalboxNotification
import SignalboxServerTesting
import SignalboxTesting
import Testing

@testable import SignalboxGateway

@Suite(.timeLimit(.minutes(15))) struct PassThroughTests {
    private static let id = "8F5E6A0C-0000-4000-8000-00000000000A"

    private func text(_ body: [UInt8]) -> String { String(decoding: body, as: UTF8.self) }

    // MARK: Requests

    @Test func forwardsFieldsAndBodyUnchanged() async throws {
        try await ForwardBench.run { bench in
            #expect(await bench.answer(ForwardBench.push(id: Self.id)) == "accepted 200")
            let arrived = try #require(try await bench.peer.next().first)
            #expect(arrived.method == "POST" && arrived.path == "/3/device/" + ForwardBench.token(200))
            #expect(arrived.body == String(decoding: ForwardBench.body, as: UTF8.self))
            #expect(
                arrived.headers.filter { $0.first != "content-length" } == [
                    ["apns-topic", "com.example.app"], ["authorization", "bearer x.y.z"], ["apns-id", Self.id],
                ])
        }
    }

    /// Two senders of one team.
    @Test func sendersOfOneTeamHaveConnectionsOfTheirOwn() async throws {
        try await ForwardBench.run { bench in
            let pushes = [
                ForwardBench.push(), ForwardBench.push(from: ForwardBench.other),
                ForwardBench.push(credential: "TEAM OTHER"), ForwardBench.push(),
                ForwardBench.push(from: ForwardBench.other),
            ]
            for push in pushes { #expect(await bench.answer(push) == "accepted 200") }
            let arrived = try await bench.peer.next(5)
            #expect(arrived.map(\.connection) == [1, 2, 3, 1, 2])
            #expect(Set(arrived.map { $0.headers.description + $0.body }).count == 1, "the same bytes")
        }
    }

    @Test func handsBackTheAnswerOfTheService() async throws {
        try await ForwardBench.run { bench in
            guard case .verdict(let verdict) = await bench.passThrough.forward(ForwardBench.push(410, id: Self.id))
            else {
                Issue.record("The push has no answer.")
                return
            }
            #expect(verdict.status == 410)
            #expect(verdict.header("apns-id") == Self.id && verdict.header("content-type") == "application/json")
            #expect(text(verdict.body) == #"{"reason": "Unregistered", "timestamp": 1795210140123}"#)
            guard case .verdict(let limited) = await bench.passThrough.forward(ForwardBench.push(429)) else {
                Issue.record("The push has no answer.")
                return
            }
            #expect(limited.status == 429 && limited.header("retry-after") == "7")
        }
    }

    @Test func aSilentServiceIsUnreachable() async throws {
        try await ForwardBench.run(#""mode": "tee", "timeout": "2s""#) { bench in
            for _ in 0..<2 {
                let silent = ForwardBench.push(999, id: Self.id)
                #expect(await bench.answer(silent) == "unreachable timeout-reply")
            }
            let arrived = try await bench.peer.next(2).count
            #expect(arrived == 2, "the repeat is forwarded again")
            let events = try await bench.events()
            #expect(events.count == 2)
            #expect(events.allSatisfy { text($0).contains(#""outcome":"unreachable","reason":"timeout-reply""#) })
            #expect(bench.ledger.count(.apns, .unreachable) == 2)
        }
    }

    // MARK: Events

    @Test func eachAnswerIsAnEventBeforeTheSenderHasIt() async throws {
        try await ForwardBench.run { bench in
            var push = ForwardBench.push(410, id: Self.id)
            push.target.token = bench.tokens.name(of: Array(ForwardBench.token(410).utf8))
            #expect(await bench.answer(push) == "rejected 410 Unregistered")
            let body = try #require(try await bench.events().first)
            #expect(!text(body).contains(ForwardBench.token(410)))
            let document = try #require(EventDocument(body))
            #expect(document.text("type") == "io.signalbox.push.answered")
            #expect(document.text("subject") == "apns/rejected")
            #expect(document.text("source") == "/signalbox/test/mobile")
            #expect(document.text("dataschema") == "urn:signalbox:schema:push:1")
            #expect(document.text("data", "notification", "id") == push.event)
            #expect(document.text("data", "host") == "localhost:\(bench.peer.port)")
            #expect(document.json("data", "status")?.string == "410")
            #expect(document.text("data", "reason") == "Unregistered")
            #expect(document.text("data", "timestamp") == "2026-11-20T21:29:00.123Z")
            #expect(document.text("data", "target", "token") == push.target.token)
            #expect(document.text("data", "target", "topic") == "com.example.app")
            #expect(document.text("data", "apnsId") == Self.id)
        }
    }

    @Test func anAcceptedMessageOfFCMHasItsName() async throws {
        try await ForwardBench.run { bench in
            let token = ForwardBench.token(200)
            let push = ForwardedPush(
                .fcm, from: ForwardBench.mobile, event: "01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c11",
                path: "/v1/projects/demo/messages:send", body: Array(#"{"message":{"token":"\#(token)"}}"#.utf8))
            #expect(await bench.answer(push) == "accepted 200")
            let body = try #require(try await bench.events().first)
            let document = try #require(EventDocument(body))
            #expect(document.text("subject") == "fcm/accepted")
            #expect(document.text("data", "message") == "projects/demo/messages/1-\(token)")
        }
    }

    // MARK: Repeats

    @Test func aRepeatGetsTheRecordedAnswer() async throws {
        try await ForwardBench.run { bench in
            for _ in 0..<2 {
                #expect(await bench.answer(ForwardBench.push(id: Self.id)) == "accepted 200")
                #expect(await bench.answer(ForwardBench.push(410, id: Self.id)).hasPrefix("rejected 410"))
            }
            // Later requests follow at once, so the service has seen each push once.
            #expect(await bench.answer(ForwardBench.push(400)) == "rejected 400 BadDeviceToken")
            let arrived = try await bench.peer.next(3)
            #expect(arrived.map { $0.path.dropFirst(10).prefix(3) } == ["200", "410", "400"])
            let recorded = try await bench.events().count
            #expect(recorded == 3)
        }
    }

    @Test func aRepeatAfterAPassingFailureIsForwardedAgain() async throws {
        try await ForwardBench.run { bench in
            for status in [503, 429, 403] {
                let first = await bench.answer(ForwardBench.push(status, id: Self.id))
                #expect(await bench.answer(ForwardBench.push(status, id: Self.id)) == first)
            }
            let arrived = try await bench.peer.next(6).count
            #expect(arrived == 6)
            let recorded = try await bench.events().count
            #expect(recorded == 6)
        }
    }

    @Test func aPushWithoutAnIDIsAlwaysForwarded() async throws {
        try await ForwardBench.run { bench in
            for _ in 0..<2 { #expect(await bench.answer(ForwardBench.push()) == "accepted 200") }
            let arrived = try await bench.peer.next(2).count
            #expect(arrived == 2)
        }
    }

    @Test func repeatsInProgressWaitForTheFirst() async throws {
        // The service answers only when two requests wait.
        try await ForwardBench.run(peer: ["--together", "2"]) { bench in
            async let first = bench.answer(ForwardBench.push(id: Self.id))
            _ = try await bench.peer.next()
            async let second = bench.answer(ForwardBench.push(id: Self.id))
            async let third = bench.answer(ForwardBench.push(id: Self.id))
            #expect(await bench.answer(ForwardBench.push(400)) == "rejected 400 BadDeviceToken")
            #expect(await [first, second, third] == ["accepted 200", "accepted 200", "accepted 200"])
            let recorded = try await bench.events().count
            #expect(recorded == 2)
        }
    }

    // MARK: Bounds and modes

    @Test func aPushTooManyIsBusy() async throws {
        try await ForwardBench.run(#""mode": "tee", "concurrency": 1"#, peer: ["--together", "2"]) { bench in
            async let first = bench.answer(ForwardBench.push())
            _ = try await bench.peer.next()
            #expect(await bench.answer(ForwardBench.push()) == "busy")
            // Another source has its own share; its connection waits for a second request, too.
            async let others = bench.answer(ForwardBench.push(from: ForwardBench.other))
            _ = try await bench.peer.next()
            bench.http.stop()
            #expect(await [first, others] == ["unreachable stopped", "unreachable stopped"])
            #expect(await bench.answer(ForwardBench.push()) != "busy")
        }
    }

    @Test func theModeDecidesWhichPushesAreForwarded() async throws {
        let tester = Array(ForwardBench.token(200).utf8)
        let name = TokenHash(key: [UInt8](repeating: 7, count: 32)).name(of: tester)
        try await ForwardBench.run(#""mode": "only", "tokens": ["\#(name)"]"#) { bench in
            let passThrough = bench.passThrough
            #expect(passThrough.mode(of: ForwardBench.mobile) == .only)
            #expect(passThrough.forwards(token: tester, of: ForwardBench.mobile))
            #expect(!passThrough.forwards(token: [1], of: ForwardBench.mobile))
            #expect(!passThrough.forwards(token: nil, of: ForwardBench.mobile))
            #expect(passThrough.mode(of: SourceName("plain")) == .capture)
            #expect(!passThrough.forwards(token: tester, of: SourceName("plain")))
        }
        try await ForwardBench.run { bench in
            #expect(bench.passThrough.forwards(token: nil, of: ForwardBench.mobile))
        }
    }

    @Test func answersAreCounted() async throws {
        try await ForwardBench.run { bench in
            for status in [200, 200, 410] { _ = await bench.answer(ForwardBench.push(status)) }
            #expect(bench.ledger.count(.apns, .accepted) == 2 && bench.ledger.count(.apns, .rejected) == 1)
            #expect(bench.ledger.count(.fcm, .accepted) == 0)
        }
    }
}
