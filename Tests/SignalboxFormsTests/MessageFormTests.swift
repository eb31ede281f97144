import Foundation
import SignalboxGateway
import SignalboxInApp
import SignalboxJSON
import SignalboxTesting
import Testing

/// 2026-11-22T12:00:00Z.
let noon: Instant = 1_795_348_800_000

/// The form of a message as the tests register it.
func form(_ text: String, registeredAt: Instant = noon) throws(FormFault) -> MessageForm {
    try MessageForm.read(Array(text.utf8), id: "m", revision: 3, registeredAt: registeredAt)
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

@Suite struct MessageFormTests {
    /// A fixture's expected file is the canonical form, or `{"fault": {code, pointer, detail}}`.
    @Test(arguments: try Fixture.all(in: .module, folder: "messages"))
    func readsAndWritesFixtures(_ fixture: Fixture) throws {
        let found = Result { () throws(FormFault) in
            try MessageForm.read(fixture.input, id: "m", revision: 1, registeredAt: noon).write()
        }
        switch found {
        case .failure(let fault):
            #expect(try JSONDifference.lines(expected: fixture.expected, actual: fault.json) == [])
        case .success(let written):
            #expect(try JSONDifference.lines(expected: fixture.expected, actual: written) == [])
            try FormRecorder.record(fixture.input)
            try FormRecorder.record(written)
        }
    }

    @Test func takesIdRevisionAndTimeFromTheCaller() throws {
        let message = try form(#"{"vendor": "acme", "kind": "modal"}"#).message
        #expect(message.id == "m" && message.revision == 3 && message.registeredAt == noon)
        #expect(message.triggers == [.immediate] && message.reEligibility == .never)
    }

    @Test func keepsContentAndActionAsTheyAre() throws {
        let form = try form(
            #"{"vendor": "acme", "kind": "modal", "content": {"b": 1.50, "a": [null, "é"]}, "action": "x"}"#)
        #expect(text(form.content ?? []) == #"{"b":1.5,"a":[null,"é"]}"#)
        #expect(text(form.action ?? []) == #""x""#)
        #expect(text(form.write()).hasSuffix(#""content":{"b":1.5,"a":[null,"é"]},"action":"x"}"#))
    }

    @Test func writesTheSameBytesWheneverItIsRegistered() throws {
        let body = #"{"vendor": "mce", "kind": "banner", "triggers": [{"type": "rule", "keyword": "a"}]}"#
        let (early, late) = (try form(body), try form(body, registeredAt: noon + 12_345))
        #expect(early.message.schedule.end == noon + 365 * 86_400_000)
        #expect(late.message.schedule.end == noon + 12_345 + 365 * 86_400_000)
        #expect(early.write() == late.write())
        #expect(text(early.write()) == body.replacing(" ", with: ""))
    }

    @Test(arguments: [
        ("mce", #""limits": []"#), ("sourse", #""smart": false"#), ("synerise", #""renderTimeout": "10s""#),
        ("braze", #""reEligibility": "always""#), ("mce", #""schedule": {"end": "2027-01-01T00:00:00.000Z"}"#),
    ])
    func writesMembersThatDifferFromTheVendorsDefault(_ vendor: String, _ member: String) throws {
        let form = try form(
            #"{"vendor": "\#(vendor)", "kind": "modal", "triggers": [{"type": "sessionStart"}], \#(member)}"#)
        #expect(text(form.write()).contains(member.replacing(": ", with: ":")))
    }

    @Test func requiresTriggersOfKnownVendors() throws {
        for vendor in ["braze", "synerise", "mce", "granify", "sourse"] {
            let fault = #expect(throws: FormFault.self) { try form(#"{"vendor": "\#(vendor)", "kind": "modal"}"#) }
            #expect(fault?.code == "missing" && fault?.pointer == "/triggers")
        }
    }

    @Test func boundsContentAndWholeForms() throws {
        func fault(_ key: String, _ size: Int) -> FormFault? {
            let body = #"{"vendor": "acme", "kind": "modal", "\#(key)": "\#(String(repeating: "x", count: size))"}"#
            do throws(FormFault) {
                _ = try form(body)
                return nil
            } catch {
                return error
            }
        }
        #expect(fault("content", FormBounds.content - 2) == nil)
        #expect(fault("content", FormBounds.content - 1)?.pointer == "/content")
        #expect(fault("action", FormBounds.action - 1)?.pointer == "/action")
        #expect(fault("content", FormBounds.message)?.code == "too-large")
        #expect(fault("content", FormBounds.message)?.pointer == "")
    }

    @Test func stopsAtTheBoundOfEveryList() throws {
        let trigger = #"{"type": "sessionStart"}"#
        let many = Array(repeating: trigger, count: 10_000).joined(separator: ",")
        let fault = #expect(throws: FormFault.self) {
            try form(#"{"vendor": "acme", "kind": "modal", "triggers": [\#(many)]}"#)
        }
        #expect(fault?.code == "too-many" && fault?.pointer == "/triggers")
        let members = (0..<20_000).map { #""k\#($0)": 1"# }.joined(separator: ",")
        let unknown = #expect(throws: FormFault.self) { try form("{\(members)}") }
        #expect(unknown?.code == "unknown-member" && unknown?.pointer == "/k0")
    }

    @Test func rejectsNestedFiltersAndDeepTexts() throws {
        func filter(_ depth: Int) -> String {
            let nested = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            return
                #"{"vendor": "acme", "kind": "modal", "triggers": [{"type": "event", "name": "e", "filter": \#(nested)}]}"#
        }
        let nested = #expect(throws: FormFault.self) { try form(filter(100)) }
        #expect(nested?.code == "wrong-type" && nested?.pointer == "/triggers/0/filter/0/0")
        let deep = #expect(throws: FormFault.self) { try form(filter(5000)) }
        #expect(deep?.code == "not-json" && deep?.pointer == "")
    }
}

extension FormFault {
    /// As fixtures have it.
    var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("fault")
        json.beginObject()
        json.member("code", code)
        json.member("pointer", pointer)
        json.member("detail", detail)
        json.endObject()
        json.endObject()
        return json.bytes
    }
}
