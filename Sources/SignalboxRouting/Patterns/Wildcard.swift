/// A string with `*` for any number of bytes, including none. `\*` and `\\` stand for the characters themselves.
struct Wildcard: Sendable, Hashable {
    /// Why a string is not a wildcard (Ruler's `WildcardParser`).
    enum Mistake: Error { case consecutive, escape, tooMany, tooLong }

    /// The most asterisks, and the most bytes of the string.
    static let (most, longest) = (32, 8_192)

    /// The strings between the asterisks: a text starts with the first and ends with the last. A single part if there
    /// is no asterisk.
    let pieces: [[UInt8]]
    /// For each piece, the failure function of Knuth, Morris and Pratt.
    private let failures: [[UInt16]]

    /// `text`: as the pattern has it, with its escapes. The text is UTF-8, so an asterisk never splits a character of
    /// the pattern. Throws the first mistake. A backslash must precede an asterisk or a backslash.
    init(_ text: String) throws(Mistake) {
        guard text.utf8.count <= Self.longest else { throw .tooLong }
        var pieces: [[UInt8]] = [[]]
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "*") {
                guard rest.first != UInt8(ascii: "*") else { throw .consecutive }
                guard pieces.count <= Self.most else { throw .tooMany }
                pieces.append([])
            } else if byte == UInt8(ascii: "\\") {
                guard let next = rest.popFirst(), next == UInt8(ascii: "*") || next == byte else { throw .escape }
                pieces[pieces.count - 1].append(next)
            } else {
                pieces[pieces.count - 1].append(byte)
            }
        }
        self.pieces = pieces
        failures = pieces.map { piece in
            var failures = [UInt16](repeating: 0, count: piece.count)
            var matched = 0
            for position in piece.indices.dropFirst() {
                Self.advance(&matched, over: piece[position], in: piece, failures)
                failures[position] = UInt16(matched)
            }
            return failures
        }
    }

    /// Takes time linear in the text: the pieces between the first and the last are searched for one after the other.
    /// Every piece takes its earliest occurrence, which leaves the most text for the pieces after it. Spends the
    /// bytes that it compares; the result is invalid once the work exceeds its limit.
    func matches(_ text: UnsafeBufferPointer<UInt8>, _ work: inout MatchWork) -> Bool {
        let (first, last) = (pieces[0], pieces[pieces.count - 1])
        guard pieces.count > 1 else { return text.count == first.count && text.hasPrefix(first, &work) }
        let end = text.count - last.count
        var start = first.count
        guard start <= end, text.hasPrefix(first, &work),
            UnsafeBufferPointer(rebasing: text[end...]).hasPrefix(last, &work)
        else { return false }
        for number in 1..<pieces.count - 1 {
            let found =
                work.isExceeded ? nil : Self.end(of: pieces[number], failures[number], in: text, from: start, to: end)
            work.spend((found ?? end) - start)
            guard let found else { return false }
            start = found
        }
        return true
    }

    /// The end of the first occurrence of a piece.
    private static func end(
        of piece: [UInt8], _ failures: [UInt16], in text: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int
    ) -> Int? {
        var matched = 0
        for position in start..<end {
            advance(&matched, over: text[position], in: piece, failures)
            if matched == piece.count { return position + 1 }
        }
        return nil
    }

    /// `matched`: how many bytes of the piece the text up to here ends with; fewer than all.
    @inline(__always)
    private static func advance(_ matched: inout Int, over byte: UInt8, in piece: [UInt8], _ failures: [UInt16]) {
        while matched > 0, piece[matched] != byte { matched = Int(failures[matched - 1]) }
        if piece[matched] == byte { matched += 1 }
    }
}
