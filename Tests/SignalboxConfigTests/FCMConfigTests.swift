import SignalboxConfig
import SignalboxNotification
import SignalboxRouting
import Testing

@Suite struct FCMConfigTests {
    private static let account =
        #"{"email": "a@demo.iam.gserviceaccount.com", "keyId": "k1", "publicKey": "env:PEM"}"#

    private func config(_ sources: String) throws -> GatewayConfig {
        try RoutedConfig(Array("{\"sources\": {\(sources)}}".utf8)).config
    }

    private func mistakes(_ source: String) -> [String] {
        let error = #expect(throws: InvalidConfig.self) { try config("\"mobile\": \(source)") }
        return error?.mistakes.map { "\($0.pointer): \($0.message)" } ?? []
    }

    @Test func readsIdentitiesAndProjects() throws {
        let source = try config(
            """
            "mobile": {"fcm": {"projects": ["demo"], "keys": ["env:KEY"], "serviceAccounts": [\(Self.account)]},
                       "expo": {"tokens": ["file:/expo"]}}
            """
        ).sources[SourceName("mobile")]
        let fcm = try #require(source?.fcm)
        #expect(fcm.projects == ["demo"])
        #expect(fcm.keys.map(\.description) == ["env:KEY"])
        #expect(
            fcm.serviceAccounts.map { [$0.email, $0.keyID, $0.publicKey.description] } == [
                ["a@demo.iam.gserviceaccount.com", "k1", "env:PEM"]
            ])
        #expect(source?.expo.map(\.description) == ["file:/expo"])
        #expect(source?.bearer.isEmpty == true)
    }

    @Test func projectsRestrictASourceWithATokenToo() throws {
        let source = try config(#""mobile": {"auth": {"bearer": ["env:A"]}, "fcm": {"projects": ["demo"]}}"#)
        #expect(source.sources[SourceName("mobile")]?.fcm?.projects == ["demo"])
    }

    @Test(arguments: [
        (#"{"fcm": {"projects": ["demo"]}}"#, "no client can be this source"),
        ("{}", "a source needs at least one token"),
        (#"{"fcm": {"serviceAccounts": [{"email": "a"}]}}"#, "a service account needs"),
        (#"{"fcm": {"serviceAccounts": []}}"#, "1 to 100 service accounts"), (#"{"expo": {}}"#, "\"tokens\""),
        (#"{"fcm": {"keys": ["hunter2"]}}"#, "this must be a reference"),
        (#"{"fcm": {"projects": ["a b"], "keys": ["env:K"]}}"#, "is not a project id"),
        (#"{"fcm": {"projects": ["a", "a"], "keys": ["env:K"]}}"#, "listed twice"),
    ])
    func reportsMistakes(source: String, text: String) {
        let found = mistakes(source)
        #expect(found.contains { $0.contains(text) }, "\(found)")
        #expect(!found.contains { $0.contains("hunter2") })
    }

    // MARK: Secrets

    private func problem(_ sources: String, _ environment: [String: String]) throws -> String? {
        let config = try config(sources)
        do throws(ConfigRefusal) {
            _ = try SecretResolver(path: "routes.json", environment: environment).providerIdentities(config)
            return nil
        } catch {
            return error.problems.first
        }
    }

    @Test(arguments: [
        #""expo": {"tokens": ["env:K"]}"#, #""fcm": {"keys": ["env:K"]}"#, #""apns": {"secrets": ["env:K"]}"#,
    ])
    func operatorsDoNotShareIdentities(identity: String) throws {
        let text = "{\"sources\": {\"a\": {\(identity)}}, \"admin\": {\"auth\": {\"bearer\": [\"env:ADMIN\"]}}}"
        let config = try RoutedConfig(Array(text.utf8)).config
        let resolver = SecretResolver(path: "routes.json", environment: ["K": "hunter2", "ADMIN": "hunter2"])
        let error = #expect(throws: ConfigRefusal.self) { try resolver.providerIdentities(config) }
        #expect(error?.problems.first?.contains("operators need their own") == true)
        #expect(error?.problems.first?.contains("hunter2") == false)
    }

    @Test func resolvesTheSecretsOfEverySource() throws {
        let config = try config(
            #""mobile": {"fcm": {"keys": ["env:KEY"], "serviceAccounts": [\#(Self.account)]}, "expo": {"tokens": ["env:E"]}}"#
        )
        let resolver = SecretResolver(path: "routes.json", environment: ["KEY": "k\n", "PEM": "pem", "E": "e"])
        let identities = try #require(try resolver.providerIdentities(config)[SourceName("mobile")])
        #expect(identities.serverKeys == ["k"])
        #expect(identities.expoTokens == ["e"])
        #expect(identities.serviceAccounts.map(\.publicKey.text) == ["pem"])
    }

    @Test(arguments: [
        #""a": {"fcm": {"keys": ["env:K"]}}, "b": {"fcm": {"keys": ["env:K"]}}"#,
        #""a": {"fcm": {"projects": ["p"], "keys": ["env:K"]}}, "b": {"fcm": {"projects": ["p"], "keys": ["env:L"]}}"#,
        #""a": {"expo": {"tokens": ["env:K"]}}, "b": {"expo": {"tokens": ["env:K"]}}"#,
        #""a": {"fcm": {"serviceAccounts": [ACCOUNT]}}, "b": {"fcm": {"serviceAccounts": [ACCOUNT]}}"#,
        #""a": {"auth": {"bearer": ["env:K"]}}, "b": {"expo": {"tokens": ["env:K"]}}"#,
        #""a": {"expo": {"tokens": ["env:K"]}}, "b": {"auth": {"bearer": ["env:K"]}}"#,
        #""a": {"fcm": {"keys": ["env:K"]}}, "b": {"expo": {"tokens": ["env:K"]}}"#,
        #""a": {"apns": {"secrets": ["env:K"]}}, "b": {"fcm": {"keys": ["env:K"]}}"#,
    ])
    func sourcesDoNotShareIdentities(sources: String) throws {
        let problem = try problem(
            sources.replacing("ACCOUNT", with: Self.account), ["K": "hunter2", "L": "other", "PEM": "pem"])
        #expect(problem?.hasSuffix("this is also an identity of a; each source needs its own.") == true)
        #expect(problem?.contains("hunter2") == false)
    }

    @Test func namesTheOptionOfAMissingSecret() throws {
        let found = try problem(#""a": {"fcm": {"keys": ["env:NONE"]}}"#, [:])
        #expect(
            found
                == "routes.json: /sources/a/fcm/keys: the environment variable NONE is not set; set it to the value of the option."
        )
    }
}
