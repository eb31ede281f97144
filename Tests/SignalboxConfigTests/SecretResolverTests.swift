import Foundation
import SignalboxConfig
import SignalboxNotification
import SignalboxTesting
import Testing

@Suite struct SecretResolverTests {
    private func config(_ text: String) throws -> GatewayConfig {
        try ConfigReading([ConfigText(name: "routes.json", bytes: Array(text.utf8))]).finish()
    }

    private func resolver(_ environment: [String: String]) -> SecretResolver {
        SecretResolver(path: "routes.json", environment: environment)
    }

    /// The problems of a config whose secrets cannot be used.
    private func problems(_ work: () throws(ConfigRefusal) -> Void) -> [String] {
        do throws(ConfigRefusal) {
            try work()
            return []
        } catch {
            return error.problems
        }
    }

    // MARK: Tokens

    private static let twoSources = """
        { "sources": { "a": { "auth": { "bearer": ["env:A", "env:SHARED"] } }, "b": { "auth": { "bearer": ["env:B"] } } },
          "admin": { "auth": { "bearer": ["env:ADMIN"] } } }
        """

    @Test func readsTheTokensOfEverySource() throws {
        let config = try config(Self.twoSources)
        let resolver = resolver(["A": "1", "SHARED": "2", "B": "3\n", "ADMIN": "4"])
        let tokens = try resolver.sourceTokens(config)
        #expect(tokens == [SourceName("a"): ["1", "2"], SourceName("b"): ["3"]])
        let operators = try resolver.operatorTokens(config, sources: tokens)
        #expect(operators == [.init(name: "admin", role: .admin, content: true, text: "4")])
    }

    @Test func namesTheFileAndThePositionOfTheOption() throws {
        let own = #"{ "sources": { "a": { "auth": { "bearer": ["env:A"] } } } }"#
        let part = """
            { "sources": {
              "b": { "auth": { "bearer": ["env:NONE"] } } } }
            """
        let files = [
            ConfigText(name: "routes.json", bytes: Array(own.utf8)),
            ConfigText(name: "routes.d/b.json", bytes: Array(part.utf8)),
        ]
        let config = try ConfigReading(files).finish()
        let found = problems { () throws(ConfigRefusal) in
            _ = try resolver(["A": "1"]).locating(in: files).sourceTokens(config)
        }
        #expect(found.count == 1)
        let place = "routes.d/b.json:2:30: /sources/b/auth/bearer: "
        #expect(found.first?.hasPrefix(place + "the environment variable") == true)
    }

    @Test(arguments: ["1\n2", "1\r\n2", "1\u{0}", "1\t2", "1\u{7F}"])
    func rejectsATokenThatNoClientCanSend(_ token: String) throws {
        let config = try config(Self.twoSources)
        let source = problems { () throws(ConfigRefusal) in
            _ = try resolver(["A": "1", "SHARED": token, "B": "3"]).sourceTokens(config)
        }
        #expect(source.count == 1)
        #expect(source.first?.hasPrefix("routes.json: /sources/a/auth/bearer: env:SHARED has a control") == true)
        let operators = problems { () throws(ConfigRefusal) in
            _ = try resolver(["ADMIN": token]).operatorTokens(config, sources: [:])
        }
        #expect(operators.first?.hasPrefix("routes.json: /admin/auth/bearer: env:ADMIN has a control") == true)
    }

    private static let roles = """
        { "admin": { "tokens": {
            "grafana": { "bearer": "env:A", "role": "metrics" },
            "ann": { "bearer": ["env:B", "env:C"], "role": "operator", "content": false } } } }
        """

    @Test func readsTheTokensOfRoles() throws {
        let config = try config(Self.roles)
        let tokens = try resolver(["A": "1", "B": "2", "C": "3"]).operatorTokens(config, sources: [:])
        #expect(
            tokens == [
                .init(name: "ann", role: .operator, content: false, text: "2"),
                .init(name: "ann", role: .operator, content: false, text: "3"),
                .init(name: "grafana", role: .metrics, content: true, text: "1"),
            ])
    }

    /// The action log must name the actor.
    @Test func rejectsATokenOfTwoNames() throws {
        let config = try config(Self.roles)
        let found = problems { () throws(ConfigRefusal) in
            _ = try resolver(["A": "hunter2", "B": "2", "C": "hunter2"]).operatorTokens(config, sources: [:])
        }
        #expect(
            found == [
                "routes.json: /admin/tokens/grafana/bearer: this is also the token of \"ann\"; each name needs its own."
            ])
    }

    @Test func rejectsATokenOfTwoClients() throws {
        let config = try config(Self.twoSources)
        let shared = resolver(["A": "1", "SHARED": "hunter2", "B": "hunter2", "ADMIN": "4"])
        let found = problems { () throws(ConfigRefusal) in _ = try shared.sourceTokens(config) }
        #expect(found.count == 1)
        #expect(found.first?.hasSuffix("; each source needs its own.") == true)
        #expect(found.first?.contains("hunter2") == false)
        let admin = resolver(["A": "1", "SHARED": "2", "B": "3", "ADMIN": "2"])
        let others = problems { () throws(ConfigRefusal) in
            _ = try admin.operatorTokens(config, sources: try admin.sourceTokens(config))
        }
        #expect(
            others == [
                "routes.json: /admin/auth/bearer: this is also a token of the source a; operators need their own."
            ])
    }

    @Test func namesTheOptionOfAMissingSecret() throws {
        let config = try config(Self.twoSources)
        let found = problems { () throws(ConfigRefusal) in _ = try resolver(["SHARED": "2"]).sourceTokens(config) }
        #expect(found.first?.hasPrefix("routes.json: /sources/") == true)
        #expect(found.first?.hasSuffix("is not set; set it to the value of the option.") == true)
    }

    // MARK: Webhooks

    private func webhook(_ options: String) throws -> Destination.Webhook {
        let text = #"{ "destinations": { "crm": { "url": "https://a.example/", "secret": "env:KEY"\#(options) } } }"#
        let destination = try #require(try config(text).destinations.first)
        guard case .webhook(let webhook) = destination.endpoint else { throw CocoaError(.coderInvalidValue) }
        return webhook
    }

    private func resolve(
        _ options: String, _ environment: [String: String]
    ) throws -> Result<SecretResolver.Webhook, ConfigRefusal> {
        let webhook = try webhook(options)
        return Result { () throws(ConfigRefusal) in
            try resolver(environment.merging(["KEY": "whsec_x"]) { own, _ in own })
                .webhook(webhook, of: DestinationName("crm"))
        }
    }

    @Test func readsHeadersAndClientSecrets() throws {
        let options = """
            , "headers": { "X-Tenant": "acme", "x-key": "env:HEADER" },
            "oauth2": { "tokenUrl": "https://a.example/t", "clientId": "i", "clientSecret": "env:CLIENT" }
            """
        let secrets = try resolve(options, ["HEADER": "h", "CLIENT": "c"]).get()
        #expect(secrets.signing.map(\.text) == ["whsec_x"])
        #expect(secrets.headers == ["acme", "h"])
        #expect(secrets.clientSecret == "c")
    }

    @Test func rejectsAHeaderOfTwoLines() throws {
        let result = try resolve(#", "headers": { "x-key": "env:HEADER" }"#, ["HEADER": "one\ntwo"])
        #expect(throws: ConfigRefusal.self) { try result.get() }
        guard case .failure(let error) = result else { return }
        #expect(
            error.problems == [
                "routes.json: /destinations/crm/headers/x-key: env:HEADER is not a valid header value: use one line of visible ASCII."
            ])
    }

    @Test func webhooksDifferWhenASecretOrAFileChanges() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory + "/ca.pem"
            let options = #", "tls": { "ca": "\#(file)" }"#
            try Data("one".utf8).write(to: URL(fileURLWithPath: file))
            let first = try resolve(options, [:]).get()
            #expect(try resolve(options, [:]).get() == first)
            #expect(try resolve(options, ["KEY": "whsec_y"]).get() != first)
            try Data("two".utf8).write(to: URL(fileURLWithPath: file))
            #expect(try resolve(options, [:]).get() != first)
            try FileManager.default.removeItem(atPath: file)
            guard case .failure(let error) = try resolve(options, [:]) else {
                Issue.record("A missing file is accepted.")
                return
            }
            #expect(
                error.problems == [
                    "routes.json: /destinations/crm/tls/ca: the file \(file) cannot be read: No such file or directory."
                ])
        }
    }

    // MARK: Links

    @Test func rejectsAShortSecretOfLinks() throws {
        let config = try config(#"{ "media": { "signedUrls": { "secret": ["env:ONE", "env:TWO"] } } }"#)
        let long = String(repeating: "s", count: 16)
        #expect(try resolver(["ONE": long, "TWO": long]).mediaSecrets(config.media) == [long, long])
        let found = problems { () throws(ConfigRefusal) in
            _ = try resolver(["ONE": long, "TWO": "hunter2"]).mediaSecrets(config.media)
        }
        #expect(found.first?.contains("env:TWO is shorter than 16 bytes") == true)
        #expect(found.first?.contains("hunter2") == false)
    }
}

/// The files of a config.
@Suite struct ConfigFilesTests {
    private func write(_ text: String, to path: String) throws {
        let url = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    @Test func readsTheFolderInTheOrderOfItsNames() async throws {
        try await withTemporaryDirectory { directory in
            for name in ["routes.json", "routes.d/b.json", "routes.d/a.json", "routes.d/.a.json", "routes.d/a.txt"] {
                try write(name, to: directory + "/" + name)
            }
            let files = try ConfigFiles(directory + "/routes.json")
            #expect(
                files.texts.map { String(decoding: $0.bytes, as: UTF8.self) } == [
                    "routes.json", "routes.d/a.json", "routes.d/b.json",
                ])
            #expect(files.folder == directory + "/routes.d")
        }
    }

    @Test func saysThatThereIsNoConfig() async throws {
        try await withTemporaryDirectory { directory in
            do throws(ConfigRefusal) {
                _ = try ConfigFiles(directory + "/none.json")
                Issue.record("A missing config is read.")
            } catch {
                #expect(
                    error.report(hasColor: false)
                        == "signalbox: \(directory)/none.json: there is no such file. Write one with signalbox init, "
                        + "or name another with --config.\n"
                )
            }
        }
    }

    /// The test would never end if opening the pipe waited for a writer.
    @Test func rejectsAPipeUnlessTheCommandNamesIt() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/routes.json"
            try #require(mkfifo(path, 0o600) == 0)
            let error = #expect(throws: ConfigRefusal.self) { try ConfigFiles(path) }
            #expect(error?.problems.first?.contains("cannot be read: it is a named pipe.") == true)
        }
    }

    @Test func saysWhyAConfigCannotBeRead() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/routes.json"
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "routes.json")
            let remedy = "Correct that, or name another file with --config."
            for (name, reason) in [
                (path, "Too many levels of symbolic links"), (directory, "it is a directory"),
                ("/dev/null", "it is a device, not a file"),
            ] {
                let error = #expect(throws: ConfigRefusal.self) { try ConfigFiles(name) }
                #expect(error?.problems == ["\(name) cannot be read: \(reason). \(remedy)"])
            }
        }
    }

    @Test func rejectsAFolderThatIsALoopOfLinks() async throws {
        try await withTemporaryDirectory { directory in
            try write("{}", to: directory + "/routes.json")
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/routes.d", withDestinationPath: "routes.d")
            let error = #expect(throws: ConfigRefusal.self) { try ConfigFiles(directory + "/routes.json") }
            #expect(error?.problems.first?.contains("Too many levels of symbolic links") == true)
        }
    }

    /// Its routes would be missing without a word.
    @Test func rejectsAFileInPlaceOfTheFolder() async throws {
        try await withTemporaryDirectory { directory in
            try write("{}", to: directory + "/routes.json")
            try write("{}", to: directory + "/routes.d")
            let error = #expect(throws: ConfigRefusal.self) { try ConfigFiles(directory + "/routes.json") }
            #expect(
                error?.problems == [
                    "\(directory)/routes.d cannot be read: it is not a folder. Files in it belong to the config."
                ])
        }
    }

    @Test func rejectsADanglingLinkInPlaceOfTheFolder() async throws {
        try await withTemporaryDirectory { directory in
            try write("{}", to: directory + "/routes.json")
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/routes.d", withDestinationPath: "missing")
            let error = #expect(throws: ConfigRefusal.self) { try ConfigFiles(directory + "/routes.json") }
            #expect(
                error?.problems == [
                    "\(directory)/routes.d cannot be read: No such file or directory. Files in it belong to the config."
                ])
        }
    }

    @Test func rejectsTooManyFiles() async throws {
        try await withTemporaryDirectory { directory in
            try write("{}", to: directory + "/routes.json")
            for number in 0...200 { try write("{}", to: directory + "/routes.d/\(number).json") }
            #expect(throws: ConfigRefusal.self) { try ConfigFiles(directory + "/routes.json") }
        }
    }
}
