import Foundation
import SignalboxEgress
import SignalboxNotification
import SignalboxServerTesting
import SignalboxTesting
import Testing

let binary = BuiltBinary(beside: Bundle.module)

/// The payloads of `Examples/`, one a line.
func mixedPayloads() throws -> Data {
    let url = try #require(Bundle.module.url(forResource: "Fixtures/mixed", withExtension: "ndjson"))
    return try Data(contentsOf: url)
}

/// A running gateway and its client.
struct Gateway {
    /// The example of the Standard Webhooks specification.
    static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    let directory: String
    let process: RunningBinary
    let url: String
    private let http = OutboundHTTP(
        policy: AddressPolicy(allow: [AddressRange("127.0.0.0/8")].compactMap { $0 }))

    /// A config with one webhook that receives every event.
    static func config(
        to url: String, more: String = "", attempts: Int = 5, timeout: String = "15s"
    ) -> String {
        """
        { "gateway": { "name": "test" }, "egress": { "allow": ["127.0.0.0/8"] }, \(more)
          "destinations": { "crm": { "url": "\(url)", "secret": "env:WEBHOOK_SECRET", "timeout": "\(timeout)",
            "retry": { "attempts": \(attempts), "base": "1ms", "max": "20ms" } } },
          "routes": [ { "name": "everything", "match": {}, "to": ["crm"] } ] }
        """
    }

    /// Runs `body` with a gateway that sends every event to one webhook; checks that it does not exit earlier. `more`:
    /// further sections of the config.
    static func run(
        config more: String = "", environment: [String: String] = [:],
        _ body: @escaping @Sendable (Gateway, ReceivingServer, _ directory: String) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            try await ReceivingServer.run { receiver in
                let gateway = try await start(
                    in: directory, config: config(to: receiver.url, more: more), environment: environment)
                try await body(gateway, receiver, directory)
                #expect(await gateway.stop() == 0)
            }
        }
    }

    /// Writes a config into a directory and starts a gateway there, on a free port. `behind`: a command that executes
    /// the gateway.
    static func start(
        _ binary: BuiltBinary = binary, in directory: String, config: String? = nil, arguments: [String] = [],
        environment: [String: String] = [:], behind command: [String] = []
    ) async throws -> Gateway {
        if let config { try Data(config.utf8).write(to: URL(fileURLWithPath: directory + "/routes.json")) }
        let process = try binary.start(
            ["serve", "--listen", "127.0.0.1:0"] + arguments, in: directory,
            environment: environment.merging(["WEBHOOK_SECRET": secret]) { $1 }, behind: command)
        let url = try #require(await process.listeningURL())
        return Gateway(directory: directory, process: process, url: url)
    }

    /// `keeping`: the largest response in bytes.
    func post(
        _ body: Data, to path: String = "/v1/notifications", headers: [(name: String, value: String)] = [],
        keeping bytes: Int = 1024
    ) async throws -> (status: Int, json: [String: Any]) {
        let reply = try await http.send(
            OutboundRequest(
                url: url + path, headers: headers + [("content-type", "application/json")], body: Array(body),
                timeout: .seconds(120), keptBytes: bytes))
        try AnswerRecorder.record("POST", url + path, status: reply.status, body: whole(reply, of: bytes))
        return (reply.status, (try? JSONSerialization.jsonObject(with: Data(reply.excerpt))) as? [String: Any] ?? [:])
    }

    /// `keeping`: the largest response in bytes.
    func get(_ path: String, keeping bytes: Int = 1024) async throws -> (status: Int, text: String) {
        let reply = try await http.send(OutboundRequest(method: .get, url: url + path, keptBytes: bytes))
        try AnswerRecorder.record("GET", url + path, status: reply.status, body: whole(reply, of: bytes))
        return (reply.status, String(decoding: reply.excerpt, as: UTF8.self))
    }

    /// The page of metrics.
    func metrics() async throws -> String { try await get("/metrics", keeping: 1 << 20).text }

    /// The body of a reply, unless it may have more than the bytes that were kept.
    private func whole(_ reply: OutboundReply, of bytes: Int) -> [UInt8]? {
        reply.excerpt.count < bytes ? reply.excerpt : nil
    }

    /// Stops it by SIGTERM; returns the exit code.
    func stop() async -> Int32 {
        http.stop()
        process.signal(SIGTERM)
        return await process.end()
    }

    /// Kills it.
    func kill() async {
        process.signal(SIGKILL)
        _ = await process.end()
    }
}
