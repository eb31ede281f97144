import Foundation
import SignalboxConfig
import SignalboxGateway
import Testing

/// The examples of docs/guides/in-app.md are valid for the forms and the config.
@Suite struct InAppGuideTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../..").standardized

    private static func guide() throws -> String {
        try String(contentsOf: root.appendingPathComponent("docs/guides/in-app.md"), encoding: .utf8)
    }

    @Test func requestsOfTheGuideAreValid() throws {
        var paths: Set<String> = []
        for match in try Self.guide().matches(of: /curl [^\n]*8080(?<path>\/\S+) --data '(?<body>[^']+)'/) {
            let (path, body) = (String(match.output.path), Array(match.output.body.utf8))
            if path.contains("/messages/") {
                paths.insert("messages")
                _ = try MessageForm.read(body, id: "m", revision: 1, registeredAt: 0)
            } else if path.hasSuffix("/triggers") {
                paths.insert("triggers")
                _ = try TriggerForm.read(body, ticket: "of_1")
            } else {
                paths.insert("outcome")
                _ = try ReportForm.read(body, offer: "of_1", ticket: "of_2")
            }
        }
        #expect(paths == ["messages", "triggers", "outcome"])
    }

    @Test func blocksOfTheGuideAreValid() throws {
        var found: Set<String> = []
        for match in try Self.guide().matches(of: /```json\n(?<block>[^`]+)```/) {
            let block = String(match.output.block)
            if block.contains("\"counters\"") {
                found.insert("explain")
                _ = try ExplainForm.read(Array(block.utf8))
            } else if block.contains("\"slots\"") {
                found.insert("slots")
                _ = try SlotForm.read(Array(block.utf8), ticket: "of_1")
            } else {
                found.insert("config")
                let text = ConfigText(name: "guide", bytes: Array("{\(block)}".utf8))
                _ = try ConfigReading([text]).finish()
            }
        }
        #expect(found == ["explain", "slots", "config"])
    }

    @Test func theTableOfTheGuideIsThatOfTheExample() throws {
        let example = Self.root.appendingPathComponent("Examples/inapp/cap-over-two-devices.expected.txt")
        #expect(try Self.guide().contains(String(contentsOf: example, encoding: .utf8)))
    }
}
