import SignalboxGateway
import SignalboxInApp
import SignalboxJSON
import SignalboxTesting
import Testing

/// A failure names its seed.
@Suite struct FormPropertyTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func readsEveryFormThatItWrites(seed: UInt64) throws {
        var random = RandomMessages(seed: seed)
        for _ in 0..<25 {
            let form = try random.form()
            let bytes = form.write()
            let again = try MessageForm.read(bytes, id: "m", revision: 3, registeredAt: noon)
            #expect(again == form, "seed \(seed): \(text(bytes))")
            #expect(text(again.write()) == text(bytes), "seed \(seed)")
            let later = try MessageForm.read(bytes, id: "m", revision: 4, registeredAt: noon + 7)
            #expect(text(later.write()) == text(bytes), "seed \(seed)")
            try FormRecorder.record(bytes)
        }
    }

    /// Random JSON, and forms with a part replaced by random JSON.
    @Test(arguments: 100..<140 as Range<UInt64>)
    func namesAnExistingPlaceOfEveryFault(seed: UInt64) throws {
        var random = RandomMessages(seed: seed)
        for round in 0..<100 {
            let bytes = round.isMultiple(of: 2) ? try random.damagedForm() : random.damagedRequest()
            for fault in faults(of: bytes) where fault.pointer != "" {
                #expect(try exists(fault.pointer, in: bytes), "seed \(seed): \(fault) in \(text(bytes))")
                #expect(!fault.detail.isEmpty && !fault.code.isEmpty)
            }
        }
    }

    /// Bytes that are not JSON.
    @Test(arguments: 200..<210 as Range<UInt64>)
    func rejectsDamagedBytes(seed: UInt64) throws {
        var random = RandomMessages(seed: seed)
        for _ in 0..<100 {
            var bytes = try random.form().write()
            for _ in 0..<3 { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            bytes.removeLast(random.below(3))
            for fault in faults(of: bytes) where fault.code == "not-json" { #expect(fault.pointer == "") }
        }
    }

    private func faults(of bytes: [UInt8]) -> [FormFault] {
        func fault<Form>(_ read: () throws(FormFault) -> Form) -> FormFault? {
            do throws(FormFault) {
                _ = try read()
                return nil
            } catch {
                return error
            }
        }
        return [
            fault { () throws(FormFault) in try form(text(bytes)) },
            fault { () throws(FormFault) in try TriggerForm.read(bytes, ticket: "t") },
            fault { () throws(FormFault) in try SlotForm.read(bytes, ticket: "t") },
            fault { () throws(FormFault) in try ReportForm.read(bytes, offer: "o", ticket: "t") },
            fault { () throws(FormFault) in try ExplainForm.read(bytes) },
        ].compactMap { $0 }
    }

    /// Whether the pointer or its parent leads to a value.
    private func exists(_ text: String, in bytes: [UInt8]) throws -> Bool {
        let pointer = try #require(JSONPointer(text))
        let parent = try #require(
            JSONPointer(text.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")))
        let parser = JSONParser()
        return try withExtendedLifetime(parser) {
            let root = try parser.parse(bytes)
            return pointer.value(in: root) != nil || parent.value(in: root) != nil
        }
    }
}

extension RandomMessages {
    /// Any JSON.
    mutating func json(depth: Int = 3) -> String {
        switch below(depth > 0 ? 9 : 6) {
        case 0: "null"
        case 1: pick(["true", "false"])
        case 2: pick(["0", "-1", "1.5", "1e300", "18446744073709551615", "1000", "300"])
        case 3:
            pick(["\"\"", "\"never\"", "\"24h\"", "\"2026-11-22T10:00:00Z\"", "\"event\"", "\"immediate\"", "\"x\""])
        case 4: "\"" + String(repeating: "a", count: pick([1, 256, 257, 1025])) + "\""
        case 5: pick(["[]", "{}"])
        case 6: "[" + list(upTo: 4) { $0.json(depth: depth - 1) }.joined(separator: ",") + "]"
        default:
            "{"
                + list(upTo: 4) { random in "\"\(random.pick(Self.words))\":" + random.json(depth: depth - 1) }
                .joined(separator: ",") + "}"
        }
    }

    static let words =
        (FormKeys.message + FormKeys.condition + FormKeys.comparisons + FormKeys.limit + FormKeys.requirements
        + FormKeys.state + FormKeys.triggerRequest + FormKeys.slotRequest + FormKeys.slot + FormKeys.report
        + FormKeys.explanation + FormKeys.counter).map(\.description) + ["type", "name", "a~1b", "a~0b", "é", ""]

    /// A form with one of its values, or one more member, replaced.
    mutating func damagedForm() throws -> [UInt8] { damage(text(try form().write())) }

    mutating func damagedRequest() -> [UInt8] {
        damage(
            pick([
                #"""
                {"device":"d","user":"u","event":{"type":"event","name":"e","properties":{"a/b":1,"c~":[true,"x"]}},
                "state":{"foreground":true,"assets":{"a~/":"ready"},"topics":["t"],"zone":"Europe/Warsaw"}}
                """#,
                #"{"device":"d","page":"p","slots":[{"name":"n","productId":"p"}],"override":{"name":"n"},"state":{}}"#,
                #"{"outcome":"clicked","button":"b","device":"d","at":"2026-11-22T10:00:00Z"}"#,
                #"{"device":"d","event":{"type":"poll"},"at":"2026-11-22T10:00:00Z","counters":[{"message":"m","count":3}]}"#,
            ]))
    }

    /// Replaces a value after a colon, a comma or a bracket by other JSON.
    private mutating func damage(_ json: String) -> [UInt8] {
        let bytes = Array(json.utf8)
        let marks = bytes.indices.filter {
            [UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: ",")].contains(bytes[$0])
        }
        guard let mark = marks.isEmpty ? nil : pick(marks) else { return bytes }
        let parser = JSONParser()
        for _ in 0..<8 {
            let end = min(mark + 1 + below(40), bytes.count)
            let candidate = Array(bytes[...mark]) + Array(self.json().utf8) + Array(bytes[end...])
            parser.reset()
            if (try? parser.parse(candidate)) != nil { return candidate }
        }
        return Array(self.json().utf8)
    }
}
