import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Requirements of HTTP/1.1 for servers, on the built binary, with bytes that no HTTP client sends.
@Suite(.timeLimit(.minutes(15))) struct HTTPRulesTests {
    private static let payload = #"{"aps":{"alert":"x"}}"#

    /// A request for the direct path or the router; with a key, only the router accepts it.
    private static func request(
        _ fields: [String], target: String = "/v1/notifications", version: String = "1.1", isDirect: Bool
    ) -> String {
        let all = fields + ["content-length: \(payload.utf8.count)"] + (isDirect ? [] : ["idempotency-key: \(UUID())"])
        return (["POST \(target) HTTP/\(version)"] + all).joined(separator: "\r\n") + "\r\n\r\n" + payload
    }

    private static func statuses(of reply: String) -> [String] {
        reply.matches(of: /HTTP\/1\.1 (\d+)/).map { String($0.1) }
    }

    private static func exchange(_ requests: String, with gateway: Gateway) async throws -> String {
        try await RawConnection.exchange(Data(requests.utf8), with: gateway.url, endsInput: false)
    }

    @Test(arguments: [true, false])
    func aRequestHasOneValidHost(isDirect: Bool) async throws {
        try await Gateway.run { gateway, _, _ in
            for fields in [[], ["host: 127.0.0.1", "host: 127.0.0.1"], ["host: a b"], ["host: user@127.0.0.1"]] {
                let good = Self.request(["host: 127.0.0.1"], isDirect: isDirect)
                let reply = try await Self.exchange(
                    good + Self.request(fields, isDirect: isDirect) + good, with: gateway)
                #expect(Self.statuses(of: reply) == ["202", "400"], "\(fields)")
                #expect(reply.contains(#""code":"host-invalid""#), "\(fields)")
                #expect(reply.contains("connection: close"))
            }
        }
    }

    /// Otherwise a target that names another site would count as this machine.
    @Test(arguments: [true, false])
    func usesTheAuthorityOfAnAbsoluteTarget(isDirect: Bool) async throws {
        try await Gateway.run { gateway, _, _ in
            let close = ["host: 127.0.0.1", "connection: close"]
            for (host, status) in [("127.0.0.1:1", "202"), ("evil.example", "403")] {
                let target = "http://\(host)/v1/notifications"
                let fields = isDirect ? ["host: 127.0.0.1"] : close
                let last = Self.request(close, isDirect: false)
                let request = Self.request(fields, target: target, isDirect: isDirect)
                let reply = try await Self.exchange(request + (isDirect ? last : ""), with: gateway)
                #expect(Self.statuses(of: reply) == (isDirect ? [status, "202"] : [status]), "\(host)")
            }
            let evil = Self.request(["host: evil.example", "connection: close"], isDirect: isDirect)
            let reply = try await Self.exchange(evil, with: gateway)
            #expect(Self.statuses(of: reply) == ["403"])
        }
    }

    @Test func rejectsUnsupportedFraming() async throws {
        try await Gateway.run { gateway, _, _ in
            let chunked = "\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
            let repeated = "transfer-encoding: chunked\r\ntransfer-encoding: chunked"
            for (fields, version, statuses) in [
                ("transfer-encoding: gzip, chunked", "1.1", ["501"]), ("transfer-encoding: chunked", "1.0", ["400"]),
                ("transfer-encoding: chunked\r\ncontent-length: 5", "1.1", ["400"]),
                ("content-length: 5\r\ncontent-length: 6", "1.1", ["400"]),
                (repeated, "1.1", ["400"]),
            ] {
                let request = "POST /v1/notifications HTTP/\(version)\r\nhost: 127.0.0.1\r\n" + fields + chunked
                let good = Self.request(["host: 127.0.0.1"], isDirect: true)
                let reply = try await Self.exchange(request + good, with: gateway)
                #expect(Self.statuses(of: reply) == statuses, "\(fields)")
                // The parser has no error of its own for a repeated coding.
                if statuses == ["400"], fields != repeated {
                    #expect(reply.contains(#""code":"framing-ambiguous""#), "\(fields)")
                }
            }
        }
    }

    /// On the direct path too: a sum with the greatest number would end the process. All at once, because the gateway
    /// waits for the rest of each body before it closes the connection.
    @Test func refusesLengthsBeyondTheLimit() async throws {
        try await Gateway.run { gateway, _, _ in
            let nearest = UInt64(Int.max)
            try await withThrowingTaskGroup(of: Void.self) { exchanges in
                for length in [8_388_609, 1 << 40, nearest - 80, nearest, nearest + 1, UInt64.max] {
                    let head = "POST /v1/notifications HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: \(length)\r\n"
                    for fields in ["", "accept: */*\r\n", "connection: close\r\n"] {
                        exchanges.addTask {
                            let reply = try await Self.exchange(head + fields + "\r\n{}", with: gateway)
                            #expect(Self.statuses(of: reply) == ["413"], "\(length) \(fields)")
                        }
                    }
                }
                try await exchanges.waitForAll()
            }
            #expect(try await gateway.post(Data(Self.payload.utf8)).status == 202)
        }
    }

    @Test func saysThatAChunkedBodyIsMalformed() async throws {
        try await Gateway.run { gateway, _, _ in
            for body in ["zz\r\n{}\r\n0\r\n\r\n", "0x2\r\n{}\r\n0\r\n\r\n", "2\r\n{}{}\r\n0\r\n\r\n"] {
                let head = "POST /v1/notifications HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n"
                let reply = try await Self.exchange(head + body, with: gateway)
                #expect(Self.statuses(of: reply) == ["400"], "\(body)")
                #expect(reply.contains("The chunked coding of the body is malformed"), "\(reply)")
            }
        }
    }

    /// RFC 9110, 4.2.3.
    @Test(arguments: ["LOCALHOST", "Localhost:", "127.0.0.1:", "[::1]:", "localhost:1"])
    func aHostIsComparedWithoutItsCaseAndWithAnEmptyPort(host: String) async throws {
        try await Gateway.run { gateway, _, _ in
            for isDirect in [true, false] {
                let last = Self.request(["host: \(host)", "connection: close"], isDirect: false)
                let request = Self.request(["host: \(host)"], isDirect: isDirect)
                let reply = try await Self.exchange(request + last, with: gateway)
                #expect(Self.statuses(of: reply) == ["202", "202"], "\(isDirect)")
            }
        }
    }

    @Test func ignoresRequestsAfterTheLast() async throws {
        try await Gateway.run { gateway, _, _ in
            let good = Self.request(["host: 127.0.0.1"], isDirect: true)
            for (fields, version) in [
                (["host: a", "Connection: Close"], "1.1"), (["host: a", "connection: foo, close"], "1.1"), ([], "1.0"),
                (["host: a", "connection: upgrade", "upgrade: h2c"], "1.1"),
            ] {
                let request = (["GET /healthz HTTP/\(version)"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
                let reply = try await Self.exchange(request + good, with: gateway)
                #expect(Self.statuses(of: reply) == ["200"], "\(fields)")
                #expect(reply.contains("connection: close"))
            }
        }
    }

    /// Without a response, the client would wait permanently.
    @Test func aClientThatWaitsForContinueReceivesIt() async throws {
        let script = """
            connection = socket.create_connection(("127.0.0.1", port), timeout=20)
            def exchange(path, fields, body, statuses):
                head = "POST " + path + " HTTP/1.1\\r\\nhost: 127.0.0.1\\r\\nexpect: 100-continue\\r\\n" + fields
                connection.sendall((head + "\\r\\n\\r\\n").encode())
                for status in statuses:
                    reply = connection.recv(65536)
                    assert reply.startswith(b"HTTP/1.1 " + status), reply
                    if status == b"100": connection.sendall(body)
            payload = b'{"aps":{"alert":"x"}}'
            length = "content-length: %d" % len(payload)
            exchange("/v1/notifications", length, payload, [b"100", b"202"])
            chunked = b"%x\\r\\n%s\\r\\n0\\r\\n\\r\\n" % (len(payload), payload)
            exchange("/v1/notifications", "transfer-encoding: chunked", chunked, [b"100", b"202"])
            exchange("/v1/deliveries/retry", "content-length: 2", b"{}", [b"100", b"200"])
            exchange("/v1/notifications", "content-length: 9000000", b"", [b"413"])
            connection = socket.create_connection(("127.0.0.1", port), timeout=20)
            exchange("/v1/nothing", length, b"", [b"404"])
            connection = socket.create_connection(("127.0.0.1", port), timeout=20)
            exchange("/v1/notifications", length + "\\r\\nhost: a", b"", [b"400"])
            connection = socket.create_connection(("127.0.0.1", port), timeout=20)
            exchange("/v1/notifications", length + "\\r\\nexpect: x", b"", [b"417"])
            connection = socket.create_connection(("127.0.0.1", port), timeout=20)
            exchange("/v1/notifications", length + "\\r\\nidempotency-key: " + "x" * 256, b"", [b"400"])
            for query in "routes/test?source=a/b", "explain?source=a/b", "events/search?limit=0", \
                "deliveries/retry?state=x", "captures/search?outcome=x":
                connection = socket.create_connection(("127.0.0.1", port), timeout=20)
                exchange("/v1/" + query, length, b"", [b"400"])
            """
        try await Gateway.run { gateway, _, _ in
            try await RawConnection.withClient(script, of: gateway.url) {}
        }
    }

    @Test func listenFollowsTheSameRules() async throws {
        let listener = try binary.start(
            ["listen", "--listen", "127.0.0.1:0"], environment: ["WEBHOOK_SECRET": Gateway.secret])
        let url = try #require(await listener.listeningURL())
        let reply = try await RawConnection.exchange(
            Data("POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n".utf8), with: url, endsInput: false)
        #expect(Self.statuses(of: reply) == ["400"])
        listener.signal(SIGTERM)
        #expect(await listener.end() == 0)
    }

    // MARK: Parameters

    private static let endpoints = [
        ("POST", "/v1/notifications", ""), ("POST", "/v1/sources/app/notifications", ""),
        ("POST", "/v1/interactions", ""), ("GET", "/healthz", ""), ("GET", "/readyz", ""),
        ("GET", "/schemas/notification-1.json", ""), ("GET", "/v1/deliveries", "destination"),
        ("GET", "/v1/deliveries/1", ""), ("POST", "/v1/deliveries/1/retry", ""),
        ("POST", "/v1/deliveries/retry", "destination"), ("GET", "/v1/destinations", ""),
        ("POST", "/v1/destinations/crm/pause", ""), ("POST", "/v1/destinations/crm/resume", ""),
        ("POST", "/v1/destinations/crm/ping", ""), ("GET", "/metrics", ""), ("GET", "/v1/routes", ""),
        ("POST", "/v1/routes/test", "source"), ("GET", "/v1/categories", "cursor"), ("GET", "/v1/categories/a", ""),
        ("GET", "/media/" + String(repeating: "0", count: 64), "expires"),
    ]

    @Test func misspeltParametersAreRejectedEverywhere() async throws {
        try await Gateway.run { gateway, _, _ in
            for (method, path, known) in Self.endpoints {
                let misspelt = known.isEmpty ? "limits" : String(known.dropLast())
                let reply = try await Reply(gateway.url + path + "?\(misspelt)=x", "-X", method)
                let text = String(decoding: reply.body, as: UTF8.self)
                #expect(reply.status == 400, "\(method) \(path)")
                #expect(text.contains(#""code":"parameter-unknown""#), "\(method) \(path): \(text)")
                #expect(text.contains(misspelt), "\(method) \(path)")
                if known.isEmpty { continue }
                #expect(text.contains("did you mean \(known)?"), "\(method) \(path): \(text)")
                let repeated = try await Reply(gateway.url + path + "?\(known)=1&\(known)=1", "-X", method)
                #expect(String(decoding: repeated.body, as: UTF8.self).contains(#""code":"parameter-repeated""#))
            }
        }
    }

    /// A misspelled filter once retried everything, and so did a filter in the body.
    @Test func rejectsAnUnknownFilterWithoutRetrying() async throws {
        try await Gateway.run { gateway, _, _ in
            let path = "/v1/deliveries/retry"
            for query in ["?destinaton=crm", "?limit=1&cursor=1", "?destination=crm&destination=x"] {
                #expect(try await gateway.post(Data(), to: path + query).status == 400, "\(query)")
            }
            for body in [#"{"destination":"crm"}"#, "x", "{", "[]"] {
                for path in [path, "/v1/destinations/crm/pause", "/v1/destinations/crm/ping", "/v1/deliveries/1/retry"]
                {
                    let (status, problem) = try await gateway.post(Data(body.utf8), to: path)
                    #expect(status == 400, "\(body) \(path)")
                    #expect(problem["code"] as? String == "body-unexpected", "\(body) \(path)")
                }
            }
            for body in ["", "{}", " { } \n"] {
                #expect(try await gateway.post(Data(body.utf8), to: path).status == 200, "\(body)")
            }
        }
    }
}
