import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// Limits that keep one peer from locking out the others, on the built binary.
@Suite(.timeLimit(.minutes(15))) struct ConnectionLimitTests {
    private static let payload = #"{"aps":{"alert":"x"}}"#

    @Test func idleConnectionsDoNotBlockNewClients() async throws {
        let script = """
            import resource
            resource.setrlimit(resource.RLIMIT_NOFILE, (1100, 1100))
            kept = []
            for number in range(1000):
                kept.append(socket.create_connection(("127.0.0.1", port), timeout=20))
                if number % 100 == 0:
                    kept[-1].sendall(b"GET /healthz HTTP/1.1\\r\\nhost: 127.0.0.1\\r\\n\\r\\n")
                    assert kept[-1].recv(1000).startswith(b"HTTP/1.1 200")
            """
        try await withTemporaryDirectory { directory in
            // A limit of 1,100 descriptors allows 550 connections.
            let gateway = try await Gateway.start(
                in: directory, config: Gateway.config(to: "http://127.0.0.1:9/"),
                behind: ["prlimit", "--nofile=1100:1100"])
            try await RawConnection.withClient(script, of: gateway.url) {
                let reply = try await gateway.post(Data(Self.payload.utf8))
                #expect(reply.status == 202)
            }
            #expect(await gateway.stop() == 0)
        }
    }

    /// 34 bodies of 8 MiB and 200 small ones, each a byte short.
    @Test func incompleteBodiesOfOneSourceDoNotBlockOthers() async throws {
        let script = """
            kept = []
            def begin(length):
                connection = socket.create_connection(("127.0.0.1", port), timeout=20)
                head = "POST /v1/notifications HTTP/1.1\\r\\nhost: 127.0.0.1\\r\\nauthorization: Bearer greedy-token\\r\\n"
                connection.sendall((head + "content-length: %d\\r\\n\\r\\n" % length).encode())
                try:
                    connection.sendall(b" " * (length - 1))
                except OSError:
                    pass
                kept.append(connection)
            for _ in range(34): begin(8 * 1024 * 1024)
            for _ in range(200): begin(100000)
            """
        let sources =
            #""sources": { "greedy": { "auth": { "bearer": ["env:GREEDY"] } }, "app": { "auth": { "bearer": ["env:APP"] } } },"#
        let environment = ["GREEDY": "greedy-token", "APP": "app-token"]
        try await Gateway.run(config: sources, environment: environment) { gateway, _, _ in
            try await RawConnection.withClient(script, of: gateway.url) {
                let large = Data((Self.payload + String(repeating: " ", count: 4_000_000)).utf8)
                for body in [Data(Self.payload.utf8), large] {
                    let reply = try await gateway.post(body, headers: [("authorization", "Bearer app-token")])
                    #expect(reply.status == 202)
                }
            }
        }
    }
}
