import Foundation
import SignalboxConfig
import SignalboxNotification
import SignalboxTesting
import Testing

/// `gateway.environmentFile`, and URLs that are references.
@Suite struct EnvironmentFileTests {
    /// The tokens of a source with `env:TOKEN`, which the file sets.
    private func tokens(
        _ text: String, environment: [String: String] = [:], _ body: (Result<[String], ConfigRefusal>) throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let path = directory + "/env"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let config = try config(
                #"{ "gateway": { "environmentFile": "\#(path)" }, "sources": { "a": { "auth": { "bearer": ["env:TOKEN"] } } } }"#
            )
            try body(
                Result { () throws(ConfigRefusal) in
                    let resolver = SecretResolver(path: "routes.json", environment: environment)
                    return try resolver.reading(config).sourceTokens(config)[SourceName("a")] ?? []
                })
        }
    }

    private func config(_ text: String) throws -> GatewayConfig {
        try ConfigReading([ConfigText(name: "routes.json", bytes: Array(text.utf8))]).finish()
    }

    @Test(arguments: [
        ("TOKEN=one", "one"), ("# a comment\n\n  TOKEN= \"one two\" \r\n", "one two"),
        ("TOKEN='a\"b'", "a\"b"), ("TOKEN=a=b#c", "a=b#c"), ("\tTOKEN=one\t\nOTHER=", "one"),
    ])
    func readsVariables(_ text: String, _ value: String) async throws {
        try await tokens(text) { result in
            let found = try result.get()
            #expect(found == [value])
        }
    }

    @Test func variablesOfTheFileTakePrecedence() async throws {
        for (text, expected) in [("TOKEN=new", "new"), ("OTHER=new", "old")] {
            try await tokens(text, environment: ["TOKEN": "old"]) { result in
                let found = try result.get()
                #expect(found == [expected])
            }
        }
    }

    /// Errors name the line, never its text.
    @Test(arguments: [
        ("hunter2", "line 1 must be NAME=VALUE with closed quotes, or a comment"),
        ("A=1\nexport B=hunter2", "line 2 must be NAME=VALUE with closed quotes, or a comment"),
        ("A=\"hunter2", "line 1 must be NAME=VALUE with closed quotes, or a comment"),
        ("A=hunter2\nA=1", "line 2 sets a variable of an earlier line again; remove one"),
        ((0...1_000).map { "A\($0)=hunter2\n" }.joined(), "it has more than 1000 variables"),
    ])
    func rejectsOtherLinesWithoutTheirText(_ text: String, _ problem: String) async throws {
        try await tokens(text) { result in
            guard case .failure(let error) = result else {
                Issue.record("The file is accepted.")
                return
            }
            let found = error.problems.joined()
            #expect(found.hasPrefix("routes.json: /gateway/environmentFile: \(problem) (in "))
            #expect(!found.contains("hunter2"))
        }
    }

    @Test func rejectsAFileThatIsMissingOrTooLarge() async throws {
        let config = try config(#"{ "gateway": { "environmentFile": "/nonexistent/env" } }"#)
        #expect(throws: ConfigRefusal.self) { try SecretResolver(path: "r", environment: [:]).reading(config) }
        try await tokens(String(repeating: "#", count: 65 << 10)) { result in
            #expect(throws: ConfigRefusal.self) { try result.get() }
        }
    }

    /// A changed file must cause a reload.
    @Test func theFileIsWatched() throws {
        let config = try config(#"{ "gateway": { "environmentFile": "/etc/signalbox/env" } }"#)
        #expect(config.origin.files == ["/etc/signalbox/env"])
    }

    // MARK: URLs

    private func url(_ option: String, _ value: String, more: String = "") throws -> Result<String, ConfigRefusal> {
        let text = #"{ "destinations": { "chat": { "url": "\#(option)", "secret": "env:KEY"\#(more) } } }"#
        let destination = try #require(try config(text).destinations.first)
        guard case .webhook(let webhook) = destination.endpoint else { throw CocoaError(.coderInvalidValue) }
        let resolver = SecretResolver(path: "routes.json", environment: ["KEY": "k", "CHAT_URL": value])
        return Result { () throws(ConfigRefusal) in
            try resolver.webhook(webhook, of: destination.name).url
        }
    }

    @Test func aURLMayBeAReference() throws {
        #expect(try url("env:CHAT_URL", "https://chat.example/hunter2\n").get() == "https://chat.example/hunter2")
        #expect(try url("https://a.example/", "unused").get() == "https://a.example/")
    }

    @Test(arguments: [
        ("ftp://hunter2.example/", "", "is not an http or https URL"),
        ("https://user:hunter2@a.example/", "", "is not an http or https URL"),
        ("http://hunter2.example/", #", "tls": { "minimum": "1.3" }"#, "is an http URL; \"tls\" needs https"),
    ])
    func rejectsAReferenceToAnotherTextWithoutShowingIt(_ text: String, _ more: String, _ problem: String) throws {
        guard case .failure(let error) = try url("env:CHAT_URL", text, more: more) else {
            Issue.record("The URL is accepted.")
            return
        }
        #expect(error.problems.joined().hasPrefix("routes.json: /destinations/chat/url: env:CHAT_URL \(problem)"))
        #expect(!error.problems.joined().contains("hunter2"))
    }
}
