/// A regular expression that is searched for, ignoring case, in time linear in the text: its work is at most the
/// pattern's size times the text's length. It knows literals, `.`, classes, groups, `|`, `* + ? {m,n}`, `^ $`, `\b`
/// and the escapes `\d \w \s`. Look-around and back references are rejected, because no linear search exists for
/// them.
package struct TextPattern: Sendable, Hashable {
    /// As registered.
    package let source: String
    private let steps: [Step]
    /// The sets of the steps that need a character.
    private let classes: [ScalarClass]

    /// Compiles. Throws for a pattern that is too long, too large, or has a syntax that it does not know.
    package init(_ source: String) throws(InputFault) {
        try InputFault.check(source, atMost: Bounds.textLength, at: "")
        var parser = PatternParser(source)
        self.source = source
        var (steps, classes): ([Step], [ScalarClass]) = ([], [])
        for instruction in try parser.program() { steps.append(Step(instruction, &classes)) }
        (self.steps, self.classes) = (steps, classes)
    }

    /// Its number of instructions.
    var size: Int { steps.count }

    /// The greatest cost of a search in a text of 256 characters, in units of about 100 ns: each instruction may visit
    /// each character, at about 5 ns. The longest text, of ``Bounds/textLength`` bytes, costs four times as much.
    var weight: Int { 12 * size }

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

    /// An instruction as the search reads it: a value without references, which costs nothing to copy.
    private struct Step: Sendable, Hashable {
        enum Kind: Sendable, Hashable { case scalar, split, jump, assert, match }

        let kind: Kind
        var assertion = Assertion.start
        /// The target of a jump, or the index of a class.
        var first: Int32 = 0
        var second: Int32 = 0
        /// The ASCII scalars of a class, one bit each.
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        init(_ instruction: Instruction, _ classes: inout [ScalarClass]) {
            switch instruction {
            case .match: kind = .match
            case .jump(let target): (kind, first) = (.jump, Int32(target))
            case .split(let one, let other): (kind, first, second) = (.split, Int32(one), Int32(other))
            case .assert(let assertion): (kind, self.assertion) = (.assert, assertion)
            case .scalar(let accepted):
                (kind, first) = (.scalar, Int32(classes.count))
                for scalar in UInt32(0)..<64 where accepted.contains(scalar) { low |= 1 << UInt64(scalar) }
                for scalar in UInt32(64)..<128 where accepted.contains(scalar) { high |= 1 << UInt64(scalar - 64) }
                classes.append(accepted)
            }
        }

        /// Whether the class has a scalar below 128.
        func hasASCII(_ scalar: UInt32) -> Bool {
            (scalar < 64 ? low >> UInt64(scalar) : high >> UInt64(scalar - 64)) & 1 == 1
        }
    }

    /// Whether the pattern occurs anywhere in the text.
    package func isFound(in text: String) -> Bool {
        let scalars = text.unicodeScalars.map(Self.fold)
        var search = Search(self, text: scalars)
        return search.run()
    }

    /// Lower case, one scalar for one: the first of a mapping to several.
    static func fold(_ scalar: Unicode.Scalar) -> UInt32 {
        if scalar.isASCII { return (0x41...0x5a).contains(scalar.value) ? scalar.value + 0x20 : scalar.value }
        return scalar.properties.lowercaseMapping.unicodeScalars.first?.value ?? scalar.value
    }

    /// The folded scalars of a range, and some scalars that no folded text has.
    static func folded(_ range: ClosedRange<UInt32>) -> [ClosedRange<UInt32>] {
        var ranges = [range]
        let upper = range.clamped(to: 0x41...0x5a)
        if range.overlaps(0x41...0x5a) { ranges.append((upper.lowerBound + 0x20)...(upper.upperBound + 0x20)) }
        guard range.upperBound >= 0x80 else { return ranges }
        for (scalar, folded) in foldedLetters where range.contains(scalar) && !range.contains(folded) {
            ranges.append(folded...folded)
        }
        return ranges
    }

    /// The scalars beyond ASCII that folding changes, with their images: about 1,400. No script above has two cases.
    private static let foldedLetters: [(scalar: UInt32, folded: UInt32)] = (0x80...0x1_efff).compactMap { value in
        guard let scalar = Unicode.Scalar(UInt32(value)), scalar.properties.changesWhenLowercased else { return nil }
        return (scalar.value, fold(scalar))
    }

    /// All states at once, as Thompson's construction runs them.
    private struct Search {
        let program: [Step]
        let classes: [ScalarClass]
        let text: [UInt32]
        /// The last position at which each state was reached.
        private var seen: [Int32]
        private var states: [Int32] = []
        private var pending: [Int32] = []

        init(_ pattern: TextPattern, text: [UInt32]) {
            program = pattern.steps
            classes = pattern.classes
            self.text = text
            seen = [Int32](repeating: -1, count: program.count)
        }

        /// Whether a match begins at any position.
        mutating func run() -> Bool {
            var current: [Int32] = []
            for position in 0...text.count {
                // A match may begin at every position.
                if follow(0, at: position) { return true }
                guard position < text.count else { return false }
                swap(&current, &states)
                states.removeAll(keepingCapacity: true)
                let scalar = text[position]
                for state in current where accepts(scalar, at: program[Int(state)]) {
                    if follow(state + 1, at: position + 1) { return true }
                }
            }
            return false
        }

        /// Whether the class of a step has the scalar.
        private func accepts(_ scalar: UInt32, at step: Step) -> Bool {
            scalar < 128 ? step.hasASCII(scalar) : classes[Int(step.first)].contains(scalar)
        }

        /// Adds the state and all that it leads to without a character; true at a match.
        private mutating func follow(_ state: Int32, at position: Int) -> Bool {
            var next: Int32? = state
            while let state = next ?? pending.popLast() {
                next = nil
                guard seen[Int(state)] != Int32(position) else { continue }
                seen[Int(state)] = Int32(position)
                let step = program[Int(state)]
                switch step.kind {
                case .match: return true
                case .jump: next = step.first
                case .split:
                    pending.append(step.second)
                    next = step.first
                case .assert: if holds(step.assertion, at: position) { next = state + 1 }
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
