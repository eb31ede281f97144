import SignalboxJSON
import SignalboxTesting
import Testing

@testable import SignalboxNotification

/// Hostile sizes: the number of elements read and of warnings is bounded.
@Suite struct BoundsTests {
    @Test func readsAThousandOfTenThousandSyneriseButtons() throws {
        let buttons = list(of: #"{"text":"x","action":{"type":"OPEN_URL"}}"#)
        let read = try Normalised(
            #"{"aps":{},"issuer":"Synerise","message-type":"m","content-type":"simple-push","content":{"buttons":\#(buttons)}}"#
        ).notification
        #expect(read.category?.actions.count == 1000)
        #expect(read.warnings.contains { $0.code == "synerise.too-many-buttons" })
        #expect(read.warnings.count == 100)
    }

    @Test func readsAThousandOfTenThousandMCEActionsWithDistinctIdentifiers() throws {
        let actions = list(of: #"{"name":"x","type":"url","value":"https://a.example"}"#)
        let read = try Normalised(#"{"aps":{"mutable-content":1},"category-actions":\#(actions)}"#).notification
        let identifiers = read.category?.actions.map(\.identifier) ?? []
        #expect(identifiers.count == 1000)
        #expect(Set(identifiers).count == 1000)
        #expect(read.warnings.map(\.code) == ["apns.payload-too-large", "mce.too-many-actions"])
    }

    @Test func readsAThousandOfTenThousandBrazeButtons() throws {
        let keys = (0..<10_000).map { #""ab_a\#($0)_a":"ab_open""# }.joined(separator: ",")
        let read = try Normalised(#"{"_ab":"true","t":"T","a":"A",\#(keys)}"#).notification
        #expect(read.category?.actions.count == 1000)
    }

    @Test func objectsOfManyRepeatedKeysKeepTheLastOfEach() throws {
        let keys = (0..<20_000).map { #""k\#($0 % 100)":\#($0)"# }.joined(separator: ",")
        let read = try Normalised(#"{"message":{"token":"t","data":{\#(keys)},"android":{"data":{"k0":"own"}}}}"#)
            .notification
        let custom = try #require(read.custom).string
        #expect(custom.hasPrefix(#"{"k0":"own","k1":19901,"#))
        #expect(custom.hasSuffix(#""k99":19999,"payload.k0":19900}"#))
    }

    /// Each lookup of a key visits every member of an object, so their number must not grow with the keys.
    @Test func overriddenKeysAreComparedWithoutLookups() throws {
        func keys(_ value: Int) -> String {
            (0..<2_000).map { #""k\#($0)":\#($0 == 1_999 ? 0 : value)"# }.joined(separator: ",")
        }
        let payload = #"{"message":{"token":"t","data":{\#(keys(1))},"android":{"data":{\#(keys(2))}}}}"#
        var custom: String?
        let visited = try JSONLookups.counting { custom = try Normalised(payload).notification.custom?.string }
        let text = try #require(custom)
        #expect(text.contains(#""k1998":2,"k1999":0,"payload.k0":1,"#))
        #expect(text.hasSuffix(#""payload.k1998":1}"#))
        #expect(visited < 200_000)
    }

    @Test func aThousandEqualBeginningsOfURLsAreReadOnceEach() throws {
        let beginning = "https://a.example/" + String(repeating: "x", count: 1_000)
        let links = (0..<1_200).map { #""\#(beginning)\#($0 % 900)""# }.joined(separator: ",")
        let read = try Normalised(#"{"aps":{"alert":"x"},"emPushSp":"1","mediaUrl":[\#(links)]}"#).notification
        #expect(read.vendor.name == "relateddigital")
        #expect(read.media.count == 900)
    }

    /// The members of a large object are visited once for all numbers.
    @Test func keysThatCountUpAreFoundByOneVisit() throws {
        func visited(pictures: Int) throws -> Int {
            let filler = (0..<3_000).map { #""k\#($0)":0"# }.joined(separator: ",")
            let keys = (1...pictures).map { #""pt_img\#($0)":"https://a.example/\#($0)""# }.joined(separator: ",")
            let payload = #"{"aps":{"alert":"x"},"wzrk_pn":true,"W$id":"1",\#(filler),\#(keys)}"#
            var items = 0
            let visited = try JSONLookups.counting {
                items = try Normalised(payload).notification.carousel?.items.count ?? 0
            }
            #expect(items == min(pictures, 100))
            return visited
        }
        #expect(try visited(pictures: 100) < visited(pictures: 2) * 3 / 2)
    }

    @Test func buttonsThatAreNotReadAreKept() throws {
        let buttons = list(of: #"{"identifier":"b","text":"x","action":{"type":"OPEN_APP"}}"#)
        let read = try Normalised(
            #"{"aps":{},"issuer":"Synerise","message-type":"m","content-type":"simple-push","content":{"buttons":\#(buttons)}}"#
        ).notification
        let custom = try #require(read.custom).string
        #expect(custom.hasPrefix(#"{"content":{"buttons":{"1000":{"identifier":"b","#))
        #expect(custom.hasSuffix(#""}}}}}"#))
        #expect(custom.contains(#""9999":{"#))
    }

    /// The event contains a long string once for each field that it fills.
    @Test(arguments: try Fixture.all(in: .module))
    func megabyteStringsStayBounded(_ fixture: Fixture) throws {
        let input = try Self.withMegabyte(fixture.input)
        let read = try Normalised(fixture, payload: input)
        #expect(read.json.count < 20_000 + input.count * 4)
        #expect(read.notification.warnings.count <= 100)
    }

    @Test func tenThousandUnknownKeysWithinAnObjectAreKept() throws {
        let keys = (0..<10_000).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")
        let read = try Normalised(#"{"aps":{"alert":"x"},"ab":{"c":null,\#(keys)}}"#).notification
        #expect(read.vendor.name == "braze")
        #expect(try #require(read.custom).string.hasSuffix(#""k9999":9999}}"#))
    }

    @Test func tenThousandValuesOfWrongTypesCostAHundredWarnings() throws {
        let items = list(of: #"{"i":1,"t":2}"#)
        let read = try Normalised(#"{"aps":{"alert":"x"},"ab":{"c_items":\#(items)}}"#).notification
        #expect(read.warnings.count == 100)
        #expect(read.warnings.contains { $0.code == "braze.wrong-type" && $0.path == "/ab/c_items/0/i" })
    }

    @Test func jsonTextsAreNotFollowedInwards() throws {
        var text = "{}"
        for _ in 0..<8 {
            text = #"{"alert":\#(String(reflecting: text))}"#
        }
        #expect(try Normalised(text).notification.vendor == .unknown)
    }

    /// The payload with a megabyte as its last string; unchanged if it contains no string.
    private static func withMegabyte(_ payload: [UInt8]) throws -> [UInt8] {
        let mark = "a-megabyte-stands-here"
        var tree = try Tree(payload)
        guard tree.replaceLastString(by: mark) else { return payload }
        var bytes = tree.bytes
        bytes.replaceSubrange(try #require(bytes.firstRange(of: Array(mark.utf8))), with: megabyte)
        return bytes
    }

    private static let megabyte = [UInt8](repeating: UInt8(ascii: "x"), count: 1_000_000)

    private func list(of element: String) -> String {
        "[" + Array(repeating: element, count: 10_000).joined(separator: ",") + "]"
    }
}
