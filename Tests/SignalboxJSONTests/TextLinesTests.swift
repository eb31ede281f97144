import SignalboxJSON
import Testing

/// The index agrees with a search from the start of the text, also across its blocks.
@Suite struct TextLinesTests {
    private static let texts = [
        "", "\n", "a", "a\né\n\n𝄞", "\u{FEFF}a\nb", "\u{FEFF}", String(repeating: "é", count: 5_000),
        String(repeating: " ", count: 4_096), String(repeating: " ", count: 4_095) + "\n",
        String(repeating: "a\né\n", count: 3_000),
        "x\n" + String(repeating: "𝄞", count: 4_000) + "\n" + String(repeating: "y", count: 9_000),
    ]

    @Test(arguments: texts) func findsThePositionOfEveryOffset(_ text: String) {
        let bytes = Array(text.utf8)
        let lines = TextLines(bytes)
        // All offsets near the ends and the limits of blocks, and some between them.
        for offset in -2...bytes.count + 2 where offset % 4_096 < 3 || offset % 4_096 > 4_093 || offset % 97 == 0 {
            #expect(lines.position(of: offset) == TextPosition(offset: offset, in: bytes), "\(offset)")
        }
    }

    @Test(arguments: texts) func findsTheLineOfEveryOffset(_ text: String) {
        let bytes = Array(text.utf8)
        let lines = TextLines(bytes)
        let feed = UInt8(ascii: "\n")
        for offset in 0...bytes.count where offset % 4_096 < 3 || offset % 4_096 > 4_093 || offset % 97 == 0 {
            let start = bytes[..<offset].lastIndex(of: feed).map { $0 + 1 } ?? 0
            let end = bytes[offset...].firstIndex(of: feed) ?? bytes.count
            #expect(lines.line(at: offset) == start..<end, "\(offset)")
        }
    }
}
