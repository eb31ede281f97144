import SignalboxJSON
import Testing

@testable import SignalboxNotification

@Suite struct CatalogueIndexTests {
    private typealias Entry = CatalogueIndex.Entry

    /// The markers that an index finds for a key, in its order.
    private func markers(of key: String, in index: CatalogueIndex) throws -> [Int] {
        let parser = JSONParser()
        let object = try parser.parse(Array("{\"\(key)\":1}".utf8))
        var found: [Int] = []
        for (key, _) in object.members { index.forEachMarker(of: key) { found.append($0) } }
        return found
    }

    /// Lookups find a key by its length, its first four and its last four bytes, and then compare it.
    @Test func distinguishesKeysOfOneHead() throws {
        let index = CatalogueIndex([
            Entry(key: Array("abcd1efgh".utf8), isPrefix: false, marker: 1),
            Entry(key: Array("abcd2efgh".utf8), isPrefix: false, marker: 2),
        ])
        #expect(try markers(of: "abcd1efgh", in: index) == [1])
        #expect(try markers(of: "abcd2efgh", in: index) == [2])
        #expect(try markers(of: "abcd3efgh", in: index) == [])
    }

    @Test func findsPrefixesBeforeTheWholeKey() throws {
        let index = CatalogueIndex([
            Entry(key: Array("a_b".utf8), isPrefix: false, marker: 3),
            Entry(key: Array("a_b".utf8), isPrefix: true, marker: 2),
            Entry(key: Array("a_".utf8), isPrefix: true, marker: 1),
            Entry(key: [], isPrefix: true, marker: 0),
        ])
        #expect(try markers(of: "a_b", in: index) == [1, 2, 3])
        #expect(try markers(of: "a_bc", in: index) == [1, 2])
        #expect(try markers(of: "a_", in: index) == [1])
        #expect(try markers(of: "a", in: index) == [])
        #expect(try markers(of: "", in: index) == [])
    }

    @Test(arguments: [0, 1, 2, 3, 300]) func findsEveryKeyAndNoOther(_ count: Int) throws {
        let index = CatalogueIndex(
            (0..<count).map { Entry(key: Array("key-\($0)".utf8), isPrefix: false, marker: $0) })
        #expect(index.isEmpty == (count == 0))
        for number in 0..<count { #expect(try markers(of: "key-\(number)", in: index) == [number]) }
        for number in count..<count + 100 { #expect(try markers(of: "key-\(number)", in: index) == []) }
    }
}
