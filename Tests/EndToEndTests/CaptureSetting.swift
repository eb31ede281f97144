import Foundation
import SignalboxServerTesting
import SignalboxTesting
import Testing

/// A gateway whose provider endpoints receive pushes by curl.
struct CaptureSetting {
    let gateway: Gateway
    /// The URL of the listener for providers, without TLS.
    let providers: String
    let directory: String

    static let token = String(repeating: "0123456789abcdef", count: 4)
    static let otherToken = String(repeating: "fedcba9876543210", count: 4)

    /// Runs `body` with a gateway. `more`: sections of the config. `captures`: the option of that name.
    static func run(
        config more: String = "", captures: String = "{}", environment: [String: String] = [:],
        _ body: @escaping @Sendable (CaptureSetting) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let gateway = try await Gateway.start(
                in: directory,
                config: """
                    { "gateway": { "name": "test", "listen": { "apns": "127.0.0.1:0" }, "captures": \(captures) }, \(more)
                      "destinations": { "inbox": { "builtin": "inbox" } },
                      "routes": [ { "name": "everything", "match": {}, "to": ["inbox"] } ] }
                    """,
                environment: environment)
            let providers = try #require(await gateway.process.providerURL())
            try await body(CaptureSetting(gateway: gateway, providers: providers, directory: directory))
            #expect(await gateway.stop() == 0)
        }
    }

    /// The output of curl.
    func curl(_ arguments: [String]) async throws -> String {
        let process = try RunningBinary(
            URL(fileURLWithPath: "/usr/bin/curl"), ["-s", "--noproxy", "*"] + arguments, in: directory)
        process.send(Data())
        let output = await process.output.text()
        _ = await process.end()
        return output.trimmingCharacters(in: .newlines)
    }

    /// Sends a push to a device; returns body and status of the answer.
    @discardableResult
    func push(
        _ text: String = "Hello", to token: String = token, prefix: String = "", headers: [String] = []
    ) async throws -> String {
        let fields = (["apns-topic: com.example.app"] + headers).flatMap { ["-H", $0] }
        return try await curl(
            ["--http2-prior-knowledge", "-w", "%{http_code}", "-d", #"{"aps":{"alert":"\#(text)"}}"#] + fields
                + ["\(providers)\(prefix)/3/device/\(token)"])
    }

    /// The status and the object of a response of the API. `more`: further arguments of curl.
    func api(_ path: String, _ more: [String] = []) async throws -> (status: String, json: [String: Any]) {
        try Self.response(try await text(path, more))
    }

    /// The same as text, for ``response(_:)``.
    func text(_ path: String, _ more: [String] = []) async throws -> String {
        try await curl(["-w", "\n%{http_code}"] + more + [gateway.url + path])
    }

    static func response(_ text: String) throws -> (status: String, json: [String: Any]) {
        let lines = text.split(separator: "\n")
        let json = try JSONSerialization.jsonObject(with: Data((lines.first ?? "").utf8)) as? [String: Any]
        return (lines.last.map(String.init) ?? "", json ?? [:])
    }

    /// The captures of a response of the API.
    func captures(_ path: String, _ more: [String] = []) async throws -> [[String: Any]] {
        let response = try await api(path, more)
        #expect(response.status == "200", "\(response.json)")
        return response.json["captures"] as? [[String: Any]] ?? []
    }
}

extension [String: Any] {
    func text(_ name: String) -> String? { self[name] as? String }
}
