import SignalboxNotification

extension TokenMask {
    /// Finds tokens inside texts, including percent-encoded tokens, as in the query of a link. The time is linear in
    /// the text, for any number of tokens.
    struct Search: Sendable {
        /// Up to this many tokens, each is compared; more are found by a hash table.
        private static let mostCompared = 4
        /// The most tokens with the same mark that are searched for. Others with this mark are found as whole texts
        /// only.
        private static let mostAlike = 8

        /// In the order of their lengths, the longest first, so that of tokens with one mark the longest is found.
        private let patterns: [TokenPattern]
        /// The marks of a few tokens; that of the last one fills the rest.
        private let marks: (UInt64, UInt64, UInt64, UInt64)
        /// Positions in ``patterns`` by mark; empty for a few tokens.
        private let byMark: [UInt64: [Int]]
        /// Is set in the marks of a text before they are compared: ``TokenPattern/fold`` if a token ignores case.
        private let fold: UInt64
        /// The length of the shortest token; the largest number without one.
        let shortest: Int
        /// True if every token of at least ``TokenMask/shortestUnique`` bytes is searched for.
        let isComplete: Bool

        /// `tokens`: in any order, with repetitions. Shorter ones than ``TokenMask/shortestUnique`` are left
        /// out: other texts can contain them by chance.
        init(for tokens: [DeviceToken]) {
            var patterns: [TokenPattern] = []
            var shortest = Int.max
            var isComplete = true
            let fold = tokens.contains(where: \.ignoresCase) ? TokenPattern.fold : 0
            for token in tokens where token.text.count >= TokenMask.shortestUnique {
                shortest = min(shortest, token.text.count)
                if let pattern = TokenPattern(token, fold) { patterns.append(pattern) } else { isComplete = false }
            }
            if patterns.count > 1 { patterns.sort { $0.token.count > $1.token.count } }
            var byMark: [UInt64: [Int]] = [:]
            if patterns.count > Self.mostCompared {
                for position in patterns.indices {
                    let alike = byMark[patterns[position].mark] ?? []
                    if alike.contains(where: { patterns[$0].token == patterns[position].token }) { continue }
                    if alike.count < Self.mostAlike {
                        byMark[patterns[position].mark] = alike + [position]
                    } else {
                        isComplete = false
                    }
                }
            }
            self.fold = fold
            marks = Self.marks(of: patterns)
            (self.patterns, self.byMark, self.shortest, self.isComplete) = (patterns, byMark, shortest, isComplete)
        }

        /// The first four marks, the last one repeated; zeros without a token.
        private static func marks(of patterns: [TokenPattern]) -> (UInt64, UInt64, UInt64, UInt64) {
            guard let last = patterns.last?.mark else { return (0, 0, 0, 0) }
            func mark(_ position: Int) -> UInt64 { position < patterns.count ? patterns[position].mark : last }
            return (mark(0), mark(1), mark(2), mark(3))
        }

        /// False only if no token that is searched for is in the text.
        func mayFind(in text: UnsafeBufferPointer<UInt8>) -> Bool {
            forEachMark(of: text) { mark, _ in !hasPattern(mark) }
        }

        /// The text with the names of tokens instead of the tokens; nil without one. A text that takes too long, which
        /// no ordinary one does, is replaced by its own name.
        func replacing(in text: UnsafeBufferPointer<UInt8>, by hash: TokenHash) -> String? {
            var masked: [UInt8] = []
            var copied = 0
            // The last replacement: its begin in the text and in `masked`, and the end of the previous replacement.
            var last = (begin: 0, length: 0, former: 0)
            // Each token is compared once where it is found. Repeated beginnings of tokens take longer.
            var work = 4 * text.count + 4096
            let isRead = !forEachMark(of: text) { mark, position in
                guard position >= copied, hasPattern(mark) else { return true }
                guard let (token, range) = match(mark, at: position, in: text, &work) else { return work > 0 }
                if range.lowerBound >= copied {
                    masked += text[copied..<range.lowerBound]
                    last = (range.lowerBound, masked.count, copied)
                } else if range.lowerBound <= last.begin, range.lowerBound >= last.former {
                    // The last one is a part of this one, and its mark comes first.
                    masked.removeLast(masked.count - last.length + last.begin - range.lowerBound)
                    last = (range.lowerBound, masked.count, last.former)
                } else {
                    return work > 0
                }
                masked += Array(hash.name(of: token).utf8)
                copied = range.upperBound
                return work > 0
            }
            guard isRead else { return hash.name(of: Array(text)) }
            guard copied > 0 else { return nil }
            masked += text[copied...]
            return String(decoding: masked, as: UTF8.self)
        }

        // MARK: Marks

        /// Calls `body` with the eight bytes at every position of the text, until it returns false. Returns whether it
        /// did. Does not call it for a text that is shorter than every token.
        @inline(__always)
        private func forEachMark(
            of text: UnsafeBufferPointer<UInt8>, _ body: (_ mark: UInt64, _ position: Int) -> Bool
        ) -> Bool {
            guard text.count >= shortest, !patterns.isEmpty else { return false }
            let bytes = UnsafeRawBufferPointer(text)
            for position in 0...text.count - TokenPattern.markLength {
                let mark = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) | fold
                if !body(mark, position) { return true }
            }
            return false
        }

        /// True if a token has this mark.
        @inline(__always)
        private func hasPattern(_ mark: UInt64) -> Bool {
            guard byMark.isEmpty else { return byMark.keys.contains(mark) }
            return mark == marks.0 || mark == marks.1 || mark == marks.2 || mark == marks.3
        }

        /// The longest token around a mark, and its range in the text. Takes the compared bytes from `work`.
        private func match(
            _ mark: UInt64, at position: Int, in text: UnsafeBufferPointer<UInt8>, _ work: inout Int
        ) -> (token: [UInt8], range: Range<Int>)? {
            for candidate in byMark.isEmpty ? Array(patterns.indices) : byMark[mark] ?? [] {
                guard patterns[candidate].mark == mark else { continue }
                if let range = patterns[candidate].range(ofMarkAt: position, in: text, &work) {
                    return (patterns[candidate].token, range)
                }
            }
            return nil
        }
    }
}

/// A token, and the bytes of it by which it is found.
private struct TokenPattern {
    /// Bytes of a mark.
    static let markLength = 8
    /// The bits that distinguish capital letters from small ones, in each byte of a mark.
    static let fold: UInt64 = 0x2020_2020_2020_2020

    let token: [UInt8]
    /// Eight bytes in a row that neither URLs nor JSON texts escape: the last ones of the token, which differ most.
    let mark: UInt64
    /// True for a token that is found in any case.
    private let ignoresCase: Bool
    /// The position of the mark in the token.
    private let offset: Int

    /// Nil for a token without eight such bytes. `fold`: is set in the mark.
    init?(_ device: DeviceToken, _ fold: UInt64) {
        let token = device.text
        var position = token.count
        var run = 0
        while position > 0, run < Self.markLength {
            position -= 1
            run = Self.isUnreserved(token[position]) ? run + 1 : 0
        }
        guard run == Self.markLength else { return nil }
        let offset = position
        (self.token, self.offset) = (token, offset)
        ignoresCase = device.ignoresCase
        mark = token.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) } | fold
    }

    /// The token's range in a text that has its mark at a position; nil if the bytes around the mark differ. Takes the
    /// compared bytes from `work`.
    func range(ofMarkAt position: Int, in text: UnsafeBufferPointer<UInt8>, _ work: inout Int) -> Range<Int>? {
        var end = position
        // From the mark itself, whose case was not compared.
        for byte in token[offset...] {
            work -= 1
            guard let next = self.end(of: byte, at: end, in: text) else { return nil }
            end = next
        }
        var start = position
        for byte in token[..<offset].reversed() {
            work -= 1
            guard let previous = self.start(of: byte, before: start, in: text) else { return nil }
            start = previous
        }
        return start..<end
    }

    /// The position after a byte, plain or percent-encoded; nil if the text has another one there.
    private func end(of byte: UInt8, at position: Int, in text: UnsafeBufferPointer<UInt8>) -> Int? {
        guard position < text.count else { return nil }
        return equals(text[position], byte) ? position + 1 : PercentEncoding.end(of: byte, at: position, in: text)
    }

    /// The position of a byte that ends before a position.
    private func start(of byte: UInt8, before position: Int, in text: UnsafeBufferPointer<UInt8>) -> Int? {
        guard position > 0 else { return nil }
        return equals(text[position - 1], byte)
            ? position - 1 : PercentEncoding.start(of: byte, before: position, in: text)
    }

    /// True for the byte of the token, and for the same letter of the other case if case is ignored.
    private func equals(_ given: UInt8, _ byte: UInt8) -> Bool {
        given == byte || ignoresCase && given | 0x20 == byte | 0x20 && given.isLetterOrDigit && byte.isLetterOrDigit
    }

    /// Characters that a URL never has to encode (RFC 3986, 2.3).
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "~")
    }
}

/// Percent-encoded bytes (RFC 3986, 2.1). A link inside a link is encoded again: its colon is `%253A`.
enum PercentEncoding {
    /// How often a byte can be encoded. Bounds the time at each position.
    private static let mostTimes = 4
    private static let sign = UInt8(ascii: "%")

    /// The position after the encoded byte that begins at a position; nil if none or another one does.
    static func end(of byte: UInt8, at position: Int, in text: UnsafeBufferPointer<UInt8>) -> Int? {
        guard text[position] == sign else { return nil }
        var digits = position + 1
        for _ in 0..<mostTimes where digits + 1 < text.count {
            if isEncoded(byte, text[digits], text[digits + 1]) { return digits + 2 }
            guard isEncoded(sign, text[digits], text[digits + 1]) else { return nil }
            digits += 2
        }
        return nil
    }

    /// The position of the encoded byte that ends before a position; nil if none or another one does.
    static func start(of byte: UInt8, before position: Int, in text: UnsafeBufferPointer<UInt8>) -> Int? {
        guard position > 2, isEncoded(byte, text[position - 2], text[position - 1]) else { return nil }
        var start = position - 3
        for _ in 0..<mostTimes {
            if text[start] == sign { return start }
            guard start > 1, isEncoded(sign, text[start - 1], text[start]) else { return nil }
            start -= 2
        }
        return nil
    }

    /// True if the two digits are those of a byte.
    private static func isEncoded(_ byte: UInt8, _ high: UInt8, _ low: UInt8) -> Bool {
        digit(high) == byte >> 4 && digit(low) == byte & 15
    }

    /// The value of a hexadecimal digit; nil for any other character.
    private static func digit(_ character: UInt8) -> UInt8? {
        guard character.isHexDigit else { return nil }
        let isDecimal = character <= UInt8(ascii: "9")
        return isDecimal ? character - UInt8(ascii: "0") : (character | 0x20) - UInt8(ascii: "a") + 10
    }
}
