import SignalboxJSON
import Testing

@Suite struct TextPositionTests {
    /// The text has lines of one, one and no character, and one of four bytes.
    @Test(arguments: [
        (-5, 1, 1), (0, 1, 1), (1, 1, 2), (2, 2, 1), (4, 2, 2), (5, 3, 1), (6, 4, 1), (10, 4, 2), (99, 4, 2),
    ])
    func countsLinesAndCharacters(_ offset: Int, _ line: Int, _ column: Int) {
        #expect(TextPosition(offset: offset, in: Array("a\né\n\n𝄞".utf8)) == position(line, column), "\(offset)")
    }

    private let text = Array(
        "{\n  \"a\": {\"b\": [10, {\"c/d\": 2}]},\n  \"é~\": 3, \"a\": {\"e\": 4}, \"k\\u0041\": 5,\n \"\": 6}\n".utf8)

    @Test(arguments: [
        ("", 1, 1), ("/é~0", 3, 9), ("/a/e", 3, 23), ("/a", 3, 17), ("/kA", 3, 38), ("/", 4, 6),
        // Only an earlier namesake has it.
        ("/a/b/1/c~1d", 2, 27), ("/a/b/0", 2, 15),
        // The nearest around what is not there.
        ("/a/zzz", 3, 17), ("/zzz", 1, 1), ("/a/b/7/x", 2, 14), ("/k", 1, 1),
    ])
    func findsTheValueOfAPointer(_ pointer: String, _ line: Int, _ column: Int) {
        #expect(found(pointer, in: text) == position(line, column), "\(pointer)")
    }

    @Test func skipsAByteOrderMarkAndFindsScalars() {
        let marked = Array("\u{FEFF}\n{\"a\": 1}".utf8)
        #expect(found("/a", in: marked)?.line == 2)
        #expect(found("/a", in: marked)?.column == 7)
        #expect(found("", in: Array("  42".utf8)) == position(1, 3))
    }

    @Test func textsThatAreNotJSONHaveNoPositions() {
        #expect(found("nonsense", in: text) == nil)
        #expect(found("/a", in: Array("\"".utf8)) == nil)
    }

    private func found(_ pointer: String, in text: [UInt8]) -> TextPosition? {
        JSONPosition(of: pointer, in: text).map { TextPosition(offset: $0.value.lowerBound, in: text) }
    }

    private func position(_ line: Int, _ column: Int) -> TextPosition {
        TextPosition(
            offset: line - 1 + column - 1,
            in: Array((String(repeating: "\n", count: line - 1) + String(repeating: "x", count: column)).utf8))
    }
}
