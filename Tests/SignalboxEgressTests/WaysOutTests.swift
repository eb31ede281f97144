import SignalboxNotification
import SignalboxServerTesting
import Testing

@testable import SignalboxEgress

@Suite(.timeLimit(.minutes(1))) struct WaysOutTests {
    private func loopback() throws -> [AddressRange] { [try #require(AddressRange("127.0.0.0/8"))] }

    @Test func whoMayGoEquallyFarSharesAClient() throws {
        let ways = WaysOut(allow: [])
        let ranges = try loopback()
        let (plain, far) = (ways.client(), ways.client(allowing: ranges))
        #expect(ways.client() === plain && ways.client(allowing: ranges) === far && plain !== far)
        let separate = ways.separateClient(allowing: [])
        #expect(separate !== plain && ways.separateClient(allowing: []) !== separate && ways.client() === plain)
    }

    @Test func aClientThatNobodyHasIsGone() throws {
        let ways = WaysOut(allow: [])
        var client: OutboundHTTP? = ways.client()
        #expect(ways.isInUse)
        weak let seen = client
        client = nil
        #expect(seen == nil && !ways.isInUse)
    }

    /// The thread ends, and its connections with it, though nobody said stop.
    @Test func aThreadEndsWithTheLastWhoHasItsClient() async throws {
        try await ReceivingServer.run { server in
            let ways = WaysOut(allow: try loopback())
            var client: OutboundHTTP? = ways.client()
            #expect(try await client?.send(OutboundRequest(url: server.url)).status == 204)
            weak let loop = client?.loop
            client = nil
            while loop != nil { await Task.yield() }
            #expect(!ways.isInUse)
        }
    }

    @Test func whatIsUnderWayKeepsItsClientUntilItIsStopped() async throws {
        let (never, release) = AsyncStream.makeStream(of: Void.self)
        try await ReceivingServer.run(answer: { _ in
            for await _ in never {}
            return 204
        }) { server in
            let ways = WaysOut(allow: try loopback())
            let url = server.url
            let (shared, separate) = (ways.client(), ways.separateClient(allowing: []))
            async let first = shared.attempt(OutboundRequest(url: url))
            async let second = separate.attempt(OutboundRequest(url: url))
            _ = await server.next(2)
            ways.stopSeparate()
            #expect(await second.answer.error == .stopped)
            ways.stop()
            #expect(await first.answer.error == .stopped)
            release.finish()
        }
    }
}

extension Result {
    fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
