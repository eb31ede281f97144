import Foundation
import SignalboxGateway
import SignalboxJSON
import Testing

/// Timelines of in-app messages, and the stories in `Examples/inapp`.
@Suite struct SimulationTests {
    private static let message =
        #"{"vendor":"own","kind":"modal","triggers":[{"type":"event","name":"buy"}],"reEligibility":"always"}"#
    private static let trigger = #"{"device":"phone","user":"ann","event":{"type":"event","name":"buy"}}"#

    /// A line at a second after noon.
    private func line(_ second: Int, _ members: String = "") -> String {
        let clock = "12:\(second / 60 < 10 ? "0" : "")\(second / 60):\(second % 60 < 10 ? "0" : "")\(second % 60)"
        return "{\"at\":\"2026-11-22T\(clock)Z\"\(members.isEmpty ? "" : ",")\(members)}"
    }

    private func steps(_ lines: [String]) throws(InvalidTimeline) -> [SimulationStep] {
        var steps: [SimulationStep] = []
        Simulation.run(try Timeline(Array(lines.joined(separator: "\n").utf8))) { steps.append($0) }
        return steps
    }

    /// The last three columns of each row, without the heading.
    private func effects(_ lines: [String]) throws -> [String] {
        let rows = SimulationStep.table(try steps(lines)).split(separator: "\n").dropFirst()
        return rows.map { row in
            row.split(separator: "  ", omittingEmptySubsequences: true).suffix(row.hasPrefix("2026") ? 100 : 3)
                .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "|")
        }
    }

    private func faults(_ lines: [String]) -> [String] {
        do throws(InvalidTimeline) {
            _ = try Timeline(Array(lines.joined(separator: "\n").utf8))
            return []
        } catch {
            return error.faults.map { $0.text(in: "t") }
        }
    }

    @Test(arguments: ["two-vendors-on-one-screen", "cap-over-two-devices", "delay-misses-timeout"])
    func decidesTheExamples(_ name: String) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Examples/inapp").standardized
        let timeline = try Timeline(Array(Data(contentsOf: folder.appendingPathComponent(name + ".ndjson"))))
        let expected = try String(contentsOf: folder.appendingPathComponent(name + ".expected.txt"), encoding: .utf8)
        var steps: [SimulationStep] = []
        Simulation.run(timeline) { steps.append($0) }
        let table = SimulationStep.table(steps)
        #expect(table == expected, "\(table)")
    }

    @Test func equalTimelinesGiveEqualResults() throws {
        let lines = [
            line(0, "\"id\":\"a\",\"message\":\(Self.message)"), line(0, "\"id\":\"b\",\"message\":\(Self.message)"),
            line(1, "\"trigger\":\(Self.trigger)"), line(2, #""outcome":{"outcome":"shown"}"#), line(3599),
        ]
        let first = try steps(lines)
        #expect(first.map(\.json) == (try steps(lines)).map(\.json))
        #expect(first.filter(\.isDecision).count == 3)
    }

    @Test func writesADecisionWithEveryCandidateAsJSON() throws {
        let decided = try steps([
            line(0, "\"id\":\"a\",\"message\":\(Self.message)"), line(1, "\"id\":\"b\",\"message\":\(Self.message)"),
            line(2, "\"trigger\":\(Self.trigger),\"as\":\"first\""),
        ])
        let bytes = try #require(decided.last?.json)
        let parser = JSONParser()
        try withExtendedLifetime(parser) {
            let json = try parser.parse(bytes)
            #expect(json["line"]?.integer == 3 && json["device"]?.string == "phone")
            #expect(json["at"]?.string == "2026-11-22T12:00:02.000Z")
            #expect(json["event"]?["name"]?.string == "buy")
            #expect(json["answer"]?["offer"]?["id"]?.string == "of_3")
            let candidates = json["answer"]?["candidates"]?.elements.map { $0["result"]?.string }
            #expect(candidates == ["shown", "lost"])
            #expect(json["events"]?.elements.first { _ in true }?["type"]?.string == "io.signalbox.inapp.offered")
        }
    }

    /// A display ends by the device's silence, without a line at that time.
    @Test func advancesBetweenLines() throws {
        let found = try effects([
            line(0, "\"id\":\"a\",\"message\":\(Self.message)"), line(1, "\"trigger\":\(Self.trigger)"),
            line(2, #""outcome":{"outcome":"shown"}"#), line(3599),
        ])
        #expect(found.last == "2026-11-22T12:30:02Z|phone|time|dismissed|a|interrupted", "\(found)")
    }

    /// As in a store. Both ids are the same character.
    @Test(arguments: [("\u{e9}", "e\u{301}", "ann", "ann"), ("phone", "tablet", "\u{e9}", "e\u{301}")])
    func tellsIDsApartByTheirBytes(device: String, other: String, user: String, otherUser: String) throws {
        let limit = #""limits":[{"count":1,"per":"\#(user == otherUser ? "device" : "user")","window":"lifetime"}]"#
        func trigger(_ device: String, _ user: String) -> String {
            "\"trigger\":" + Self.trigger.replacing("phone", with: device).replacing("ann", with: user)
        }
        let found = try effects([
            line(0, "\"id\":\"a\",\"message\":\(Self.message.dropLast()),\(limit)}"), line(1, trigger(device, user)),
            line(2, #""outcome":{"outcome":"shown"}"#), line(3, trigger(other, otherUser)),
        ])
        #expect(found.last?.hasSuffix("offered|a") == true, "\(found)")
    }

    @Test func aMessageForAUserIsForNoOtherOne() throws {
        let found = try effects([
            line(0, "\"id\":\"a\",\"message\":\(Self.message.dropLast()),\"address\":{\"user\":\"\u{e9}\"}}"),
            line(1, "\"trigger\":" + Self.trigger.replacing("ann", with: "e\u{301}")),
        ])
        #expect(found.last?.contains("no-match") == true, "\(found)")
    }

    @Test func refersToOffersByName() throws {
        let found = try effects([
            line(0, "\"id\":\"a\",\"message\":\(Self.message)"),
            line(1, "\"trigger\":\(Self.trigger),\"as\":\"first\""),
            line(2, #""outcome":{"outcome":"shown"},"offer":"first""#),
            line(3, "\"trigger\":\(Self.trigger),\"as\":\"second\""),
            line(4, #""outcome":{"outcome":"shown"},"offer":"second""#),
            line(5, #""outcome":{"outcome":"dismissed"},"offer":"first""#),
            line(6, #""outcome":{"outcome":"shown"},"offer":"first""#),
        ])
        #expect(found[2].contains("impression|a"))
        #expect(found[4].contains("skipped|-|that line gave no offer"))
        #expect(found[5].contains("dismissed|a"))
        #expect(found.count == 7)
    }

    @Test func registersWithdrawsAndChangesThePolicy() throws {
        let found = try effects([
            line(0, "\"id\":\"a\",\"message\":\(Self.message)"),
            // Equal in the canonical form.
            line(0, "\"id\":\"a\",\"message\":\(Self.message.replacing(":", with: " : "))"),
            line(1, "\"id\":\"a\",\"message\":\(Self.message.replacing("modal", with: "bar"))"),
            line(2, #""policy":{"pauses":[{"name":"p"}]}"#), line(3, "\"trigger\":\(Self.trigger)"),
            line(4, #""withdraw":"a""#), line(5, #""withdraw":"a""#), line(6, "\"trigger\":\(Self.trigger)"),
        ])
        #expect(found[0].hasSuffix("registered|a|revision 1") && found[1].hasSuffix("registered|a|unchanged"))
        #expect(found[2].hasSuffix("registered|a|revision 2") && found[3].contains("policy|active"))
        #expect(found[4].contains("paused"), "\(found)")
        #expect(found[5].contains("withdrawn|a") && found[6].contains("unknown|a"))
    }

    @Test func fillsSlots() throws {
        let inline = #"{"vendor":"granify","kind":"inline","triggers":[{"type":"slot","name":"top"}]}"#
        let page =
            #"{"device":"phone","page":"home","slots":[{"name":"top"},{"name":"side"},{"name":"twice"},{"name":"twice"}]}"#
        let found = try effects([
            line(0, "\"id\":\"inline\",\"message\":\(inline)"), line(1, "\"slots\":\(page),\"as\":\"page\""),
            line(2, #""outcome":{"outcome":"shown"},"offer":"page/top""#),
        ])
        #expect(found.contains { $0.contains("offered|inline|slot top") }, "\(found)")
        #expect(found.contains { $0.hasSuffix("empty|-|slot side") })
        #expect(found.contains { $0.hasSuffix("error|-|slot twice: inline.duplicate-label") })
        #expect(found.last?.contains("impression|inline") == true)
    }

    @Test func showsNoControlCharacters() throws {
        let table = SimulationStep.table(
            try steps([line(0, #""slots":{"device":"d","page":"p","slots":[{"name":"a\u001b[31m\nb"}]}"#)]))
        #expect(table.contains("slot a"))
        #expect(!table.contains("\u{1B}") && table.split(separator: "\n").count == 2)
    }

    // MARK: Mistakes

    @Test func namesTheLineAndThePointerOfEachMistake() {
        let found = faults([
            line(9, #""trigger":{"device":"d","event":{"type":"sessionStart","x":1}}"#), "", "nonsense",
            line(8, #""withdraw":"a""#), line(9, #""withdraw":"a","slots":{}"#), line(9, #""message":{}"#),
            line(9, #""id":"m","message":{"vendor":"own","kind":"modal","triggers":[]}"#),
            line(9, #""policy":{"limits":[{"name":"a","count":1,"window":"month"}]}"#),
            line(9, #""outcome":{"outcome":"shown"},"offer":"nobody""#), line(9, #""withdraw":"a","as":"x""#),
            line(9, #""trigger":{"device":"d","event":{"type":"sessionStart"}},"as":"last""#), "{\"at\":\"noon\"}",
            "{}",
        ])
        let places = found.map { $0.split(separator: " ").first.map(String.init) ?? "" }
        #expect(places == ["t:1:", "t:3:", "t:5:", "t:6:", "t:7:", "t:8:", "t:9:", "t:10:", "t:11:", "t:12:", "t:13:"])
        #expect(found[0].hasPrefix("t:1: /trigger/event/x: Unknown member"))
        #expect(found[4].hasPrefix("t:7: /message/triggers: "))
        #expect(found[5].hasPrefix("t:8: /policy/limits/0/window: there is no window \"month\""))
        #expect(found[6].hasPrefix("t:9: /offer: No earlier line has the name \"nobody\""))
    }

    @Test func rejectsTimesThatGoBackwards() {
        #expect(
            faults([line(9, #""withdraw":"a""#), line(8, #""withdraw":"a""#)]) == [
                "t:2: /at: This time is before that of line 1: put the lines in the order of time."
            ])
    }

    @Test func checksMessagesAgainstTheActivePolicy() {
        let message = Self.message.dropLast() + #","namedLimits":["surveys"]}"#
        let limit = #""policy":{"limits":[{"name":"surveys","owner":"named","count":1,"window":"day"}]}"#
        let found = faults([
            line(0, "\"id\":\"a\",\"message\":\(message)"), line(1, limit),
            line(2, "\"id\":\"b\",\"message\":\(message)"),
        ])
        #expect(found.count == 1 && found.first?.hasPrefix("t:1: /message/namedLimits/0: ") == true, "\(found)")
    }

    /// As after a reload of the gateway.
    @Test func aMessageThatALaterPolicyDoesNotPermitIsNotOffered() throws {
        let message = Self.message.dropLast() + #","namedLimits":["surveys"]}"#
        let limit = #""policy":{"limits":[{"name":"surveys","owner":"named","count":1,"window":"day"}]}"#
        let found = try steps([
            line(0, limit), line(1, "\"id\":\"a\",\"message\":\(message)"), line(2, #""policy":{}"#),
            line(3, "\"trigger\":\(Self.trigger)"), line(4, limit), line(5, "\"trigger\":\(Self.trigger)"),
        ])
        let offered = SimulationStep.table(found).split(separator: "\n").filter { $0.contains(" offered ") }
        #expect(offered.count == 1 && offered.first?.hasPrefix("2026-11-22T12:00:05Z") == true, "\(offered)")
    }

    @Test func rejectsAnIdThatIsNotInNormalizationFormC() {
        let found = faults([line(0, "\"id\":\"e\u{301}\",\"message\":\(Self.message)")])
        #expect(found.count == 1 && found.first?.hasPrefix("t:1: /id: ") == true, "\(found)")
    }

    @Test func boundsATimeline() {
        #expect(faults(["", "  "]).first == "t: The timeline is empty: write one object in each line.")
        #expect(faults([String(repeating: " ", count: Timeline.Bounds.bytes + 1)]).count == 1)
        let many = Array(repeating: line(0), count: Timeline.Bounds.lines + 5)
        #expect(faults(many) == ["t:20001: A timeline can have at most 20000 lines."])
        let wrong = Array(repeating: "x", count: 100)
        #expect(faults(wrong).count == Timeline.Bounds.faults)
    }
}
