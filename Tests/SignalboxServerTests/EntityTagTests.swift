import Testing

@testable import SignalboxServer

@Suite struct EntityTagTests {
    private let tag = EntityTag(of: [1, 2, 3])

    @Test func dependsOnTheBody() {
        #expect(tag.text == EntityTag(of: [1, 2, 3]).text)
        #expect(tag.text != EntityTag(of: [1, 2]).text)
        #expect(tag.text.wholeMatch(of: /"[0-9a-f]{32}"/) != nil)
    }

    @Test func findsEverySpelling() {
        for field in [
            tag.text, "W/\(tag.text)", " \(tag.text)\t", "\"x\", \(tag.text)", "\"x\",W/\(tag.text) , \"y\"", "*",
            " * ",
        ] {
            #expect(tag.isListed(in: field, acceptsWeak: true), "\(field)")
            #expect(tag.isListed(in: field, acceptsWeak: false) == !field.contains("W/"), "\(field)")
        }
    }

    @Test func findsNoOtherTag() {
        for field in [
            "", "\"x\"", String(tag.text.dropFirst().dropLast()), "w/\(tag.text)", "\"*\"", "\(tag.text)x", ",",
        ] {
            #expect(!tag.isListed(in: field, acceptsWeak: true), "\(field)")
        }
        #expect(!tag.isListed(in: nil, acceptsWeak: true))
    }
}
