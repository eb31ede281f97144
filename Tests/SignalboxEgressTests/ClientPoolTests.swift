import SignalboxNotification
import SignalboxServerTesting
import Testing

@testable import SignalboxEgress

@Suite(.timeLimit(.minutes(15))) struct ClientPoolTests {
    private func loopback() throws -> [AddressRange] { [try #require(AddressRange("127.0.0.0/8"))] }

    @Test func equalPoliciesShareAClient() throws {
        let clients = ClientPool(allow: [])
        let ranges = try loopback()
        let (plain, far) = (clients.client(), clients.client(allowing: ranges))
        #expect(clients.client() === plain && clients.client(allowing: ranges) === far && plain !== far)
        let separate = clients.separateClient(allowing: [])
        let own = clients.ownClient()
        #expect(own !== plain && own !== clients.ownClient() && clients.client() === plain)
        #expect(separate !== plain && clients.separateClient(allowing: []) !== separate && clients.client() === plain)
    }

    @Test func unusedClientsAreFreed() throws {
        let clients = ClientPool(allow: [])
        var client: OutboundHTTP? = clients.client()
        #expect(clients.isInUse)
        weak let seen = client
        client = nil
        #expect(seen == nil && !clients.isInUse)
    }

    /// The thread and its connections end without a call of stop.
    @Test func threadEndsWithItsClient() async throws {
        try await ReceivingServer.run { server in
            let clients = ClientPool(allow: try loopback())
            var client: OutboundHTTP? = clients.client()
            #expect(try await client?.send(OutboundRequest(url: server.url)).status == 204)
            weak let loop = client?.loop
            client = nil
            while loop != nil { await Task.yield() }
            #expect(!clients.isInUse)
        }
    }

    @Test func pendingRequestsKeepTheirClient() async throws {
        let (never, release) = AsyncStream.makeStream(of: Void.self)
        try await ReceivingServer.run(answer: { _ in
            for await _ in never {}
            return 204
        }) { server in
            let clients = ClientPool(allow: try loopback())
            let url = server.url
            let (shared, separate) = (clients.client(), clients.separateClient(allowing: []))
            async let first = shared.attempt(OutboundRequest(url: url))
            async let second = separate.attempt(OutboundRequest(url: url))
            _ = await server.next(2)
            clients.stopSeparate()
            #expect(await second.answer.error == .stopped)
            clients.stop()
            #expect(await first.answer.error == .stopped)
            release.finish()
        }
    }
}

extension Result {
    fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
