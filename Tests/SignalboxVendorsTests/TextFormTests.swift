import SignalboxJSON
import Testing

@testable import SignalboxNotification

struct TextFormTests {
    @Test(arguments: [
        (TextForm.uuid, "01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c11"), (.uuid, "01939B4E-7C1A-7D2E-9A54-0C8F6F1F3C11"),
        (.hex, "5f3c1a"), (.hex, "DEADBEEF"), (.digits, "0123456789"), (.ulid, "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        (.url, "https://a.example/b"), (.url, "http://a.example"), (.alphanumeric, "pR7xK2mQ9a"),
        (.lettered, "pR7xK2mQ9a"), (.lettered, "1234567x"), (.lettered, "abc"),
        (.dateTime, "2026-03-01T00:00:00.000Z"), (.dateTime, "2026-03-01T00:00:00+01:00"),
    ])
    func acceptsItsForm(_ form: TextForm, _ text: String) { #expect(matches(form, text)) }

    @Test(arguments: [
        (TextForm.uuid, "01939b4e7c1a7d2e9a540c8f6f1f3c11"), (.uuid, "01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c1g"),
        (.uuid, ""), (.hex, ""), (.hex, "5f3c1g"), (.digits, ""), (.digits, "12a"), (.digits, "-1"),
        (.ulid, "01ARZ3NDEKTSV4RRFFQ69G5FAU"), (.ulid, "01ARZ3NDEKTSV4RRFFQ69G5FA"), (.url, "https://"),
        (.url, "ftp://a.example"), (.url, "app://a"), (.alphanumeric, ""), (.alphanumeric, "p-7"),
        (.lettered, ""), (.lettered, "1234567890"), (.lettered, "p-7"),
        (.dateTime, "12:30"), (.dateTime, "1700000000"), (.dateTime, "2026-03-01"),
    ])
    func rejectsOtherTexts(_ form: TextForm, _ text: String) { #expect(!matches(form, text)) }

    @Test(arguments: [
        "https://ct0.app", "http://ct0.app/", "https://a1.ct0.app/t/x", "https://a1.ct0.app:8443?x",
        "https://ct0.app#x",
    ])
    func findsAHostAndThoseBelowIt(_ text: String) { #expect(isBelowHost(text)) }

    @Test(arguments: [
        "", "ct0.app", "ftp://ct0.app", "https://notct0.app", "https://ct0.app.example", "https://example.com/ct0.app",
        "https://example.com?ct0.app", "https://ct0.app@example.com", "https://", "https://.app", "https://app",
    ])
    func findsNoOtherHost(_ text: String) { #expect(!isBelowHost(text)) }

    private func isBelowHost(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer { $0.isURL(below: "ct0.app") }
    }

    @Test func comparesTheLengthInBytes() throws {
        let parser = JSONParser()
        let value = try parser.parse(Array(#"{"id":"5f3c1a2b","number":12345678}"#.utf8))
        let id = try #require(value["id"])
        #expect(CatalogueCondition.Test.form(.hex, length: 8).holds(of: id))
        #expect(!CatalogueCondition.Test.form(.hex, length: 24).holds(of: id))
        let number = try #require(value["number"])
        #expect(!CatalogueCondition.Test.form(.digits, length: nil).holds(of: number))
    }

    private func matches(_ form: TextForm, _ text: String) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer { form.matches($0) }
    }
}
