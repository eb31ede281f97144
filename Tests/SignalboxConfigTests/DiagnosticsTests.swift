import Foundation
import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting
import Testing

@Suite struct DiagnosticsTests {
    /// A folder with `routes.json`, optionally `routes.d`, and the report in `expected.txt`.
    struct Fixture: Sendable, CustomStringConvertible {
        let files: [ConfigText]
        let expected: String
        let description: String

        static func all() throws -> [Fixture] {
            guard let root = Bundle.module.url(forResource: "Fixtures/diagnostics", withExtension: nil) else {
                throw CocoaError(.fileNoSuchFile)
            }
            return try FileManager.default.contentsOfDirectory(atPath: root.path).sorted().map { name in
                let folder = root.appendingPathComponent(name)
                let parts = (try? FileManager.default.contentsOfDirectory(atPath: folder.path + "/routes.d")) ?? []
                let names = ["routes.json"] + parts.sorted().map { "routes.d/" + $0 }
                return try Fixture(
                    files: names.map {
                        try ConfigText(name: $0, bytes: [UInt8](Data(contentsOf: folder.appendingPathComponent($0))))
                    }, expected: String(contentsOf: folder.appendingPathComponent("expected.txt"), encoding: .utf8),
                    description: name)
            }
        }

        var mistakes: [ConfigMistake] {
            do throws(InvalidConfig) {
                return try RoutedConfig(files).config.warnings
            } catch {
                return error.mistakes
            }
        }
    }

    @Test(arguments: try Fixture.all()) func printsMistakesAsACompilerDoes(_ fixture: Fixture) {
        let report = ConfigReport(of: fixture.files)
        let printed = report.text(of: fixture.mistakes) + report.summary(of: fixture.mistakes)
        #expect(printed == fixture.expected, "\(printed)")
    }

    @Test(arguments: try Fixture.all()) func colorsAddOnlyColorCodes(_ fixture: Fixture) {
        let plain = ConfigReport(of: fixture.files).text(of: fixture.mistakes)
        let colored = ConfigReport(of: fixture.files, hasColor: true).text(of: fixture.mistakes)
        #expect(colored != plain)
        #expect(colored.replacing(/\u{1B}\[[0-9;]+m/, with: "") == plain)
    }

    @Test func manyWarningsHideNoError() {
        let start = ConfigLocation(pointer: "")
        var diagnostics = ConfigDiagnostics()
        for _ in 0..<150 { diagnostics.warning(at: start, "a warning") }
        var others = ConfigDiagnostics()
        others.warning(at: start, "a warning")
        others.error(at: start, "another error")
        diagnostics.error(at: start, "an error")
        diagnostics.append(others)
        #expect(!diagnostics.isFull)
        let mistakes = diagnostics.mistakes(in: [ConfigText(name: "routes.json", bytes: Array("{}".utf8))])
        #expect(mistakes.count == ConfigDiagnostics.most + 2)
        #expect(mistakes.filter { $0.severity == .error }.map(\.message) == ["an error", "another error"])
    }

    /// The bound counts what is cut: letters of two bytes are not two.
    @Test func onlyLongMessagesAreCut() {
        let start = ConfigLocation(pointer: "")
        let long = String(repeating: "ä", count: 1_000)
        var diagnostics = ConfigDiagnostics()
        diagnostics.error(at: start, long)
        diagnostics.error(at: start, long + "ä")
        let mistakes = diagnostics.mistakes(in: [ConfigText(name: "routes.json", bytes: Array("{}".utf8))])
        #expect(mistakes.map(\.message) == [long, long + "…"])
    }

    @Test func aCorrectConfigHasNoWarnings() throws {
        let config =
            #"{"destinations":{"i":{"builtin":"inbox"}},"routes":[{"name":"r","to":["i"],"match":{},"stop":true}]}"#
        #expect(try RoutedConfig(Array(config.utf8)).config.warnings.isEmpty)
    }

    /// The report of many mistakes is short.
    @Test func listsTheFirstOfManyMistakes() {
        let text = "{" + (0..<5000).map { "\"x\($0)\": 1" }.joined(separator: ",\n") + "}"
        let fixture = Fixture(files: [ConfigText(name: "f", bytes: Array(text.utf8))], expected: "", description: "")
        #expect(fixture.mistakes.count == 100)
        #expect(ConfigReport(of: fixture.files).summary(of: fixture.mistakes) == "f: at least 100 errors\n")
    }

    /// Would take minutes if each mistake and each excerpt read the text from its start.
    @Test func aLongLineBeforeManyMistakesIsReadOnce() throws {
        let spaces = 4_000_000
        let members = (100..<200).map { "\"x\($0)\":1" }.joined(separator: ",")
        let text = "{" + String(repeating: " ", count: spaces) + members + "}"
        let fixture = Fixture(files: [ConfigText(name: "f", bytes: Array(text.utf8))], expected: "", description: "")
        let mistakes = fixture.mistakes
        #expect(mistakes.compactMap { $0.position?.column } == (0..<100).map { spaces + 2 + $0 * 9 })
        #expect(mistakes.allSatisfy { $0.position?.line == 1 })
        let report = ConfigReport(of: fixture.files).text(of: mistakes).split(separator: "\n")
        #expect(report.count { $0.hasPrefix("f:1:") } == 100)
        #expect(report.count { $0.hasPrefix("   1 | … ") } == 100)
    }

    @Test func linesAreBoundedAndHaveNoTextOfTheFile() throws {
        let name = String(repeating: "x", count: 2_000)
        let text =
            "{ \"\(name)\": \"hidden\",\n" + (0..<24).map { "\"x\($0)\": \"hidden\"" }.joined(separator: ",\n") + "}"
        let fixture = Fixture(files: [ConfigText(name: "f", bytes: Array(text.utf8))], expected: "", description: "")
        let lines = ConfigReport.lines(of: fixture.mistakes, in: ["f"])
        #expect(lines.count == 21)
        #expect(lines.last == "and 5 more: see signalbox routes check")
        #expect(lines.allSatisfy { $0.count <= 501 && !$0.contains("hidden") })
        let first = try #require(lines.dropFirst().first)
        #expect(first.hasPrefix(#"f:2:1: error: /…: there is no setting "…" here; known here: "#), "\(first)")
    }

    /// A secret may be in the wrong place: as a key, or as the value of another option.
    @Test(arguments: [
        #"{"sources": {"s": {"auth": {"hunter2": "env:S"}}}}"#,
        #"{"sources": {"s": {"auth": {"bearer": ["hunter2"]}}}}"#,
        #"{"destinations": {"crm": {"url": "https://crm.example.com/", "secret": "env:S", "format": "hunter2"}}}"#,
        #"{"destinations": {"crm": {"builtin": "hunter2"}}}"#,
        #"{"destinations": {"i": {"builtin": "inbox"}}, "routes": [{"name": "r", "to": ["hunter2"], "match": {}}]}"#,
        #"{"destinations": {"i": {"builtin": "inbox"}}, "routes": [{"name": "r", "to": ["i"], "match": {}, "redact": ["hunter2"]}]}"#,
        #"{"destinations": {"i": {"builtin": "inbox"}}, "fallback": ["i"], "media": {"hosts": ["hunter2 x"], "quota": "hunter2"}}"#,
    ])
    func linesDoNotQuoteTheConfig(text: String) {
        let fixture = Fixture(files: [ConfigText(name: "f", bytes: Array(text.utf8))], expected: "", description: "")
        let lines = ConfigReport.lines(of: fixture.mistakes, in: ["f"])
        #expect(!lines.isEmpty)
        #expect(!lines.joined().contains("hunter2"), "\(lines)")
    }

    /// A key of Standard Webhooks or a URL with a password, which can be recognised wherever they are.
    @Test(arguments: [
        #"{"destinations": {"i": {"builtin": "inbox"}}, "fallback": ["whsec_hunter2"]}"#,
        #"{"destinations": {"i": {"builtin": "inbox"}}, "fallback": ["https://user:hunter2@crm.example.com/"]}"#,
        #"{"destinations": {"i": {"builtin": "inbox"}}, "whsk_hunter2": 1}"#,
    ])
    func messagesHideWhatTheExcerptHides(text: String) {
        let fixture = Fixture(files: [ConfigText(name: "f", bytes: Array(text.utf8))], expected: "", description: "")
        let report = ConfigReport(of: fixture.files).text(of: fixture.mistakes)
        #expect(report.contains("*"))
        #expect(!report.contains("hunter2"), "\(report)")
        #expect(fixture.mistakes.allSatisfy { !$0.description.contains("hunter2") })
    }

    /// Covers every kind of mistake on the line, and every option that can have a URL.
    @Test(arguments: [
        #"{"destinations": {"crm": {"url": "https://user:hunter2@crm.example.com/", "secret": "env:S"}}}"#,
        #"{"destinations": {"crm": {"url": "https://crm.example.com/", "secret": "env:S", "proxy": "http://u:hunter2@p:1"}}}"#,
        #"{"gateway": {"publicUrl": "https://user:hunter2?x@crm.example.com/"}}"#,
        #"{"destinations": {"crm": {"urll": "https://user:hunter2@crm.example.com/", "secret": "env:S"}}}"#,
        #"{"destinations": {"crm": {"url": "https://user:hunter2#@crm.example.com/" "secret": 1}}}"#,
        #"{"destinations": {"chat": {"url": "https://hooks.slack.com/services/hunter2", "format": "slak"}}}"#,
        #"{"destinations": {"chat": {"url": "https://chat.example/hooks/hunter2", "format": "slack", "x": 1}}}"#,
        #"{"destinations": {"chat": {"url": "https:\/\/hooks.slack.com\/hunter2", "format": "slack", "x": 1}}}"#,
        #"{"destinations": {"chat": {"url": "https://hooks.slack.com/a hunter2", "format": "slack"}}}"#,
        #"{"destinations": {"chat": {"url": "hooks.slack.com/hunter2", "format": "discord"}}}"#,
        #"{"destinations": {"chat": {"url": "https://a.LOGIC.azure.com:443/?sig=hunter2" "format": "teams"}}}"#,
    ])
    func passwordsInURLsAreNotShown(text: String) {
        let fixture = Fixture(files: [ConfigText(name: "f", bytes: Array(text.utf8))], expected: "", description: "")
        let report = ConfigReport(of: fixture.files).text(of: fixture.mistakes)
        #expect(report.contains("f:1:") && !report.contains("hunter2"), "\(report)")
        #expect(!ConfigReport.lines(of: fixture.mistakes, in: ["f"]).joined().contains("hunter2"))
    }

    /// Syntax errors mark no secret, so the names of keys decide. Covers values of a wrong type, keys that no option
    /// has, and every quote, comma or colon that may be missing.
    @Test(arguments: [
        #"{"sources":{"a":{"auth":{"bearer":"hunter2"}}}}"#, #"{"sources":{"a":{"auth":{"token":"hunter2"}}}}"#,
        #"{"sources":{"a":{"auth":{"beerer":["hunter2"]}}}}"#, #"{"sources":{"a":{"auth":"hunter2"}}}"#,
        #"{"sources":{"a":{"apns":{"secrets":"hunter2"}}}}"#, #"{"sources":{"a":"hunter2"}}"#,
        #"{"admin":{"tokens":{"ops":"hunter2"}}}"#, #"{"token":"hunter2"}"#, #"{"secret":'hunter2'}"#,
        #"{"secret":hunter2}"#, #"{"secret":hunter2,hunter2}"#, #"{"secret":"hunter2"#, #"{"secret":"hunter2}"#,
        #"{"secret" "hunter2"}"#, #"{"secret"="hunter2"}"#, #"{"secret:"hunter2"}"#, #"{secret:"hunter2"}"#,
        #"{"a":"b,"secret":"hunter2"}"#, #"{'Authorization':'Bearer hunter2'}"#, #"{"PASSWORD":hunter2}"#,
        #"{"apiKey":-hunter2}"#, #"{"secret":“hunter2”}"#, #"{"bearer":{hunter2}}"#,
        #"{"sources":{"m":{"auth":["hunter2"]}}}"#, #"{"sources":{"m":{"auth":"hunter2"}},}"#,
        #"{"secret":"x"hunter2"}"#,
        #"{"bearer":["env:A" "hunter2"]}"#, #"{"bearer":["hunter2","env:A"}"#, #"{"tokens":[{"x":"hunter2"},}"#,
    ])
    func secretsBehindKeysAreNotShown(text: String) {
        let fixture = Fixture(files: [ConfigText(name: "f", bytes: Array(text.utf8))], expected: "", description: "")
        let report = ConfigReport(of: fixture.files).text(of: fixture.mistakes)
        #expect(report.contains("f:1:") && !report.contains("hunter2"), "\(report)")
        #expect(!ConfigReport.lines(of: fixture.mistakes, in: ["f"]).joined().contains("hunter2"))
        #expect(fixture.mistakes.allSatisfy { !$0.message.contains("hunter2") })
    }

    /// References, JSON's words and the value that the mistake is about.
    @Test(arguments: [
        (#"{"sources":{"a":{"auth":{"bearer":"env:A"}}}}"#, #""bearer":"env:A""#),
        (#"{"secret":env:A}"#, #""secret":env:A"#),
        (#"{"sources":{"a":{"auth":{"bearer":["env:A"]},"dedupe":{"key":"data"}}}}"#, #""key":"data""#),
        (#"{"admin":{"tokens":{"ops":{"bearer":"env:A","role":"boss","content":null}}}}"#, #""role":"boss""#),
        (#"{"admin":{"tokens":{"ops":{"bearer":"env:A","role":"boss","content":null}}}}"#, #""content":null"#),
    ])
    func otherValuesBehindKeysAreShown(text: String, value: String) {
        let fixture = Fixture(files: [ConfigText(name: "f", bytes: Array(text.utf8))], expected: "", description: "")
        let report = ConfigReport(of: fixture.files).text(of: fixture.mistakes)
        #expect(report.contains(value), "\(report)")
    }

    /// Has no excerpt: NULs between the letters would keep a secret from being found.
    @Test(arguments: [
        String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian, .utf32BigEndian,
    ])
    func namesTheRemedyForOtherEncodings(_ encoding: String.Encoding) throws {
        let data = try #require(#"{"secret":"hunter2"}"#.data(using: encoding))
        let fixture = Fixture(files: [ConfigText(name: "f", bytes: [UInt8](data))], expected: "", description: "")
        let report = ConfigReport(of: fixture.files).text(of: fixture.mistakes)
        #expect(report == "f:1:1: error: this is not UTF-8\n  hint: save the file as UTF-8\n")
    }

    /// A file system may leave a file that was being written with its length but without its bytes.
    @Test func namesTheCauseOfAFileOfNULs() {
        let bytes = [UInt8](repeating: 0, count: 100)
        let fixture = Fixture(files: [ConfigText(name: "f", bytes: bytes)], expected: "", description: "")
        let report = ConfigReport(of: fixture.files).text(of: fixture.mistakes)
        #expect(
            report == "f:1:1: error: the file begins with NUL bytes, as after a power failure\n  hint: restore it\n")
    }

    @Test func aFileThatIsTooLargeHasNoExcerpt() {
        let bytes = [UInt8](repeating: 0x20, count: 50 << 20)
        let fixture = Fixture(files: [ConfigText(name: "f", bytes: bytes)], expected: "", description: "")
        let report = ConfigReport(of: fixture.files).text(of: fixture.mistakes)
        #expect(report == "f: error: the file is larger than 16 MiB\n")
    }

    @Test func aLineDoesNotRepeatInvalidJSON() {
        let fixture = Fixture(
            files: [ConfigText(name: "f", bytes: Array(#"{"a": hidden}"#.utf8))], expected: "", description: "")
        #expect(
            ConfigReport.lines(of: fixture.mistakes, in: ["f"]) == [
                "f:1:7: error: this is not a JSON value; signalbox routes check shows it"
            ])
    }

    @Test func readsFilesOfTheFolderAfterTheConfigInOrder() throws {
        let texts = [
            #"{"destinations":{"i":{"builtin":"inbox"}},"routes":[{"name":"a","to":["j"],"match":{}}],"fallback":["k"]}"#,
            #"{"destinations":{"j":{"builtin":"inbox"}},"sources":{"s":{"auth":{"bearer":["env:S"]}}}}"#,
            #"{"destinations":{"k":{"builtin":"inbox"}},"routes":[{"name":"b","to":["i"],"match":{}}]}"#,
        ]
        let files = texts.enumerated().map { ConfigText(name: "\($0.offset)", bytes: Array($0.element.utf8)) }
        let config = try RoutedConfig(files).config
        #expect(config.routes.map(\.name) == ["a", "b"])
        #expect(config.destinations.map(\.name.name) == ["i", "j", "k"])
        #expect(config.sources.keys.map(\.name) == ["s"])
        #expect(config.fallback.map(\.name) == ["k"])
    }
}
