import SignalboxJSON

/// One line of a text as a terminal shows it, and the columns to mark below it. Reads only the bytes near the place,
/// so a very long line costs as little as a short one.
struct SourceExcerpt {
    /// From 1.
    let line: Int
    /// Without tabs, control characters and characters that change the writing direction.
    let text: String
    /// Columns before the mark.
    let indent: Int
    /// Columns of the mark: at least one.
    let width: Int

    /// Columns of a line that are shown; longer lines are cut around the place.
    static let columns = 100
    /// Columns that are kept before the place when a line is cut.
    private static let before = 40
    /// Spaces that a tab is shown as.
    private static let tab = 4

    /// `place`: in bytes. The part on further lines is not marked. Decodes invalid UTF-8 with replacement characters.
    /// A place beyond the text marks the end of its last line. A byte order mark does not count as a column.
    init(of place: Range<Int>, in lines: TextLines) {
        let text = lines.text
        let start = min(place.lowerBound, text.count)
        line = lines.position(of: start).line
        let whole = lines.line(at: start)
        let isMarked = whole.lowerBound == 0 && text.starts(with: [0xEF, 0xBB, 0xBF])
        let (lineStart, lineEnd) = (isMarked ? min(3, start) : whole.lowerBound, whole.upperBound)
        // A character takes at most 4 bytes; combined ones may cut a line a little earlier.
        let first = Self.boundary(max(lineStart, start - 8 * Self.columns), in: text, before: start)
        let last = min(lineEnd, start + 8 * Self.columns)
        let head = Self.shown(text[first..<start])
        let marked = Self.shown(text[start..<max(start, min(place.upperBound, last))])
        let tail = Self.shown(text[max(start, min(place.upperBound, last))..<last])
        var cut = Self.Cut(head: head, marked: marked, tail: tail)
        cut.fit(isCutBefore: first > lineStart, isCutBehind: last < lineEnd)
        self.text = cut.text
        indent = cut.indent
        width = cut.width
    }

    /// The first byte of a character at or after an offset.
    private static func boundary(_ offset: Int, in text: [UInt8], before end: Int) -> Int {
        text[offset..<end].firstIndex { $0 & 0xC0 != 0x80 } ?? end
    }

    /// The characters as a terminal shows them, without a carriage return.
    private static func shown(_ bytes: ArraySlice<UInt8>) -> [Character] {
        var shown: [Character] = []
        for character in String(decoding: bytes, as: UTF8.self) where character != "\r" {
            if character == "\t" {
                shown += Array(repeating: " ", count: tab)
            } else {
                shown.append(isHarmless(character) ? character : "\u{FFFD}")
            }
        }
        return shown
    }

    /// False for characters that would move the cursor or reorder the line.
    private static func isHarmless(_ character: Character) -> Bool {
        character.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            // Joiners combine emoji; all others are invisible or change the writing direction.
            case .format: scalar.value == 0x200D
            default: true
            }
        }
    }

    /// The three parts of a line, cut so that the marked one is visible.
    private struct Cut {
        /// The characters before the marked ones.
        var head: [Character]
        /// Empty for a mark at the end of a line.
        var marked: [Character]
        /// The rest of the line after the mark.
        var tail: [Character]

        /// The line, with `…` where it was cut.
        var text: String { String(head + marked + tail) }
        /// Columns before the mark, in the text as it was shortened.
        var indent: Int { Self.columns(head) }
        /// At least one column, so that a mark at the end of a line is visible.
        var width: Int { max(1, Self.columns(marked)) }

        /// Keeps the beginning of the marked part visible. `isCutBefore`, `isCutBehind`: whether the line was already
        /// cut when it was read.
        mutating func fit(isCutBefore: Bool, isCutBehind: Bool) {
            var isCutBefore = isCutBefore
            var isCutBehind = isCutBehind
            if indent + Self.columns(marked) + Self.columns(tail) > SourceExcerpt.columns, indent > SourceExcerpt.before
            {
                head = Self.suffix(head, SourceExcerpt.before)
                isCutBefore = true
            }
            let room = SourceExcerpt.columns - indent
            if Self.columns(marked) > room {
                marked = Self.prefix(marked, room)
                tail = []
                isCutBehind = true
            } else if Self.columns(marked) + Self.columns(tail) > room {
                tail = Self.prefix(tail, room - Self.columns(marked))
                isCutBehind = true
            }
            if isCutBefore { head.insert(contentsOf: "… ", at: 0) }
            if isCutBehind { tail += " …" }
        }

        /// The width of a text on the terminal.
        private static func columns(_ text: [Character]) -> Int { text.reduce(0) { $0 + DisplayWidth.columns($1) } }

        /// The longest beginning that fits; a wide character that does not fit whole is left out.
        private static func prefix(_ text: [Character], _ columns: Int) -> [Character] {
            var left = columns
            return Array(
                text.prefix { character in
                    left -= DisplayWidth.columns(character)
                    return left >= 0
                })
        }

        /// The longest end that fits.
        private static func suffix(_ text: [Character], _ columns: Int) -> [Character] {
            prefix(text.reversed(), columns).reversed()
        }
    }
}
