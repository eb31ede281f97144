import Foundation
import SignalboxNotification
import SignalboxServer
import SignalboxServerTesting
import Synchronization
import Testing

@testable import SignalboxEgress

@Suite(.timeLimit(.minutes(15))) struct OutboundHTTPTests {
    private func loopback() throws -> AddressPolicy {
        AddressPolicy(allow: [try #require(AddressRange("127.0.0.0/8"))])
    }

    @Test func sendsBytesAsTheyAre() async throws {
        let http = OutboundHTTP(policy: try loopback())
        defer { http.stop() }
        let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await ReceivingServer.run { server in
            let reply = try await http.send(
                OutboundRequest(url: server.url, headers: [("webhook-id", "a-1")], body: body))
            #expect(reply.status == 204)
            let message = try #require(await server.next().first)
            #expect(message.body == body)
            #expect(message.id == "a-1")
            #expect(message.path == "/hooks")
        }
    }

    @Test func keepsManyRequestsApart() async throws {
        let http = OutboundHTTP(policy: try loopback())
        defer { http.stop() }
        try await ReceivingServer.run(answer: { 200 + (Int(String(decoding: $0.body, as: UTF8.self)) ?? 0) }) {
            server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<90 {
                    group.addTask {
                        let reply = try await http.send(OutboundRequest(url: server.url, body: Array("\(number)".utf8)))
                        #expect(reply.status == 200 + number)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// The next request tries again.
    @Test(.timeLimit(.minutes(15))) func recoversFromLackOfDescriptors() async throws {
        let isShort = Mutex(true)
        let loop = OutboundLoop(policy: try loopback(), idleConnections: 1) { () throws(TransportError) in
            if isShort.withLock({ $0 }) { throw .exhausted("too many open files") }
            return try SocketPoll()
        }
        let http = OutboundHTTP(loop)
        defer { http.stop() }
        try await Peer.run(["canned", "--reply", #"HTTP/1.1 204 No Content\r\n\r\n"#]) { peer in
            let request = OutboundRequest(url: "http://127.0.0.1:\(peer.port)/", body: [])
            await #expect(throws: TransportError.exhausted("too many open files")) { try await http.send(request) }
            isShort.withLock { $0 = false }
            let reply = try await http.send(request)
            #expect(reply.status == 204)
        }
    }

    /// Idle connections are reused, however many servers never answer.
    @Test(.timeLimit(.minutes(15))) func busyConnectionsDoNotEvictIdleOnes() async throws {
        let http = OutboundHTTP(policy: try loopback(), idleConnections: 1)
        try await Peer.run(["mute"]) { mute in
            try await Peer.run(["canned", "--reply", #"HTTP/1.1 204 No Content\r\n\r\n"#]) { peer in
                try await withThrowingTaskGroup { group in
                    for _ in 0..<5 {
                        group.addTask {
                            _ = await http.attempt(OutboundRequest(url: "http://127.0.0.1:\(mute.port)/", body: []))
                        }
                    }
                    var connections: Set<Int> = []
                    for _ in 0..<5 {
                        let reply = try await http.send(
                            OutboundRequest(url: "http://127.0.0.1:\(peer.port)/", body: []))
                        #expect(reply.status == 204)
                        connections.insert(try #require(await peer.next()?.from))
                    }
                    #expect(connections.count == 1)
                    http.stop()
                }
            }
        }
    }

    @Test func deniesLoopbackUnlessAllowed() async throws {
        let http = OutboundHTTP(policy: AddressPolicy())
        defer { http.stop() }
        try await ReceivingServer.run { server in
            for host in ["127.0.0.1", "localhost", "0x7f000001", "2130706433", "017700000001", "127.1", "[::1]"] {
                do throws(TransportError) {
                    _ = try await http.send(OutboundRequest(url: "http://\(host):\(server.address.port)/"))
                    Issue.record("\(host) was connected to")
                } catch {
                    guard case .denied = error else {
                        Issue.record("\(host): \(error)")
                        return
                    }
                }
            }
        }
    }

    @Test func doesNotFollowRedirects() async throws {
        let http = OutboundHTTP(policy: try loopback())
        defer { http.stop() }
        try await ReceivingServer.run(answer: { _ in 302 }) { server in
            let reply = try await http.send(OutboundRequest(url: server.url))
            #expect(reply.status == 302)
        }
    }

    @Test func distinguishesRefusedUnresolvedAndUnusable() async throws {
        let http = OutboundHTTP(policy: try loopback())
        defer { http.stop() }
        let closed = try await ReceivingServer.run { $0.url }
        await #expect { try await http.send(OutboundRequest(url: closed)) } throws: {
            if case .refused = $0 as? TransportError { true } else { false }
        }
        await #expect { try await http.send(OutboundRequest(url: "http://name.invalid/")) } throws: {
            if case .unresolved = $0 as? TransportError { true } else { false }
        }
        await #expect { try await http.send(OutboundRequest(url: "ftp://127.0.0.1/")) } throws: {
            if case .unusable = $0 as? TransportError { true } else { false }
        }
    }

    @Test func resolvesNamesBeyondASCIIInPunycode() async throws {
        let http = OutboundHTTP(policy: try loopback())
        defer { http.stop() }
        let result = await http.attempt(OutboundRequest(url: "http://bücher.invalid/", timeout: .seconds(5)))
        guard case .failure(.unresolved(let words)) = result.answer else {
            Issue.record("\(result.answer)")
            return
        }
        #expect(words.contains("xn--bcher-kva.invalid"))
    }

    @Test func timesOutSlowRequests() async throws {
        let http = OutboundHTTP(policy: try loopback())
        defer { http.stop() }
        let (never, release) = AsyncStream.makeStream(of: Void.self)
        try await ReceivingServer.run(answer: { _ in
            for await _ in never {}
            return 204
        }) { server in
            await #expect {
                try await http.send(OutboundRequest(url: server.url, timeout: .milliseconds(50)))
            } throws: {
                if case .timeoutReplying = $0 as? TransportError { true } else { false }
            }
            release.finish()
        }
    }

    @Test func reportsAddressAndDuration() async throws {
        let http = OutboundHTTP(policy: try loopback())
        defer { http.stop() }
        let closed = try await ReceivingServer.run { server in
            for _ in 1...2 {
                let result = await http.attempt(OutboundRequest(url: server.url))
                let reply = try result.answer.get()
                #expect(reply.status == 204)
                #expect(result.remoteAddress == "127.0.0.1:\(server.address.port)")
                #expect(result.duration > .zero)
            }
            return server
        }
        let refused = await http.attempt(OutboundRequest(url: closed.url))
        #expect(refused.remoteAddress == "127.0.0.1:\(closed.address.port)")
        for url in ["http://10.0.0.1/", "http://name.invalid/"] {
            #expect(await http.attempt(OutboundRequest(url: url)).remoteAddress == nil)
        }
    }

    @Test func errorCodesAreStable() {
        let errors: [TransportError] = [
            .unresolved(""), .refused(""), .tls(""), .certificate(""), .timeoutConnecting(""), .timeoutReplying(""),
            .interrupted(""),
            .denied(""), .unusable(""), .exhausted(""), .token(""), .stopped,
        ]
        #expect(
            errors.map(\.code) == [
                "dns", "refused", "tls", "tls", "timeout-connect", "timeout-reply", "reset", "denied", "unusable",
                "exhausted",
                "token", "stopped",
            ])
    }

    @Test func stopFailsPendingRequests() async throws {
        let http = OutboundHTTP(policy: try loopback())
        let (never, release) = AsyncStream.makeStream(of: Void.self)
        try await ReceivingServer.run(answer: { _ in
            for await _ in never {}
            return 204
        }) { server in
            let pending = Task { try await http.send(OutboundRequest(url: server.url)) }
            _ = await server.next()
            http.stop()
            await #expect(throws: TransportError.stopped) { try await pending.value }
            await #expect(throws: TransportError.stopped) { try await http.send(OutboundRequest(url: server.url)) }
            release.finish()
        }
    }

    @Test(arguments: [
        ("120", RetryAfter.seconds(120)), (" 0 ", .seconds(0)), ("99999999999999999999", .seconds(.max)),
        ("Fri, 31 Dec 1999 23:59:59 GMT", .date(Date(timeIntervalSince1970: 946_684_799))),
    ])
    func readsRetryAfter(text: String, expected: RetryAfter) { #expect(RetryAfter(text) == expected) }

    @Test(arguments: ["", "soon", "-5", "1.5"]) func rejectsMalformedRetryAfter(text: String) {
        #expect(RetryAfter(text) == nil)
    }

    @Test func pastDatesMeanNow() {
        let now = Date(timeIntervalSince1970: 1000)
        #expect(RetryAfter.date(Date(timeIntervalSince1970: 900)).delay(from: now) == 0)
        #expect(RetryAfter.date(Date(timeIntervalSince1970: 1060)).delay(from: now) == 60)
    }
}
