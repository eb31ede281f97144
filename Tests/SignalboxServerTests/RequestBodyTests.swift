import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOHTTP1
import Testing

@testable import SignalboxServer

@Suite struct RequestBodyTests {
    /// A request whose body fails after these bytes.
    private static func request(_ bytes: String, then error: any Error) async -> Request {
        let (body, source) = RequestBody.makeStream()
        await source.yield(ByteBuffer(string: bytes))
        source.finish(error)
        let head = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1", path: "/v1/notifications")
        return Request(head: head, body: body)
    }

    /// The problem of a request whose body fails after these bytes.
    private static func problem(_ bytes: String, then error: any Error) async -> Problem? {
        let request = await request(bytes, then: error)
        var reservation = BodyReservation(
            in: BodyBudget(bytes: 10_000), for: BodyHolder(source: nil, peer: PeerAddress(nil)))
        do throws(Problem) {
            _ = try await request.wholeBody(upTo: 1000, reserving: &reservation)
            return nil
        } catch {
            return error
        }
    }

    private struct Lost: Error {}

    @Test(
        arguments: [
            (.invalidEOFState, .unreadableBody), (.invalidChunkSize, .malformedBody), (.lfExpected, .malformedBody),
            (.unknown, .malformedBody),
        ] as [(HTTPParserError, Problem)])
    func aBodyThatEndsEarlyIsIncomplete(error: HTTPParserError, problem: Problem) async {
        #expect(await Self.problem("abc", then: error) == problem)
    }

    @Test func otherFailuresHaveTheirProblems() async {
        #expect(await Self.problem("abc", then: SlowBody()) == .slowBody)
        #expect(await Self.problem("abc", then: Lost()) == .unreadableBody)
        #expect(Problem.unreadableBody.code == "body-incomplete" && Problem.unreadableBody.status == .badRequest)
    }
}
