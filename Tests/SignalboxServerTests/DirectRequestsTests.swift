import HTTPTypes
import NIOCore
import NIOHTTPTypes
import SignalboxNotification
import SignalboxTesting
import Testing

@testable import SignalboxServer

@Suite struct DirectRequestsTests {
    private static let limit = 10

    /// Takes requests whose path begins with `/direct`.
    private func requests() -> DirectRequests {
        DirectRequests(limit: Self.limit) {
            $0.path?.hasPrefix("/direct") ?? false ? DirectSender(source: .default, config: 1) : nil
        }
    }

    private static func head(_ path: String) -> HTTPRequestPart {
        .head(HTTPRequest(method: .post, scheme: "http", authority: "x", path: path))
    }

    private static func body(_ text: String) -> HTTPRequestPart { .body(ByteBuffer(string: text)) }

    private let nothing = DirectRequests.Step.pass([])
    private let direct = Self.head("/direct")
    private let other = Self.head("/other")
    private let end = HTTPRequestPart.end(nil)

    /// The path and the body of the request that is taken; nil where none is.
    private func taken(_ step: DirectRequests.Step) -> [String]? {
        guard case .take(let request) = step else { return nil }
        return [request.head.path ?? "", String(buffer: request.body)]
    }

    @Test func takesARequestThatIsThereWhole() {
        var requests = requests()
        #expect(requests.receive(direct) == nothing)
        #expect(requests.receive(Self.body("abc")) == nothing)
        #expect(requests.receive(Self.body("def")) == nothing)
        #expect(taken(requests.receive(end)) == ["/direct", "abcdef"])
    }

    @Test func takesOneWithoutABody() {
        var requests = requests()
        #expect(requests.receive(direct) == nothing)
        #expect(taken(requests.receive(end)) == ["/direct", ""])
    }

    @Test func handsOnWhatItDoesNotWant() {
        var requests = requests()
        for part in [other, Self.body("abc"), end] { #expect(requests.receive(part) == .pass([part])) }
        #expect(requests.pause() == nothing)
    }

    @Test func waitsOnceForTheRest() {
        var requests = requests()
        #expect(requests.receive(direct) == nothing)
        #expect(requests.pause() == nothing)
        #expect(requests.receive(Self.body("abc")) == nothing)
        #expect(taken(requests.receive(end)) == ["/direct", "abc"])
    }

    @Test func handsOnWhatIsSlower() {
        var requests = requests()
        #expect(requests.receive(direct) == nothing)
        #expect(requests.pause() == nothing)
        #expect(requests.receive(Self.body("abc")) == nothing)
        #expect(requests.pause() == .pass([direct, Self.body("abc")]))
        #expect(requests.receive(Self.body("def")) == .pass([Self.body("def")]))
        #expect(requests.receive(end) == .pass([end]))
    }

    @Test func handsOnABodyThatIsTooLarge() {
        var requests = requests()
        let (begin, rest) = (Self.body("01234567"), Self.body("890"))
        #expect(requests.receive(direct) == nothing)
        #expect(requests.receive(begin) == nothing)
        #expect(requests.receive(rest) == .pass([direct, begin, rest]))
        #expect(requests.receive(end) == .pass([end]))
    }

    @Test func handsOnTrailers() {
        var requests = requests()
        let end = HTTPRequestPart.end([.accept: "x"])
        #expect(requests.receive(direct) == nothing)
        #expect(requests.receive(end) == .pass([direct, end]))
    }

    @Test func takesNoneBeforeThoseThatWentOnAreAnswered() {
        var requests = requests()
        #expect(requests.receive(other) == .pass([other]))
        #expect(requests.receive(end) == .pass([end]))
        #expect(requests.receive(direct) == .pass([direct]))
        #expect(requests.receive(end) == .pass([end]))
        requests.answeredPassed()
        #expect(requests.receive(direct) == .pass([direct]))
        #expect(requests.receive(end) == .pass([end]))
        requests.answeredPassed()
        requests.answeredPassed()
        #expect(requests.receive(direct) == nothing)
        #expect(taken(requests.receive(end)) != nil)
    }

    @Test func holdsWhatComesBehindTheOneThatWasTaken() {
        var requests = requests()
        _ = requests.receive(direct)
        #expect(taken(requests.receive(end)) != nil)
        #expect(requests.mayRead)
        #expect(requests.receive(other) == nothing)
        #expect(requests.receive(end) == nothing)
        #expect(requests.pause() == nothing)
        #expect(requests.end() == nothing)
        #expect(!requests.mayRead)
        #expect(requests.nextHeld() == nil)
        requests.answeredTaken()
        #expect([requests.nextHeld(), requests.nextHeld(), requests.nextHeld()] == [other, end, nil])
        #expect(requests.mayRead)
        #expect(requests.receive(other) == .pass([other]))
    }

    @Test func whatIsGivenUpIsOneOfThoseThatWentOn() {
        var requests = requests()
        _ = requests.receive(direct)
        #expect(taken(requests.receive(end)) != nil)
        requests.gaveUp()
        #expect(requests.receive(direct) == .pass([direct]))
        #expect(requests.receive(end) == .pass([end]))
        requests.answeredPassed()
        requests.answeredPassed()
        #expect(requests.receive(direct) == nothing)
    }

    /// Nobody would hear the answer (RFC 9112, 9.6).
    @Test func takesNoneBehindTheLastOfAConnection() {
        var requests = requests()
        let last = HTTPRequestPart.head(
            HTTPRequest(
                method: .get, scheme: "http", authority: "x", path: "/other", headerFields: [.connection: "Close"]))
        #expect(requests.receive(last) == .pass([last]))
        #expect(requests.receive(end) == .pass([end]))
        requests.answeredPassed()
        #expect(requests.receive(direct) == .pass([direct]))
    }

    @Test func handsOnABeginningThatHasNoEnd() {
        var requests = requests()
        #expect(requests.receive(direct) == nothing)
        #expect(requests.end() == .pass([direct]))
        #expect(requests.end() == nothing)
    }

    // MARK: Any order of things

    /// However a stream of requests is cut, paused and answered: nothing is lost, doubled or out of order, and nobody works
    /// on a request while one of the other kind is under way.
    @Test func everyRequestGoesOneWay() {
        let taken = (0..<300).reduce(0) { $0 + play(seed: 20_261_121 + $1) }
        #expect(taken > 500)
    }

    /// Returns how many were taken.
    private func play(seed: UInt64) -> Int {
        var random = SeededGenerator(seed: seed)
        var requests = requests()
        var input: [HTTPRequestPart] = []
        for request in 0..<20 {
            input.append(Self.head((Bool.random(using: &random) ? "/direct/" : "/other/") + "\(request)"))
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                input.append(Self.body(String(repeating: "b", count: Int.random(in: 1...5, using: &random))))
            }
            input.append(end)
        }
        var output: [HTTPRequestPart] = []
        var (taken, passedUnanswered) = (0, 0)
        func perform(_ step: DirectRequests.Step) {
            switch step {
            case .pass(let parts):
                for part in parts {
                    #expect(!requests.isBusy, "seed \(seed)")
                    if case .head = part { passedUnanswered += 1 }
                    output.append(part)
                }
            case .take(let request):
                #expect(passedUnanswered == 0, "seed \(seed)")
                taken += 1
                output += request.parts
                if Int.random(in: 0..<4, using: &random) == 0 {
                    passedUnanswered += 1
                    requests.gaveUp()
                }
            }
        }
        func answerSomething() {
            if requests.isBusy {
                requests.answeredTaken()
                while let part = requests.nextHeld() { perform(requests.receive(part)) }
            } else if passedUnanswered > 0 {
                passedUnanswered -= 1
                requests.answeredPassed()
            }
        }
        for part in input {
            perform(requests.receive(part))
            if Int.random(in: 0..<4, using: &random) == 0 { perform(requests.pause()) }
            if Int.random(in: 0..<3, using: &random) == 0 { answerSomething() }
        }
        while requests.isBusy || passedUnanswered > 0 { answerSomething() }
        perform(requests.end())
        #expect(Self.joined(output) == Self.joined(input), "seed \(seed)")
        return taken
    }

    /// Bodies as one piece each, for pieces are joined in requests that are taken.
    private static func joined(_ parts: [HTTPRequestPart]) -> [String] {
        parts.reduce(into: []) { texts, part in
            switch part {
            case .head(let head): texts.append(head.path ?? "")
            case .body(let piece): texts[texts.count - 1] += String(buffer: piece)
            case .end: texts.append("end")
            }
        }
    }
}
