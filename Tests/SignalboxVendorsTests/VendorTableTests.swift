import Foundation
import SignalboxNotification
import Testing

@Suite struct VendorTableTests {
    /// `swift run signalbox vendors --markdown`, between the two comments.
    @Test func theTableInTheDocumentationIsTheRegistrys() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/vendors.md"), encoding: .utf8)
        let start = try #require(page.range(of: "<!-- vendors: begin -->\n"))
        let end = try #require(page.range(of: "\n<!-- vendors: end -->"))
        #expect(page[start.upperBound..<end.lowerBound] == VendorTable.markdown)
    }
}
