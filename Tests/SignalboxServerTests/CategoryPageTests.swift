import SignalboxNotification
import Testing

@testable import SignalboxServer

@Suite struct CategoryPageTests {
    private static func record(_ identifier: String, bytes: Int = 2) -> CategoryRecord {
        CategoryRecord(identifier: identifier, definition: [UInt8](repeating: 0x20, count: bytes))
    }

    /// Follows the cursors like a client; queries the store like the API.
    private static func pages(
        statics: [CategoryRecord], dynamic: [CategoryRecord], limit: Int, bytes: Int = 1_000_000
    ) throws -> [[String]] {
        var pages: [[String]] = []
        var former: String?
        repeat {
            let behind = dynamic.sorted { $0.identifier.utf8.lexicographicallyPrecedes($1.identifier.utf8) }
                .filter { record in
                    former.map { $0.utf8.lexicographicallyPrecedes(record.identifier.utf8) } ?? true
                }
            let page = CategoryPage(
                statics: statics, dynamic: Array(behind.prefix(limit + 1)), after: former, limit: limit, bytes: bytes)
            pages.append(page.records.map(\.identifier))
            former = try page.next.map { try #require(PageCursor.position(of: $0, in: CategoriesAPI.list)) }
        } while former != nil && pages.count < 100
        return pages
    }

    @Test func pagesHoldEveryCategoryOnce() throws {
        let dynamic = ["b", "d", "f", "\u{e4} &+%", "z/\u{1F600}"].map { Self.record($0) }
        let statics = ["a", "d", "g"].map { Self.record($0) }
        let all = ["a", "b", "d", "f", "g", "z/\u{1F600}", "\u{e4} &+%"]
        for limit in 1...8 {
            let pages = try Self.pages(statics: statics, dynamic: dynamic, limit: limit)
            #expect(pages.flatMap { $0 } == all, "\(limit)")
            #expect(pages.allSatisfy { $0.count <= limit })
            #expect(pages.count == (all.count + limit - 1) / limit)
        }
    }

    @Test func aDeclaredCategoryTakesPrecedence() {
        let page = CategoryPage(
            statics: [Self.record("a", bytes: 1)], dynamic: [Self.record("a", bytes: 3)], after: nil, limit: 5,
            bytes: 100)
        #expect(page.records.map(\.definition.count) == [1])
        #expect(page.next == nil)
    }

    @Test func categoriesAreToldApartByTheirBytes() throws {
        let pages = try Self.pages(statics: [Self.record("\u{e9}")], dynamic: [Self.record("e\u{301}")], limit: 5)
        #expect(pages.flatMap { $0 }.map(\.utf8.count) == [3, 2])
    }

    @Test func aPageEndsBeforeItIsTooLarge() throws {
        let dynamic = (0..<5).map { Self.record("\($0)", bytes: 40) }
        let pages = try Self.pages(statics: [], dynamic: dynamic, limit: 10, bytes: 100)
        #expect(pages == [["0", "1"], ["2", "3"], ["4"]])
        #expect(try Self.pages(statics: [], dynamic: dynamic, limit: 10, bytes: 1).count == 5)
    }

    @Test(arguments: ["", "%", "a b", "_-8"])
    func refusesWhatIsNotACursor(_ cursor: String) {
        #expect(PageCursor.position(of: cursor, in: CategoriesAPI.list) == nil)
    }

    @Test func aPositionMayBeginWithACombiningMark() {
        let cursor = PageCursor.text("\u{301}x", in: CategoriesAPI.list)
        #expect(PageCursor.position(of: cursor, in: CategoriesAPI.list) == "\u{301}x")
    }

    @Test func aCursorOfAnotherListIsRefused() {
        let lists: [StaticString] = ["c", "m", "w", "d", "e", "a", "f", "u"]
        for list in lists {
            let cursor = PageCursor.text("17", in: list)
            for other in lists {
                let isSame = "\(list)" == "\(other)"
                #expect(PageCursor.position(of: cursor, in: other) == (isSame ? "17" : nil))
            }
        }
    }
}
