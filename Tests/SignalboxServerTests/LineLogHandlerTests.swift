import Foundation
import Logging
import SignalboxNotification
import SignalboxTesting
import Synchronization
import Testing

@testable import SignalboxServer

@Suite struct LineLogHandlerTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    /// The line of a warning, without its time and level.
    private func line(
        _ message: Logger.Message, _ metadata: Logger.Metadata = [:], error: (any Error)? = nil
    ) -> String {
        let event = LogEvent(
            level: .warning, message: message, error: error, metadata: metadata, source: "", file: "", function: "",
            line: 0)
        let line = LineLogHandler { _ in }.line(of: event, at: Timestamp(.init(timeIntervalSince1970: 1)))
        let head = "1970-01-01T00:00:01.000Z warning "
        #expect(line.hasPrefix(head) && line.hasSuffix("\n"), "\(line)")
        #expect(line.count { $0.isNewline } == 1, "\(line)")
        return String(line.dropFirst(head.count).dropLast())
    }

    @Test func writesTheMessageBeforeItsSortedFields() {
        #expect(line("Destination recovered.") == "Destination recovered.")
        #expect(
            line("Delivery failed.", ["reason": "answered 503", "attempt": "3", "destination": "crm"])
                == #"Delivery failed. attempt=3 destination=crm reason="answered 503""#)
        #expect(line("Failed.", error: StringError()) == #"Failed. error="no space""#)
    }

    @Test(arguments: [
        ("", #""""#), ("plain-1:2/ü…", "plain-1:2/ü…"), ("two words", #""two words""#), ("a=b", #""a=b""#),
        (#"say "x""#, #""say \"x\"""#), (#"C:\x"#, #""C:\\x""#), ("a\nb", #""a\nb""#), ("a\r\nb", #""a\r\nb""#),
        ("\u{1B}[2J\u{0}\u{7F}", #""\u001b[2J\u0000\u007f""#), ("a\u{85}b\u{2028}c", #""a\u0085b\u2028c""#),
        ("\u{202E}x", #""\u202ex""#), ("👍🏽", "👍🏽"),
    ])
    func quotesAndEscapesValues(_ value: String, _ written: String) {
        #expect(line("x", ["field": "\(value)"]) == "x field=" + written)
    }

    @Test func escapesMessagesAndNamesOfFields() {
        #expect(line("a\n2026 \"b\"", ["x\ny": "1"]) == #"a\n2026 "b" x\ny=1"#)
    }

    @Test func cutsLongValues() {
        let long = String(repeating: "é", count: LineLogHandler.longest)
        #expect(line("x", ["a": "\(long)"]) == "x a=" + long)
        #expect(line("x", ["a": "\(long)é"]) == "x a=" + long + "…")
    }

    // MARK: JSON

    private func json(
        _ message: Logger.Message, _ metadata: Logger.Metadata = [:], source: String = "SignalboxGateway"
    ) throws -> [String: Any] {
        let event = LogEvent(
            level: .warning, message: message, error: nil, metadata: metadata, source: source, file: "", function: "",
            line: 0)
        let line = LineLogHandler(.json) { _ in }.jsonLine(of: event, at: Timestamp(.init(timeIntervalSince1970: 1)))
        #expect(line.hasSuffix("\n") && line.count { $0.isNewline } == 1, "\(line)")
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    @Test func writesAnObjectWithFields() throws {
        let line = try json("Delivery failed.", ["reason": "answered 503", "attempt": "3", "trace_id": "4bf9"])
        #expect(line["time"] as? String == "1970-01-01T00:00:01.000Z" && line["level"] as? String == "warning")
        #expect(line["message"] as? String == "Delivery failed." && line["target"] as? String == "gateway")
        #expect(line["trace_id"] as? String == "4bf9")
        #expect(line["fields"] as? [String: String] == ["reason": "answered 503", "attempt": "3"])
        #expect(Set(try json("x").keys) == ["time", "level", "message", "target", "fields"])
    }

    @Test(arguments: [("SignalboxServer", "server"), ("signalbox", "signalbox"), ("Hummingbird", "hummingbird")])
    func namesThePartOfTheProgram(_ module: String, _ target: String) throws {
        #expect(try json("x", source: module)["target"] as? String == target)
    }

    @Test(arguments: [
        "", "two words", #"say "x" \y"#, "a\nb\r\nc", "\u{1B}[2J\u{0}\u{7F}", "a\u{85}b\u{2028}c", "\u{202E}x", "👍🏽",
        "=",
    ])
    func jsonKeepsEveryText(_ text: String) throws {
        let line = try json("\(text)", ["a \(text)": "\(text)"])
        #expect(line["message"] as? String == text)
        #expect(line["fields"] as? [String: String] == ["a \(text)": text])
    }

    @Test func jsonWritesRandomTextsOnOneLine() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let scalars = (0..<Int.random(in: 0...20, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: 0...0x2100, using: &random))
            }
            let text = String(String.UnicodeScalarView(scalars))
            let fields = try json("x", ["f": "\(text)"])["fields"] as? [String: String]
            #expect(fields?["f"]?.unicodeScalars.elementsEqual(text.unicodeScalars) == true, "seed \(seed)")
        }
    }

    /// Covers the server's logger and the logger that a request gets from it.
    @Test func writesTheFieldsOfTheLogger() {
        let lines = Lines()
        let server = Logger(label: "x") { _ in LineLogHandler { line in lines.all.withLock { $0.append(line) } } }
        var request = server
        request[metadataKey: "id"] = "7"
        request[metadataKey: "a"] = "logger"
        server.notice("One.")
        request.notice("Two.", metadata: ["a": "given"])
        request.info("Below the level.")
        #expect(
            lines.all.withLock { $0.map { String($0.dropFirst(Timestamp(milliseconds: 0)?.text.count ?? 0)) } }
                == [" notice One.\n", " notice Two. a=given id=7\n"])
    }
}

private struct StringError: Error, CustomStringConvertible {
    let description = "no space"
}
