import SignalboxConfig
import SignalboxNotification
import SignalboxRouting
import Testing

@Suite struct APNsConfigTests {
    private func source(_ apns: String) throws -> GatewayConfig.Source {
        let text = #"{"sources": {"mobile": {"apns": \#(apns)}}}"#
        return try #require(try RoutedConfig(Array(text.utf8)).config.sources[SourceName("mobile")])
    }

    private func mistakes(_ apns: String) -> [String] {
        let error = #expect(throws: InvalidConfig.self) { try source(apns) }
        return error?.mistakes.map { "\($0.pointer): \($0.message)" } ?? []
    }

    @Test func readsProofsTopicsAndRules() throws {
        let fingerprint = Array(repeating: "AB", count: 32).joined(separator: ":")
        let apns = try #require(
            try source(
                """
                {"keys": [{"team": "ABCDE12345", "key": "KEY0000001", "publicKey": "file:/keys/apns.pem"}],
                 "certificates": [{"sha256": "\(fingerprint)"}, {"uid": "com.example.app"}],
                 "secrets": ["env:PATH_SECRET"], "topics": ["com.example.app"], "development": true,
                 "strict": {"connectionKey": true}}
                """
            ).apns)
        #expect(
            apns.keys.map { [$0.team, $0.key, $0.publicKey?.description] } == [
                ["ABCDE12345", "KEY0000001", "file:/keys/apns.pem"]
            ])
        #expect(apns.certificates.map(\.sha256) == [[UInt8](repeating: 0xAB, count: 32), nil])
        #expect(apns.certificates.map(\.uid) == [nil, "com.example.app"])
        #expect(apns.secrets.map(\.description) == ["env:PATH_SECRET"])
        #expect(apns.topics == ["com.example.app"] && apns.isDevelopment)
        #expect(apns.strict.connectionKey && !apns.strict.tokenUpdates)
    }

    @Test func aSourceHasNoLimitsByDefault() throws {
        let source = try source(#"{"secrets": ["env:A"]}"#)
        #expect(source.limits == GatewayConfig.SourceLimits())
        #expect(source.bearer.isEmpty)
    }

    @Test func readsLimits() throws {
        let text = """
            {"sources": {"mobile": {"apns": {"secrets": ["env:A"]},
              "limits": {"connections": 4, "streams": 500, "pushesPerSecond": 1000}}}}
            """
        let limits = try RoutedConfig(Array(text.utf8)).config.sources[SourceName("mobile")]?.limits
        #expect(limits?.connections == 4 && limits?.streams == 500 && limits?.pushesPerSecond == 1000)
    }

    @Test(arguments: ["{}", #"{"keys": []}"#, #"{"topics": ["com.example.app"]}"#, #"{"secrets": [], "keys": []}"#])
    func requiresAProof(_ apns: String) {
        #expect(
            mistakes(apns) == [
                "/sources/mobile/apns: an APNs source needs a way to prove its identity: \"keys\", \"certificates\" or "
                    + "\"secrets\""
            ])
    }

    @Test(arguments: [
        (#"{"keys": [{"team": "A", "key": "B"}]}"#, "/sources/mobile/apns/keys/0"),
        (#"{"keys": [{"team": "A B", "key": "B", "publicKey": "env:A"}]}"#, "/sources/mobile/apns/keys/0/team"),
        (#"{"keys": [{"team": "A", "key": "B", "publicKey": "-----BEGIN"}]}"#, "/sources/mobile/apns/keys/0/publicKey"),
        (#"{"certificates": [{}]}"#, "/sources/mobile/apns/certificates/0"),
        (
            #"{"certificates": [{"uid": "a", "sha256": "\#(String(repeating: "ab", count: 32))"}]}"#,
            "/sources/mobile/apns/certificates/0"
        ),
        (#"{"certificates": [{"sha256": "ab"}]}"#, "/sources/mobile/apns/certificates/0/sha256"),
        (
            #"{"certificates": [{"sha256": "\#(String(repeating: "+a", count: 32))"}]}"#,
            "/sources/mobile/apns/certificates/0/sha256"
        ),
        (#"{"secrets": ["plain"]}"#, "/sources/mobile/apns/secrets/0"),
        (#"{"secrets": ["env:A"], "topics": ["a b"]}"#, "/sources/mobile/apns/topics/0"),
        (#"{"secrets": ["env:A"], "strict": true}"#, "/sources/mobile/apns/strict"),
    ])
    func reportsTheLocationOfAMistake(_ apns: String, _ pointer: String) {
        #expect(mistakes(apns).map { $0.prefix { $0 != ":" } } == [Substring(pointer)])
    }
}
