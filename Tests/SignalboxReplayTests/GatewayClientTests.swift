import Foundation
import SignalboxEgress
import SignalboxGateway
import SignalboxNotification
import SignalboxServerTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct GatewayClientTests {
    private let clock = JumpingClock()
    private static let receipt = #"{"id":"1","vendor":"braze","kind":"alert","routes":["all"],"destinations":[]}"#

    private func reply(_ status: Int, _ headers: String = "", _ body: String = "") -> String {
        "HTTP/1.1 \(status) x\\r\\n\(headers)content-length: \(body.utf8.count)\\r\\n\\r\\n\(body)"
    }

    /// Returns the result, with the keys of the requests.
    private func send(
        _ replies: [String], requests: Int
    ) async throws -> (result: Result<[Receipt], ReplayError>, keys: [String]) {
        let http = OutboundHTTP(
            policy: AddressPolicy(allow: [AddressRange("127.0.0.0/8")].compactMap { $0 }))
        defer { http.stop() }
        return try await Peer.run(["canned"] + replies.flatMap { ["--reply", $0] }) { peer in
            let address = try #require(GatewayAddress("http://127.0.0.1:\(peer.port)", source: nil))
            let client = GatewayClient(
                address, token: "secret", http: http, clock: clock, elapsed: { [clock] in clock.elapsed },
                now: { Date() })
            let result: Result<[Receipt], ReplayError>
            do throws(ReplayError) {
                result = .success(try await client.send(Array("{}".utf8), of: 1, key: "replay-1"))
            } catch {
                result = .failure(error)
            }
            var keys: [String] = []
            for _ in 0..<requests {
                let request = try #require(try await peer.next())
                #expect(request.headers["authorization"] == "Bearer secret")
                #expect(request.line.hasPrefix("POST /v1/notifications "))
                #expect(request.body == "{}")
                keys.append(request.headers["idempotency-key"] ?? "none")
            }
            return (result, keys)
        }
    }

    private let taken = Receipt.taken(vendor: "braze", routes: ["all"], warnings: [], isRepeat: false)

    @Test func obeysRetryAfterAndRepeatsTheSameRequest() async throws {
        let (result, keys) = try await send(
            [reply(503, "retry-after: 7\\r\\n"), reply(429, "retry-after: 40\\r\\n"), reply(202, "", Self.receipt)],
            requests: 3)
        #expect(try result.get() == [taken])
        #expect(keys == ["replay-1", "replay-1", "replay-1"])
        #expect(clock.elapsed == .seconds(47))
    }

    @Test func backsOffWithoutRetryAfter() async throws {
        let (result, _) = try await send(
            [reply(503), reply(500), reply(502), reply(202, "", Self.receipt)], requests: 4)
        #expect(try result.get() == [taken])
        #expect(clock.elapsed == .milliseconds(250 + 500 + 1000))
    }

    @Test func retriesAfterALostConnection() async throws {
        let (result, keys) = try await send(
            [reply(503, "retry-after: 1\\r\\n"), #"SSH-2.0-OpenSSH_9.2\r\n\r\n"#, reply(202, "", Self.receipt)],
            requests: 3)
        #expect(try result.get() == [taken])
        #expect(keys == ["replay-1", "replay-1", "replay-1"])
    }

    @Test func givesUpAfterTenMinutes() async throws {
        let (result, _) = try await send([reply(503)], requests: 1)
        #expect(
            result
                == .failure(.refused("No payload was accepted for 10 minutes: the gateway answered 503.")))
        #expect(clock.elapsed > .seconds(600) && clock.elapsed < .seconds(700))
    }

    @Test func includesTheDetailOfAProblem() async throws {
        let problem = #"{"status":401,"code":"unauthorized","detail":"No source has this token."}"#
        let (result, _) = try await send([reply(401, "", problem)], requests: 1)
        #expect(result == .failure(.refused("The gateway answered 401: No source has this token.")))
    }

    @Test func failsAtOnceIfNoServerListens() async throws {
        let http = OutboundHTTP(
            policy: AddressPolicy(allow: [AddressRange("127.0.0.0/8")].compactMap { $0 }))
        defer { http.stop() }
        let address = try #require(GatewayAddress("http://127.0.0.1:1", source: nil))
        let client = GatewayClient(
            address, token: nil, http: http, clock: clock, elapsed: { [clock] in clock.elapsed }, now: { Date() })
        do throws(ReplayError) {
            _ = try await client.send([], of: 1, key: "k")
            Issue.record("The port has no listener.")
        } catch {
            guard case .refused(let sentence) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(sentence.hasPrefix("Cannot reach http://127.0.0.1:1/v1/notifications: not connected"))
        }
        #expect(clock.elapsed == .zero)
    }

    @Test func closeEndsWaitingRequests() async throws {
        let http = OutboundHTTP(policy: AddressPolicy())
        defer { http.stop() }
        let address = try #require(GatewayAddress("http://127.0.0.1:1", source: nil))
        let client = GatewayClient(
            address, token: nil, http: http, clock: clock, elapsed: { [clock] in clock.elapsed }, now: { Date() })
        client.close()
        await #expect(throws: ReplayError.interrupted) { try await client.send([], of: 1, key: "k") }
    }
}
