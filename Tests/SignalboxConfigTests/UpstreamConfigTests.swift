import Foundation
import SignalboxConfig
import SignalboxNotification
import SignalboxRouting
import SignalboxTesting
import Testing

@Suite struct UpstreamConfigTests {
    private static let mobile = SourceName("mobile")
    private static let hash = "sha256:" + String(repeating: "0a", count: 32)

    /// `more`: other members of the source.
    private func config(_ upstream: String, _ more: String = #""apns": {"secrets": ["env:A"]}"#) throws -> GatewayConfig
    {
        let text = #"{"sources": {"mobile": {\#(more), "upstream": \#(upstream)}}}"#
        return try RoutedConfig(Array(text.utf8)).config
    }

    private func upstream(_ text: String) throws -> GatewayConfig.Upstream {
        try #require(try config(text).sources[Self.mobile]?.upstream)
    }

    @Test func capturesByDefault() throws {
        let upstream = try upstream("{}")
        #expect(upstream.mode == .capture && upstream.apns == nil && upstream.fcm == nil && upstream.tokens.isEmpty)
        #expect(upstream.timeout == .seconds(10) && upstream.concurrency == 1000)
        let text = #"{"sources": {"mobile": {"apns": {"secrets": ["env:A"]}}}}"#
        #expect(try RoutedConfig(Array(text.utf8)).config.sources[Self.mobile]?.upstream == nil)
    }

    @Test func readsHostsTokensAndTransport() throws {
        let upstream = try upstream(
            """
            {"mode": "only", "apns": "https://127.0.0.1:8443/", "fcm": "http://localhost:81", "timeout": "2s",
             "concurrency": 5, "tokens": ["\(Self.hash)", "file:/testers"], "tls": {"ca": "/ca.pem"},
             "proxy": "http://proxy:3128"}
            """)
        #expect(upstream.mode == .only && upstream.timeout == .seconds(2) && upstream.concurrency == 5)
        #expect(upstream.apns == "https://127.0.0.1:8443" && upstream.fcm == "http://localhost:81")
        #expect(upstream.tokens == [.hash(Self.hash), .file("/testers")])
        #expect(upstream.transport.tls.authorities == "/ca.pem")
        #expect(upstream.transport.proxy == .address("http://proxy:3128"))
    }

    @Test func aListOfTokensBelongsToTheConfig() throws {
        let config = try config(#"{"mode": "only", "tokens": ["file:/testers"]}"#)
        #expect(config.origin.files == ["/testers"])
    }

    @Test(arguments: [
        (#"{"mode": "mirror"}"#, "/upstream/mode: this must be \"capture\", \"tee\" or \"only\""),
        (#"{"mode": "only"}"#, "/upstream: mode \"only\" needs \"tokens\""),
        (#"{"mode": "only", "tokens": []}"#, "/upstream/tokens: this must be an array of 1 to 10000"),
        (#"{"mode": "tee", "tokens": ["file:/a"]}"#, "/upstream/tokens: \"tokens\" applies to mode \"only\""),
        (#"{"mode": "only", "tokens": ["0123456789abcdef"]}"#, "/upstream/tokens/0: this must be the hash"),
        (#"{"mode": "only", "tokens": ["env:A"]}"#, "/upstream/tokens/0: this must be the hash"),
        (#"{"apns": "https://a.example/3/device"}"#, "/upstream/apns: this must be a URL without a path"),
        (#"{"fcm": "ftp://a.example"}"#, "/upstream/fcm: this must be an http or https URL"),
        (#"{"timeout": "2m"}"#, "/upstream/timeout: this must be a duration"),
        (#"{"concurrency": 0}"#, "/upstream/concurrency: this must be a whole number"),
    ])
    func reportsMistakes(upstream: String, text: String) {
        let error = #expect(throws: InvalidConfig.self) { try config(upstream) }
        let found = error?.mistakes.map { "\($0.pointer): \($0.message)" } ?? []
        #expect(found.contains { $0.hasPrefix("/sources/mobile" + text) }, "\(found)")
        #expect(!found.contains { $0.contains("0123456789abcdef") })
    }

    @Test func credentialsThatCannotBeForwardedAreMistakes() throws {
        let certificates = #""apns": {"certificates": [{"uid": "a.b"}]}"#
        for (more, text) in [(certificates, "client certificates"), (#""expo": {"tokens": ["env:A"]}"#, "Expo")] {
            let error = #expect(throws: InvalidConfig.self) { try config(#"{"mode": "tee"}"#, more) }
            #expect(error?.mistakes.first.map { "\($0.pointer)" } == "/sources/mobile/upstream")
            #expect(error?.mistakes.first?.message.contains(text) == true)
            #expect(throws: Never.self) { try config(#"{"mode": "capture"}"#, more) }
        }
        #expect(throws: Never.self) {
            try config(#"{"mode": "tee"}"#, #""apns": {"certificates": [{"uid": "a.b"}], "secrets": ["env:A"]}"#)
        }
    }

    // MARK: Lists

    private func problem(_ config: GatewayConfig) -> String? {
        do throws(ConfigRefusal) {
            _ = try SecretResolver(path: "routes.json", environment: [:]).forwardedTokens(config)
            return nil
        } catch {
            return error.problems.first
        }
    }

    @Test func readsListsOfTokens() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/testers"
            let other = "sha256:" + String(repeating: "ff", count: 32)
            try Data("# Testers\n\n \(other) \r\n\(Self.hash)\n".utf8).write(to: URL(fileURLWithPath: path))
            let config = try config(#"{"mode": "only", "tokens": ["file:\#(path)", "\#(Self.hash)"]}"#)
            let tokens = try SecretResolver(path: "routes.json", environment: [:]).forwardedTokens(config)
            #expect(tokens == [Self.mobile: [Self.hash, other]])
        }
    }

    @Test func aLineThatIsNotAHashIsAMistake() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/testers"
            try Data("\(Self.hash)\n0123456789abcdef\n".utf8).write(to: URL(fileURLWithPath: path))
            let config = try config(#"{"mode": "only", "tokens": ["file:\#(path)"]}"#)
            #expect(
                problem(config)
                    == "routes.json: /sources/mobile/upstream/tokens/0: line 2 of \(path) is not the hash of a device "
                    + "token, sha256: and 64 digits.")
            let missing = try self.config(#"{"mode": "only", "tokens": ["file:\#(directory)/none"]}"#)
            #expect(problem(missing)?.contains("none cannot be read") == true)
        }
    }
}
