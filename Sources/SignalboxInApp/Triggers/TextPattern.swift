/// A regular expression that is searched for, ignoring case, in time linear in the text: its work is at most the
/// pattern's size times the text's length. It knows literals, `.`, classes, groups, `|`, `* + ? {m,n}`, `^ $`, `\b`
/// and the escapes `\d \w \s`. Look-around and back references are rejected, because no linear search exists for
/// them.
package struct TextPattern: Sendable, Hashable {
    /// As registered.
    package let source: String
    private let program: [Instruction]

    /// Compiles. Throws for a pattern that is too long, too large, or has a syntax that it does not know.
    package init(_ source: String) throws(InputFault) {
        try InputFault.check(source, atMost: Bounds.textLength, at: "")
        var parser = PatternParser(source)
        self.source = source
        program = try parser.program()
    }

    /// Its number of instructions.
    var size: Int { program.count }

    /// A step of the compiled program; numbers are positions in it.
    enum Instruction: Sendable, Hashable {
        case scalar(ScalarClass)
        /// Continues at both.
        case split(Int, Int)
        case jump(Int)
        case assert(Assertion)
        case match
    }

    /// Conditions on a position, without a character.
    enum Assertion: Sendable, Hashable { case start, end, boundary, noBoundary }

    /// Characters as ranges of folded Unicode scalars.
    struct ScalarClass: Sendable, Hashable {
        var ranges: [ClosedRange<UInt32>] = []
        var isNegated = false

        /// Whether a folded scalar is in the class.
        func contains(_ scalar: UInt32) -> Bool { ranges.contains { $0.contains(scalar) } != isNegated }

        /// Letters, digits and the underscore of ASCII, and letters of Latin, Greek, Cyrillic and further scripts.
        static let word = ScalarClass(ranges: [0x30...0x39, 0x5f...0x5f, 0x61...0x7a, 0xaa...0x2ff, 0x370...0x1fff])
        static let digit = ScalarClass(ranges: [0x30...0x39])
        static let space = ScalarClass(ranges: [0x09...0x0d, 0x20...0x20, 0xa0...0xa0, 0x2000...0x200a])
        static let notNewline = ScalarClass(ranges: [0x0a...0x0a], isNegated: true)
    }

    /// Whether the pattern occurs anywhere in the text.
    package func isFound(in text: String) -> Bool {
        let scalars = text.unicodeScalars.map(Self.fold)
        var search = Search(program: program, text: scalars)
        return search.run()
    }

    /// Lower case, one scalar for one: the first of a mapping to several.
    static func fold(_ scalar: Unicode.Scalar) -> UInt32 {
        if scalar.isASCII { return (0x41...0x5a).contains(scalar.value) ? scalar.value + 0x20 : scalar.value }
        return scalar.properties.lowercaseMapping.unicodeScalars.first?.value ?? scalar.value
    }

    /// All states at once, as Thompson's construction runs them.
    private struct Search {
        let program: [Instruction]
        let text: [UInt32]
        private var seen: [Int]
        private var states: [Int] = []

        init(program: [Instruction], text: [UInt32]) {
            self.program = program
            self.text = text
            seen = [Int](repeating: -1, count: program.count)
        }

        /// Whether a match begins at any position.
        mutating func run() -> Bool {
            for position in 0...text.count {
                // A match may begin at every position.
                if follow(0, at: position) { return true }
                guard position < text.count else { return false }
                let current = states
                states.removeAll(keepingCapacity: true)
                for state in current {
                    guard case .scalar(let accepted) = program[state], accepted.contains(text[position]) else {
                        continue
                    }
                    if follow(state + 1, at: position + 1) { return true }
                }
            }
            return false
        }

        /// Adds the state and all that it leads to without a character; true at a match.
        private mutating func follow(_ state: Int, at position: Int) -> Bool {
            var pending = [state]
            while let state = pending.popLast() {
                guard seen[state] != position else { continue }
                seen[state] = position
                switch program[state] {
                case .match: return true
                case .jump(let target): pending.append(target)
                case .split(let first, let second): pending += [second, first]
                case .assert(let assertion): if holds(assertion, at: position) { pending.append(state + 1) }
                case .scalar: states.append(state)
                }
            }
            return false
        }

        /// Whether the assertion holds before the scalar at `position`.
        private func holds(_ assertion: Assertion, at position: Int) -> Bool {
            switch assertion {
            case .start: return position == 0
            case .end: return position == text.count
            case .boundary, .noBoundary:
                let before = position > 0 && ScalarClass.word.contains(text[position - 1])
                let after = position < text.count && ScalarClass.word.contains(text[position])
                return (before != after) == (assertion == .boundary)
            }
        }
    }
}
