/// A text with `*` for any number of bytes, none included. `\*` and `\\` stand for the characters themselves.
struct Wildcard: Sendable, Hashable {
    /// Why a text is none (Ruler's `WildcardParser`).
    enum Mistake: Error { case consecutive, escape, tooMany, tooLong }

    /// The most asterisks, and the most bytes of the text.
    static let (most, longest) = (32, 8_192)

    /// What stands between the asterisks: the first begins the text, the last ends it. One when there is no asterisk.
    let pieces: [[UInt8]]
    /// For each piece between two asterisks where to go on after a byte that does not fit (Knuth, Morris and Pratt), so
    /// that the search takes no longer than the text is.
    private let resumes: [[UInt16]]

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
        resumes = pieces.map { Self.resumes(of: $0) }
    }

    func matches(_ text: UnsafeBufferPointer<UInt8>, _ work: inout MatchWork) -> Bool {
        guard pieces.count > 1, let first = pieces.first, let last = pieces.last else {
            work.spend(pieces[0].count)
            return text.count == pieces[0].count && text.starts(with: pieces[0])
        }
        work.spend(first.count + last.count)
        guard text.count >= first.count + last.count, text.starts(with: first),
            UnsafeBufferPointer(rebasing: text[(text.count - last.count)...]).starts(with: last)
        else { return false }
        var cursor = first.count
        let end = text.count - last.count
        for number in pieces.indices.dropFirst().dropLast() {
            guard !work.isExceeded,
                let found = Self.end(of: pieces[number], resumes[number], in: text, from: cursor, to: end)
            else {
                work.spend(end - cursor)
                return false
            }
            work.spend(found - cursor)
            cursor = found
        }
        return true
    }

    /// Where the first occurrence ends.
    private static func end(
        of piece: [UInt8], _ resumes: [UInt16], in text: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int
    ) -> Int? {
        var fitting = 0
        for position in start..<end {
            while fitting > 0, piece[fitting] != text[position] { fitting = Int(resumes[fitting - 1]) }
            if piece[fitting] == text[position] { fitting += 1 }
            if fitting == piece.count { return position + 1 }
        }
        return nil
    }

    private static func resumes(of piece: [UInt8]) -> [UInt16] {
        var resumes = [UInt16](repeating: 0, count: piece.count)
        var fitting = 0
        for position in piece.indices.dropFirst() {
            while fitting > 0, piece[fitting] != piece[position] { fitting = Int(resumes[fitting - 1]) }
            if piece[fitting] == piece[position] { fitting += 1 }
            resumes[position] = UInt16(fitting)
        }
        return resumes
    }
}
