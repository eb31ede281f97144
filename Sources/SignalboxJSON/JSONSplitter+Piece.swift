extension JSONSplitter {
    /// A text of the input, or bytes that should be one. Pieces are in the order of the input and do not overlap.
    package struct Piece: Sendable {
        /// Position in the bytes that ``takeAll()`` returns.
        package let range: Range<Int>
        /// Line of its first byte, from 1.
        package let line: Int
        /// Position of its first byte in the input, from 0.
        package let offset: Int
        /// Why the piece is not a whole text; the bytes up to the next piece belong to it, too.
        package let fault: Fault?
        /// True for a line that was taken whole, unread, because no text can continue after it. It may hold several
        /// texts: when it does not parse, cut it again with `takesLines: false`.
        package let isLine: Bool
    }

    /// Faults that the cutting finds; the parser finds the others.
    package enum Fault: Sendable {
        /// The text or the array is not closed.
        case truncated
        /// It is longer than the limit; the piece holds its first bytes.
        case tooLong
    }
}
