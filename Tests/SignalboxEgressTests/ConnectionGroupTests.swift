import SignalboxNotification
import SignalboxServerTesting
import SignalboxTesting
import Testing

@testable import SignalboxEgress

/// Requests with a connection of their own, against a server that numbers its connections.
@Suite(.timeLimit(.minutes(15))) struct ConnectionGroupTests {
    private static let token = String(repeating: "ab", count: 32)
    /// Requests to it have no answer.
    private static let silentPath = "/3/device/999" + token.dropFirst(3)

    /// A push service with the file of its authority.
    private struct Server {
        let service: PushServicePeer
        let authority: String

        func request(
            _ group: String?, path: String = "/3/device/" + ConnectionGroupTests.token, body: Int = 10,
            timeout: Duration = .seconds(20)
        ) -> OutboundRequest {
            var request = OutboundRequest(
                url: "https://localhost:\(service.port)\(path)", headers: [("apns-topic", "a.b")],
                body: [UInt8](repeating: 0x20, count: body), timeout: timeout)
            request.transport.tls.authorities = authority
            request.group = group.map { ConnectionGroup(Array($0.utf8)) }
            request.isVerbatim = true
            return request
        }

        /// The connections of the next requests.
        func connections(_ count: Int) async throws -> [Int] { try await service.next(count).map(\.connection) }
    }

    /// `arguments`: of the push service. `limits`: of the client.
    private func run(
        _ arguments: [String] = [], limits: ConnectionGroup.Limits = ConnectionGroup.Limits(),
        _ body: (Server, OutboundHTTP) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificates(in: directory)
            let identity = ["--certificate", files.path("good.pem"), "--key", files.path("server.key")]
            try await PushServicePeer.run(identity + arguments) { service in
                let http = OutboundHTTP(policy: try loopback(), groups: limits)
                defer { http.stop() }
                try await body(Server(service: service, authority: files.path("ca.pem")), http)
            }
        }
    }

    /// Sends requests at the same time and returns their statuses.
    private func send(_ requests: [OutboundRequest], by http: OutboundHTTP) async -> [Int?] {
        await withTaskGroup(of: Int?.self) { tasks in
            for request in requests { tasks.addTask { try? await http.attempt(request).answer.get().status } }
            return await tasks.reduce(into: [Int?]()) { $0.append($1) }
        }
    }

    @Test func eachGroupHasOneConnection() async throws {
        try await run { server, http in
            let requests = (0..<60).map { server.request($0 % 3 == 0 ? "a" : $0 % 3 == 1 ? "b" : "c") }
            let first = await send(requests, by: http)
            let second = await send(requests, by: http)
            #expect(first + second == Array(repeating: 200, count: 120))
            let connections = Set(try await server.connections(120))
            #expect(connections == [1, 2, 3])
        }
    }

    @Test func requestsOfAGroupShareItsConnectionAtTheSameTime() async throws {
        // The server answers only when all of them wait.
        try await run(["--together", "300"]) { server, http in
            let statuses = await send((0..<300).map { _ in server.request("a") }, by: http)
            #expect(statuses == Array(repeating: 200, count: 300))
            let connections = Set(try await server.connections(300))
            #expect(connections == [1])
        }
    }

    @Test func bodiesBeyondTheFlowControlWindowArrive() async throws {
        try await run { server, http in
            let statuses = await send((0..<200).map { _ in server.request("a", body: 4096) }, by: http)
            #expect(statuses == Array(repeating: 200, count: 200))
            let isWhole = try await server.service.next(200).allSatisfy { $0.body.utf8.count == 4096 }
            #expect(isWhole)
        }
    }

    @Test func requestsBeyondTheStreamsOfTheServerWait() async throws {
        try await run(["--streams", "1"]) { server, http in
            #expect(await send([server.request("a")], by: http) == [200])
            let statuses = await send((0..<100).map { _ in server.request("a") }, by: http)
            #expect(statuses == Array(repeating: 200, count: 100))
            let connections = Set(try await server.connections(101))
            #expect(connections == [1])
        }
    }

    @Test func otherRequestsUseOtherConnections() async throws {
        try await run { server, http in
            for group in ["a", nil, "a", nil] { #expect(await send([server.request(group)], by: http) == [200]) }
            let connections = try await server.connections(4)
            #expect(connections == [1, 2, 1, 2])
        }
    }

    @Test func verbatimRequestsHaveOnlyTheirOwnFields() async throws {
        try await run { server, http in
            var request = server.request("a", path: "/3/./device/../\(Self.token)?a=%2e")
            request.headers = [("apns-topic", "a.b"), ("apns-collapse-id", ""), ("authorization", "bearer  x")]
            #expect(await send([request], by: http) == [200])
            let arrived = try #require(try await server.service.next().first)
            #expect(arrived.path == "/3/./device/../\(Self.token)?a=%2e")
            #expect(
                arrived.headers.filter { $0.first != "content-length" } == [
                    ["apns-topic", "a.b"], ["apns-collapse-id", ""], ["authorization", "bearer  x"],
                ])
        }
    }

    @Test func aFurtherGroupEndsTheOneThatIsIdleLongest() async throws {
        try await run(limits: ConnectionGroup.Limits(most: 2)) { server, http in
            for group in ["a", "b", "a", "c", "a", "b"] {
                #expect(await send([server.request(group)], by: http) == [200])
            }
            let connections = try await server.connections(6)
            #expect(connections == [1, 2, 1, 3, 1, 4])
        }
    }

    @Test func aGroupTooManyFails() async throws {
        try await run(["--together", "2"], limits: ConnectionGroup.Limits(most: 1)) { server, http in
            async let pending = http.attempt(server.request("a"))
            _ = try await server.service.next()
            guard case .failure(.exhausted) = await http.attempt(server.request("b")).answer else {
                Issue.record("The second group has a connection.")
                return
            }
            #expect(await send([server.request("a")], by: http) == [200])
            let status = try await pending.answer.get().status
            #expect(status == 200)
        }
    }

    @Test func idleGroupsEnd() async throws {
        try await run(limits: ConnectionGroup.Limits(idle: .zero)) { server, http in
            // The loop passes once more after the first request, when it begins the request without a group.
            #expect(await send([server.request("a")], by: http) == [200])
            _ = await http.attempt(OutboundRequest(method: .get, url: "http://127.0.0.1:1/", timeout: .seconds(5)))
            #expect(await send([server.request("a")], by: http) == [200])
            let connections = try await server.connections(2)
            #expect(connections == [1, 2])
        }
    }

    @Test(arguments: ["a", nil]) func aSilentServerEndsAtTheTimeout(group: String?) async throws {
        try await run { server, http in
            #expect(await send([server.request(group)], by: http) == [200])
            let silent = server.request(group, path: Self.silentPath, timeout: .seconds(2))
            guard case .failure(.timeoutReplying) = await http.attempt(silent).answer else {
                Issue.record("The silent server has an answer.")
                return
            }
            // The connection may be dead, so the next requests use another one.
            for _ in 0..<2 { #expect(await send([server.request(group)], by: http) == [200]) }
            let connections = try await server.connections(4)
            #expect(connections == [1, 1, 2, 2])
        }
    }

    @Test func laterRequestsOfAGroupLeaveASilentConnection() throws {
        var groups = ConnectionGroups(ConnectionGroup.Limits(), SocketWatcher())
        var request = OutboundRequest(url: "https://localhost/")
        request.group = ConnectionGroup([1])
        let first = try groups.connections(for: request)
        groups.replace(first, of: request)
        let second = try groups.connections(for: request)
        // The timeout of another request on the same connection.
        groups.replace(first, of: request)
        let third = try groups.connections(for: request)
        #expect(second !== first && third === second && groups.all.count == 2)
        groups.endIdle()
        #expect(groups.all.count == 1)
    }

    @Test func laterRequestsToAnOriginLeaveASilentConnection() throws {
        var groups = ConnectionGroups(ConnectionGroup.Limits(), SocketWatcher())
        let common = groups.common
        let request = OutboundRequest(url: "https://localhost:1/a?b")
        groups.replace(common, of: request)
        let second = try groups.connections(for: request)
        groups.replace(common, of: request)
        let third = try groups.connections(for: OutboundRequest(url: "https://localhost:1"))
        #expect(second !== common && third === second)
        let other = try groups.connections(for: OutboundRequest(url: "https://localhost:2/a?b"))
        #expect(other === common)
        groups.replace(second, of: request)
        let fourth = try groups.connections(for: request)
        #expect(fourth !== common && fourth !== second && groups.all.count == 2)
        groups.endIdle()
        #expect(groups.all.count == 1)
    }

    @Test func anotherResponseShowsThatAConnectionIsAlive() {
        let sockets = OpenSockets()
        let first = OpenSockets.Ends(remote: "127.0.0.1", remotePort: 443, localPort: 50_000)
        let second = OpenSockets.Ends(remote: "127.0.0.1", remotePort: 443, localPort: 50_001)
        let begun = ContinuousClock.now
        sockets.record([5], as: first)
        #expect(!sockets.hasReplied(on: first, since: begun))
        sockets.recordReply(on: first)
        #expect(sockets.hasReplied(on: first, since: begun))
        #expect(!sockets.hasReplied(on: first, since: .now + .seconds(1)))
        // The first connection was closed: another one has its descriptor.
        sockets.record([5], as: second)
        sockets.recordReply(on: first)
        #expect(!sockets.hasReplied(on: first, since: begun) && !sockets.hasReplied(on: second, since: begun))
    }

    @Test func aConnectionThatTheServerEndsIsReplaced() async throws {
        try await run(["--requests", "2"]) { server, http in
            for _ in 0..<6 { #expect(await send([server.request("a")], by: http) == [200]) }
            let connections = try await server.connections(6)
            #expect(connections == [1, 1, 2, 2, 3, 3])
        }
    }

    @Test func aRefusedRequestIsSentAgain() async throws {
        try await run(["--second", "refuse"]) { server, http in
            for _ in 0..<2 { #expect(await send([server.request("a")], by: http) == [200]) }
            let connections = try await server.connections(3)
            #expect(connections == [1, 1, 2])
        }
    }

    @Test func aRequestThatAServerMayHaveIsNotSentAgain() async throws {
        try await run(["--second", "reset"]) { server, http in
            #expect(await send([server.request("a")], by: http) == [200])
            guard case .failure(.interrupted) = await http.attempt(server.request("a")).answer else {
                Issue.record("The request was sent again.")
                return
            }
            #expect(await send([server.request("a")], by: http) == [200])
            let connections = try await server.connections(3)
            #expect(connections.prefix(2) == [1, 1])
        }
    }

    @Test func tooManyHeadersEndTheRequest() async throws {
        try await run(["--second", "large"]) { server, http in
            #expect(await send([server.request(nil)], by: http) == [200])
            let result = await http.attempt(server.request(nil))
            #expect(result.answer == .failure(.interrupted("the reply has too many headers")))
        }
    }
}
