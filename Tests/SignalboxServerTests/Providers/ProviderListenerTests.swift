import Foundation
import NIOCore
import SignalboxEgress
import SignalboxTesting
import Testing

@testable import SignalboxServer

/// The listener in this process, with clients that choose every frame.
@Suite(.timeLimit(.minutes(15)))
struct ProviderListenerTests {
    /// Senders depend on these frames: a response without a body is one frame, a response with a body two.
    @Test func sendsExactlyTheseFrames() async throws {
        let frames = try await TestListener.run { listener in try await listener.play("log").texts("frame") }
        #expect(
            frames == [
                "SETTINGS 0 0 0003000003e800040000ffff000500004000000600001f40",
                "WINDOW_UPDATE 0 0 000f0001",
                "SETTINGS 0 1",
                "HEADERS 1 5 :status=200 apns-id=AbC-1",
                "HEADERS 3 4 :status=400",
                #"DATA 3 1 {"reason":"BadDeviceToken"}"#,
            ])
    }

    @Test func recognisesHTTP2WithoutNegotiation() async throws {
        let results = try await TestListener.run { try await $0.play("without_alpn").texts("answers") }
        #expect(results == Array(repeating: #"{"1":[200,""]}"#, count: 3))
    }

    @Test func servesHTTP1() async throws {
        let answers = try await TestListener.run { try await $0.play("http1").texts("answer") }
        #expect(
            answers == [
                "HTTP/1.1 400 Bad Request\r\ncontent-length: 27\r\n\r\n{\"reason\":\"BadDeviceToken\"}",
                "HTTP/1.1 200 OK\r\napns-id: x\r\ncontent-length: 0\r\n\r\n",
            ])
    }

    /// A chunked body does not say where it ends, so the next request may arrive with it.
    @Test func answersPipelinedRequestsInTheirOrder() async throws {
        try await TestListener.run { listener in
            let results = try await listener.play("pipelined") { line in
                guard line["ready"] != nil else { return }
                while listener.heldCount == 0 { await Task.yield() }
                listener.release()
            }
            #expect(results.last?["last"] as? String == "HTTP/1.1 200 OK")
            #expect(results.texts("statuses") == ["[200,400]"])
        }
    }

    @Test func sendsTheWholeOfALastResponse() async throws {
        let results = try await TestListener.run { try await $0.play("large") }
        #expect(results.last?["bytes"] as? Int == TestEndpoint.large)
    }

    @Test func answersAClientThatEndedItsOutput() async throws {
        try await TestListener.run { listener in
            let results = try await listener.play("half_closed") { line in
                guard line["ready"] != nil else { return }
                while listener.heldCount == 0 { await Task.yield() }
                listener.release()
            }
            #expect(results.last?["answer"] as? String == "HTTP/1.1 200 OK")
        }
    }

    @Test func leavesOutTheBodyOfAResponseToHEAD() async throws {
        let frames = try await TestListener.run { try await $0.play("head").texts("frame") }
        #expect(frames == ["HEADERS 1 5 :status=400"])
    }

    @Test func answersTooLargeABodyBeforeItArrives() async throws {
        try await TestListener.run { listener in
            let results = try await listener.play("too_large")
            let large = #"[413,"{\"reason\":\"PayloadTooLarge\"}"]"#
            #expect(results.texts("declared") == [#"{"1":\#(large)}"#])
            #expect(results.texts("undeclared") == [#"{"3":\#(large)}"#])
            #expect(results.texts("fitting") == [#"{"5":[200,""]}"#])
        }
    }

    @Test func answersAThousandStreamsOfAConnection() async throws {
        try await TestListener.run { listener in
            let result = try #require(try await listener.play("many").first)
            #expect(result["ok"] as? Int == 500)
            #expect(result["bad"] as? Int == 500)
            #expect(listener.budget.reserve(64 << 20), "All memory of bodies is free again.")
        }
    }

    @Test func saysWhyAConnectionEnds() async throws {
        let frames = try await TestListener.run { try await $0.play("goaway").texts("frame") }
        #expect(
            frames.suffix(3) == [
                "HEADERS 1 4 :status=403", #"DATA 1 1 {"reason":"Bad"}"#, "GOAWAY 0 0 last=1 code=0 why",
            ])
    }

    /// The HTTP/2 library does not end the connection itself in this case.
    @Test func anErrorAfterTheLastGoAwayEndsTheConnection() async throws {
        let results = try await TestListener.run { try await $0.play("error_after_goaway") }
        #expect(results.last?["closed"] as? Bool == true)
    }

    @Test func holdsAResponse() async throws {
        let results = try await TestListener.run { try await $0.play("delayed") }
        #expect(
            results.texts("frames") == [
                #"["HEADERS 3 5 :status=200","HEADERS 1 4 :status=403","DATA 1 1 {\"reason\":\"InvalidProviderToken\"}"]"#
            ])
        #expect(results.texts("statuses") == ["[403]"])
    }

    @Test func permitsOneStreamUntilASuccess() async throws {
        let frames = try await TestListener.run { try await $0.play("narrow").texts("frame") }
        #expect(
            frames == [
                "HEADERS 1 4 :status=429", "SETTINGS 0 0 000300000001", #"DATA 1 1 {"reason":"Slow"}"#,
                "HEADERS 3 4 :status=400", #"DATA 3 1 {"reason":"BadDeviceToken"}"#,
                "HEADERS 5 5 :status=200", "SETTINGS 0 0 0003000003e8", "HEADERS 7 5 :status=200",
            ])
    }

    @Test func cutsAResponseInTheMiddle() async throws {
        let results = try await TestListener.run { try await $0.play("cut") }
        #expect(
            results.texts("frames") == [
                #"["HEADERS 1 4 :status=400","DATA 1 0 {\"reason\":\"Ba"]"#, #"["HEADERS 1 4 :status=200"]"#,
            ])
        #expect(
            results.texts("answer") == [
                "HTTP/1.1 400 Bad Request\r\ncontent-length: 27\r\nconnection: close\r\n\r\n{\"reason\":\"Ba",
                "HTTP/1.1 200 OK\r\ncontent-length: 1\r\nconnection: close\r\n\r\n",
            ])
    }

    @Test func stopsAfterTheRequestsInProgress() async throws {
        try await TestListener.run { listener in
            let results = try await listener.play("stop") { line in
                guard line["ready"] != nil else { return }
                await listener.stop()
                listener.release()
            }
            #expect(results.last?["statuses"] as? Int == 200)
            #expect(
                results.last?["aways"] as? [String] == [
                    "GOAWAY 0 0 last=2147483647 code=0", "GOAWAY 0 0 last=401 code=0",
                ])
        }
    }

    /// The client does not acknowledge the PING.
    @Test func stopsWithoutTheClient() async throws {
        var limits = ProviderLimits()
        limits.announcement = .milliseconds(10)
        limits.check = .milliseconds(10)
        try await TestListener.run(limits: limits) { listener in
            let results = try await listener.play("silent_stop") { line in
                if line["ready"] != nil { await listener.stop() }
            }
            #expect(
                results.last?["aways"] as? [String] == [
                    "GOAWAY 0 0 last=2147483647 code=0", "GOAWAY 0 0 last=1 code=0",
                ])
        }
    }

    /// The request was sent before the client received the announcement of the end.
    @Test func servesARequestThatCrossesTheAnnouncement() async throws {
        var limits = ProviderLimits()
        // The client acknowledges the PING; on a busy machine, not within the usual second.
        limits.announcement = .minutes(1)
        try await TestListener.run(limits: limits) { listener in
            let results = try await listener.play("late_request") { line in
                if line["ready"] != nil { await listener.stop() }
            }
            let seen = results.last?["seen"] as? [String] ?? []
            #expect(seen.first == "GOAWAY 0 0 last=2147483647 code=0")
            #expect(seen.contains { $0.hasPrefix("HEADERS 3 ") && $0.contains(":status=200") }, "\(seen)")
            #expect(seen.contains("GOAWAY 0 0 last=3 code=0"))
        }
    }

    // MARK: Connections without requests

    @Test func remembersTheFramesBeforeTheFirstRequest() async throws {
        let frames = try await TestListener.run { try await $0.play("before_requests").texts("frame") }
        #expect(
            frames == [
                "SETTINGS 0 0 0003000003e800040000ffff000500004000000600001f40", "WINDOW_UPDATE 0 0 000f0001",
                "SETTINGS 0 1", "PING 0 1 12345678", "SETTINGS 0 1", "HEADERS 1 4 :status=400", "PING 0 1 12345678",
                "SETTINGS 0 1", #"DATA 1 1 {"reason":"BadDeviceToken"}"#,
            ])
    }

    /// One stream more is reset with REFUSED_STREAM, so the client may repeat its request (RFC 9113, 8.7).
    @Test func servesAThousandStreamsBeforeItsSettingsAreAcknowledged() async throws {
        try await TestListener.run { listener in
            let results = try await listener.play("early_streams") { line in
                guard line["ready"] != nil else { return }
                while listener.heldCount < 1000 { await Task.yield() }
                listener.release()
            }
            #expect(results.texts("ready") == ["RST_STREAM 2001 0 00000007"])
            #expect(results.last?["answered"] as? Int == 1000)
            #expect(results.texts("statuses") == ["[200]"])
        }
    }

    @Test func answersManyPingsBeforeTheFirstRequest() async throws {
        let results = try await TestListener.run { try await $0.play("many_pings") }
        #expect(results.last?["acknowledged"] as? Int == 190)
        #expect(results.texts("answers") == [#"{"1":[200,""]}"#])
    }

    /// Errors of RFC 9113, 7: PROTOCOL_ERROR is 1, FLOW_CONTROL_ERROR is 3, FRAME_SIZE_ERROR is 6.
    @Test func closesAConnectionThatBeginsWithAnError() async throws {
        let results = try await TestListener.run { try await $0.play("invalid_beginnings") }
        #expect(results.allSatisfy { $0["closed"] as? Bool == true })
        #expect(results.texts("codes") == ["[1]", "[1]", "[6]", "[1]", "[1]", "[1]", "[6]", "[3]", "[1]"])
    }

    // MARK: Attacks

    @Test func manyCancelledRequestsAreHarmless() async throws {
        let results = try await TestListener.run { try await $0.play("cancels").texts("answers") }
        #expect(results == [#"{"601":[200,""]}"#])
    }

    @Test func manyResetsAfterTheResponseAreHarmless() async throws {
        let results = try await TestListener.run { try await $0.play("late_resets").texts("answers") }
        #expect(results == [#"{"6001":[200,""]}"#])
    }

    /// An attack ends its own connection only; another client is served.
    @Test(arguments: [
        "rapid_reset", "pings", "settings_flood", "priorities", "window_updates", "unknown_frames", "empty_data",
        "continuations", "header_bomb",
    ])
    func closesTheConnectionOfAnAttack(attack: String) async throws {
        try await TestListener.run { listener in
            let results = try await listener.play(attack)
            #expect(results.last?["closed"] as? Bool == true)
            let others = try await listener.play("without_alpn").texts("answers")
            #expect(others.count == 3)
        }
    }

    @Test func closesAfterAHeaderBlockThatDoesNotEnd() async throws {
        var limits = ProviderLimits()
        limits.headers = .milliseconds(50)
        limits.check = .milliseconds(10)
        let results = try await TestListener.run(limits: limits) { try await $0.play("half_header") }
        #expect(results.last?["closed"] as? Bool == true)
    }

    @Test func resetsOnlyTheStreamOfASlowBody() async throws {
        var limits = ProviderLimits()
        limits.bodyGrace = .seconds(2)
        limits.check = .milliseconds(10)
        let results = try await TestListener.run(limits: limits) { try await $0.play("slow_body") }
        #expect(results.last?["frames"] as? [String] == ["HEADERS 3 5 :status=200", "RST_STREAM 1 0 00000008"])
    }

    @Test func closesAConnectionWithoutAWindow() async throws {
        var limits = ProviderLimits()
        limits.readTime = .milliseconds(200)
        limits.check = .milliseconds(10)
        try await TestListener.run(limits: limits) { listener in
            let result = try #require(try await listener.play("no_window").last)
            #expect(result["closed"] as? Bool == true)
            #expect(result["bodies"] as? Int == 0)
            #expect(listener.budget.reserve(64 << 20))
        }
    }

    /// Without GOAWAY: after it, aioapns fails its new pushes.
    @Test func endsAConnectionWhoseWindowRunsOut() async throws {
        var limits = ProviderLimits()
        limits.leastWindow = 60 * 1024
        let results = try await TestListener.run(limits: limits) { try await $0.play("window_runs_out") }
        let result = try #require(results.last)
        #expect(result["closed"] as? Bool == true)
        #expect(result["aways"] as? [String] == [])
        // A request may be on its way when the connection ends.
        #expect((0...1).contains(try #require(result["unanswered"] as? Int)))
    }

    @Test func keepsAConnectionWhoseWindowIsExtendedLate() async throws {
        var limits = ProviderLimits()
        limits.leastWindow = 60 * 1024
        let results = try await TestListener.run(limits: limits) { try await $0.play("late_window") }
        #expect(results.last?["pings"] as? Int == 1)
        #expect(results.last?["answered"] as? Int == 400)
    }

    @Test func doesNotReadFromAClientThatDoesNotRead() async throws {
        var limits = ProviderLimits()
        limits.readTime = .seconds(2)
        limits.check = .milliseconds(50)
        let results = try await TestListener.run(limits: limits) { try await $0.play("unread") }
        let sent = try #require(results.last?["sent"] as? Int)
        #expect(results.last?["error"] is String, "The client could not go on.")
        #expect(sent < 1_000_000)
    }

    @Test func closesASilentConnection() async throws {
        var limits = ProviderLimits()
        limits.handshake = .milliseconds(20)
        let results = try await TestListener.run(limits: limits) { try await $0.play("handshake") }
        #expect(results.last?["closed"] as? Bool == true)
    }

    @Test func pingsKeepAConnection() async throws {
        var limits = ProviderLimits()
        limits.keepalive = .seconds(2)
        let results = try await TestListener.run(limits: limits) { try await $0.play("keepalive").texts("answers") }
        #expect(results == [#"{"1":[200,""]}"#])
    }

    @Test func endsAnIdleConnectionGracefully() async throws {
        var limits = ProviderLimits()
        (limits.keepalive, limits.idle, limits.announcement) = (.milliseconds(50), .zero, .milliseconds(10))
        limits.check = .milliseconds(10)
        let results = try await TestListener.run(limits: limits) { try await $0.play("idle") }
        #expect(
            results.last?["frames"] as? [String] == [
                "GOAWAY 0 0 last=2147483647 code=0", "PING 0 0 \0\0\0\0\0\0\0\u{1}", "GOAWAY 0 0 last=0 code=0",
            ])
    }

    @Test func closesAConnectionThatDoesNotAnswerPings() async throws {
        var limits = ProviderLimits()
        limits.keepalive = .milliseconds(50)
        let results = try await TestListener.run(limits: limits) { try await $0.play("idle") }
        #expect(results.last?["closed"] as? Bool == true)
        // A late frame of the client delays the end by one PING.
        let frames = try #require(results.last?["frames"] as? [String])
        #expect(Set(frames) == ["PING 0 0 \0\0\0\0\0\0\0\u{2}"])
    }

    @Test func rejectsBodiesBeyondTheMemory() async throws {
        try await TestListener.run(budget: BodyBudget(bytes: 1)) { listener in
            let results = try await listener.play("without_alpn").texts("answers")
            #expect(results.first == #"{"1":[503,"{\"reason\":\"ServiceUnavailable\"}"]}"#)
        }
    }
}
