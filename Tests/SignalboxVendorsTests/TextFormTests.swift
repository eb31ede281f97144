import SignalboxJSON
import Testing

@testable import SignalboxVendors

struct TextFormTests {
    @Test(arguments: [
        (TextForm.uuid, "01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c11"), (.uuid, "01939B4E-7C1A-7D2E-9A54-0C8F6F1F3C11"),
        (.hex, "5f3c1a"), (.hex, "DEADBEEF"), (.digits, "0123456789"), (.ulid, "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        (.url, "https://a.example/b"), (.url, "http://a.example"),
    ])
    func acceptsItsForm(_ form: TextForm, _ text: String) { #expect(matches(form, text)) }

    @Test(arguments: [
        (TextForm.uuid, "01939b4e7c1a7d2e9a540c8f6f1f3c11"), (.uuid, "01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c1g"),
        (.uuid, ""), (.hex, ""), (.hex, "5f3c1g"), (.digits, ""), (.digits, "12a"), (.digits, "-1"),
        (.ulid, "01ARZ3NDEKTSV4RRFFQ69G5FAU"), (.ulid, "01ARZ3NDEKTSV4RRFFQ69G5FA"), (.url, "https://"),
        (.url, "ftp://a.example"), (.url, "app://a"),
    ])
    func rejectsOtherTexts(_ form: TextForm, _ text: String) { #expect(!matches(form, text)) }

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
