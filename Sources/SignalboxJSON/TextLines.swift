/// A text with an index of its lines: finds many positions in it, and reads only the bytes near each. Making it reads
/// the text once. The index is small for any text: two numbers for each block of it.
package struct TextLines: Sendable {
    /// The indexed text, possibly not UTF-8.
    package let text: [UInt8]

    /// Line feeds and Unicode scalars in the beginning of a text.
    private struct Counts {
        var lines = 0
        var scalars = 0

        /// Bytes that continue a scalar do not count.
        mutating func count(_ byte: UInt8) {
            if byte == TextLines.lineFeed { lines += 1 }
            if byte & 0xC0 != 0x80 { scalars += 1 }
        }
    }

    /// The counts before each block. The last block is shorter than the others, and may be empty.
    private let blocks: [Counts]

    /// Bytes of a block.
    private static let size = 4096
    private static let lineFeed = UInt8(ascii: "\n")
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Reads the whole text.
    package init(_ text: [UInt8]) {
        self.text = text
        var blocks: [Counts] = []
        var counts = Counts()
        text.withUnsafeBufferPointer { bytes in
            for start in stride(from: 0, through: bytes.count, by: Self.size) {
                blocks.append(counts)
                for byte in bytes[start..<min(start + Self.size, bytes.count)] { counts.count(byte) }
            }
        }
        self.blocks = blocks
    }

    /// The position of a byte offset, as ``TextPosition/init(offset:in:)`` finds it. Offsets outside the text count as
    /// its ends.
    package func position(of offset: Int) -> TextPosition {
        let offset = min(max(offset, 0), text.count)
        let start = lineStart(of: offset)
        let (before, here) = (counts(before: start), counts(before: offset))
        let isMarked = start == 0 && text[..<offset].starts(with: Self.byteOrderMark)
        return TextPosition(line: here.lines + 1, column: here.scalars - before.scalars + (isMarked ? 0 : 1))
    }

    /// The line that has an offset within the text or at its end, without its line feed.
    package func line(at offset: Int) -> Range<Int> { lineStart(of: offset)..<lineEnd(of: offset) }

    private func counts(before offset: Int) -> Counts {
        let block = offset / Self.size
        var counts = blocks[block]
        for byte in text[block * Self.size..<offset] { counts.count(byte) }
        return counts
    }

    /// The offset after the last line feed before the given one. Skips blocks without one by their counts.
    private func lineStart(of offset: Int) -> Int {
        let block = offset / Self.size
        if let feed = text[block * Self.size..<offset].lastIndex(of: Self.lineFeed) { return feed + 1 }
        guard let earlier = (0..<block).last(where: { hasLineFeed($0) }),
            let feed = text[bytes(of: earlier)].lastIndex(of: Self.lineFeed)
        else { return 0 }
        return feed + 1
    }

    /// The first line feed at the offset or after it, or the end of the text.
    private func lineEnd(of offset: Int) -> Int {
        let block = offset / Self.size
        if let feed = text[offset..<bytes(of: block).upperBound].firstIndex(of: Self.lineFeed) { return feed }
        guard let later = (block + 1..<blocks.count).first(where: { hasLineFeed($0) }) else { return text.count }
        return text[bytes(of: later)].firstIndex(of: Self.lineFeed) ?? text.count
    }

    /// Whether a block may have a line feed; always true for the last one.
    private func hasLineFeed(_ block: Int) -> Bool {
        block + 1 == blocks.count || blocks[block].lines < blocks[block + 1].lines
    }

    private func bytes(of block: Int) -> Range<Int> { block * Self.size..<min((block + 1) * Self.size, text.count) }
}
