import SignalboxNotification
import SignalboxServerTesting
import SignalboxTesting
import Testing

@testable import SignalboxEgress

/// Requests with a connection of their own, against a server that numbers its connections.
@Suite(.timeLimit(.minutes(2))) struct ConnectionGroupTests {
    private static let token = String(repeating: "ab", count: 32)

    private func client(_ limits: ConnectionGroup.Limits = ConnectionGroup.Limits()) throws -> OutboundHTTP {
        OutboundHTTP(policy: try loopback(), groups: limits)
    }

    private func request(_ group: String?, to peer: PushServicePeer, body: Int = 10) -> OutboundRequest {
        var request = OutboundRequest(
            url: "http://127.0.0.1:\(peer.port)/3/device/\(Self.token)", headers: [("apns-topic", "a.b")],
            body: [UInt8](repeating: 0x20, count: body), timeout: .seconds(20))
        request.group = group.map { ConnectionGroup(Array($0.utf8)) }
        request.isVerbatim = true
        return request
    }

    /// Sends requests at the same time and returns their statuses.
    private func send(_ requests: [OutboundRequest], by http: OutboundHTTP) async -> [Int?] {
        await withTaskGroup(of: Int?.self) { tasks in
            for request in requests { tasks.addTask { try? await http.attempt(request).answer.get().status } }
            return await tasks.reduce(into: [Int?]()) { $0.append($1) }
        }
    }

    @Test func eachGroupHasOneConnection() async throws {
        try await PushServicePeer.run { peer in
            let http = try client()
            defer { http.stop() }
            let requests = (0..<60).map { request($0 % 3 == 0 ? "a" : $0 % 3 == 1 ? "b" : "c", to: peer) }
            let first = await send(requests, by: http)
            let second = await send(requests, by: http)
            #expect(first + second == Array(repeating: 200, count: 120))
            #expect(Set(try await peer.next(120).map(\.connection)) == [1, 2, 3])
        }
    }

    @Test func requestsOfAGroupShareItsConnectionAtTheSameTime() async throws {
        // The server answers only when all of them wait.
        try await PushServicePeer.run(["--together", "300"]) { peer in
            let http = try client()
            defer { http.stop() }
            let statuses = await send((0..<300).map { _ in request("a", to: peer) }, by: http)
            #expect(statuses == Array(repeating: 200, count: 300))
            #expect(Set(try await peer.next(300).map(\.connection)) == [1])
        }
    }

    @Test func bodiesBeyondTheFlowControlWindowArrive() async throws {
        try await PushServicePeer.run { peer in
            let http = try client()
            defer { http.stop() }
            let statuses = await send((0..<200).map { _ in request("a", to: peer, body: 4096) }, by: http)
            #expect(statuses == Array(repeating: 200, count: 200))
            #expect(try await peer.next(200).allSatisfy { $0.body.utf8.count == 4096 })
        }
    }

    @Test func requestsBeyondTheStreamsOfTheServerWait() async throws {
        try await PushServicePeer.run(["--streams", "1"]) { peer in
            let http = try client()
            defer { http.stop() }
            #expect(await send([request("a", to: peer)], by: http) == [200])
            let statuses = await send((0..<100).map { _ in request("a", to: peer) }, by: http)
            #expect(statuses == Array(repeating: 200, count: 100))
            #expect(Set(try await peer.next(101).map(\.connection)) == [1])
        }
    }

    @Test func otherRequestsUseOtherConnections() async throws {
        try await withTemporaryDirectory { directory in
            let files = try await TestCertificates(in: directory)
            let arguments = ["--certificate", files.path("good.pem"), "--key", files.path("server.key")]
            try await PushServicePeer.run(arguments) { peer in
                let http = try client()
                defer { http.stop() }
                func request(_ group: String?) -> OutboundRequest {
                    var request = self.request(group, to: peer)
                    request.url = "https://localhost:\(peer.port)/3/device/\(Self.token)"
                    request.transport.tls.authorities = files.path("ca.pem")
                    return request
                }
                for group in ["a", nil, "a", nil] { #expect(await send([request(group)], by: http) == [200]) }
                #expect(try await peer.next(4).map(\.connection) == [1, 2, 1, 2])
            }
        }
    }

    @Test func verbatimRequestsHaveOnlyTheirOwnFields() async throws {
        try await PushServicePeer.run { peer in
            let http = try client()
            defer { http.stop() }
            var request = request("a", to: peer)
            request.headers = [("apns-topic", "a.b"), ("apns-collapse-id", ""), ("authorization", "bearer  x")]
            request.url = "http://127.0.0.1:\(peer.port)/3/./device/../\(Self.token)?a=%2e"
            #expect(await send([request], by: http) == [200])
            let arrived = try #require(try await peer.next().first)
            #expect(arrived.path == "/3/./device/../\(Self.token)?a=%2e")
            #expect(
                arrived.headers.filter { $0.first != "content-length" } == [
                    ["apns-topic", "a.b"], ["apns-collapse-id", ""], ["authorization", "bearer  x"],
                ])
        }
    }

    @Test func aFurtherGroupEndsTheOneThatIsIdleLongest() async throws {
        try await PushServicePeer.run { peer in
            let http = try client(ConnectionGroup.Limits(most: 2))
            defer { http.stop() }
            for group in ["a", "b", "a", "c", "a", "b"] {
                #expect(await send([request(group, to: peer)], by: http) == [200])
            }
            #expect(try await peer.next(6).map(\.connection) == [1, 2, 1, 3, 1, 4])
        }
    }

    @Test func aGroupTooManyFails() async throws {
        try await PushServicePeer.run(["--together", "2"]) { peer in
            let http = try client(ConnectionGroup.Limits(most: 1))
            defer { http.stop() }
            async let pending = http.attempt(request("a", to: peer))
            _ = try await peer.next()
            guard case .failure(.exhausted) = await http.attempt(request("b", to: peer)).answer else {
                Issue.record("The second group has a connection.")
                return
            }
            #expect(await send([request("a", to: peer)], by: http) == [200])
            #expect(try await pending.answer.get().status == 200)
        }
    }

    @Test func idleGroupsEnd() async throws {
        try await PushServicePeer.run { peer in
            let http = try client(ConnectionGroup.Limits(idle: .zero))
            defer { http.stop() }
            // The loop passes once more after the first request, when it begins the request without a group.
            #expect(await send([request("a", to: peer)], by: http) == [200])
            _ = await http.attempt(OutboundRequest(method: .get, url: "http://127.0.0.1:1/", timeout: .seconds(5)))
            #expect(await send([request("a", to: peer)], by: http) == [200])
            #expect(try await peer.next(2).map(\.connection) == [1, 2])
        }
    }

    @Test func aSilentServerEndsAtTheTimeout() async throws {
        try await PushServicePeer.run { peer in
            let http = try client()
            defer { http.stop() }
            var silent = request("a", to: peer)
            silent.url = "http://127.0.0.1:\(peer.port)/3/device/999\(Self.token.dropFirst(3))"
            silent.timeout = .milliseconds(200)
            guard case .failure(.timeoutReplying) = await http.attempt(silent).answer else {
                Issue.record("The silent server has an answer.")
                return
            }
            // The connection may be dead, so the next request opens another one.
            #expect(await send([request("a", to: peer)], by: http) == [200])
            #expect(try await peer.next(2).map(\.connection) == [1, 2])
        }
    }

    @Test func aTimeoutBetweenOtherRepliesKeepsTheConnection() async throws {
        try await PushServicePeer.run { peer in
            let http = try client()
            defer { http.stop() }
            var silent = request("a", to: peer)
            silent.url = "http://127.0.0.1:\(peer.port)/3/device/999\(Self.token.dropFirst(3))"
            silent.timeout = .seconds(3)
            async let pending = http.attempt(silent)
            _ = try await peer.next()
            #expect(await send([request("a", to: peer)], by: http) == [200])
            #expect((try? await pending.answer.get()) == nil)
            #expect(await send([request("a", to: peer)], by: http) == [200])
            #expect(try await peer.next(2).map(\.connection) == [1, 1])
        }
    }

    @Test func aConnectionThatTheServerEndsIsReplaced() async throws {
        try await PushServicePeer.run(["--requests", "2"]) { peer in
            let http = try client()
            defer { http.stop() }
            for _ in 0..<6 { #expect(await send([request("a", to: peer)], by: http) == [200]) }
            #expect(try await peer.next(6).map(\.connection) == [1, 1, 2, 2, 3, 3])
        }
    }
}
