/// Compiles the source of a ``TextPattern``.
struct PatternParser {
    private typealias Instruction = TextPattern.Instruction
    private typealias ScalarClass = TextPattern.ScalarClass

    private let source: [Unicode.Scalar]
    private var position = 0
    private var depth = 0

    init(_ source: String) { self.source = Array(source.unicodeScalars) }

    mutating func program() throws(InputFault) -> [TextPattern.Instruction] {
        let body = try alternatives()
        guard position == source.count else { throw fault("unexpected )") }
        return try bounded(body + [.match])
    }

    private func fault(_ detail: String) -> InputFault {
        InputFault(.badPattern, "", "\(detail) at character \(position + 1)")
    }

    private func bounded(_ code: [Instruction]) throws(InputFault) -> [Instruction] {
        guard code.count <= Bounds.patternSize else { throw fault("pattern too large") }
        return code
    }

    private var next: Unicode.Scalar? { position < source.count ? source[position] : nil }

    private mutating func accept(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        position += 1
        return true
    }

    private mutating func alternatives() throws(InputFault) -> [Instruction] {
        var code = try sequence()
        while accept("|") {
            let other = try sequence()
            // split to either, jump over the other: targets are relative to the start, see `shifted`.
            code = try bounded(
                [.split(1, code.count + 2)] + shifted(code, by: 1) + [.jump(code.count + 2 + other.count)]
                    + shifted(other, by: code.count + 2))
        }
        return code
    }

    private func shifted(_ code: [Instruction], by offset: Int) -> [Instruction] {
        code.map { instruction in
            switch instruction {
            case .split(let first, let second): .split(first + offset, second + offset)
            case .jump(let target): .jump(target + offset)
            case .scalar, .assert, .match: instruction
            }
        }
    }

    private mutating func sequence() throws(InputFault) -> [Instruction] {
        var code: [Instruction] = []
        while let scalar = next, scalar != "|", scalar != ")" {
            let atom = try atom()
            let repeated = try repetitions(of: atom)
            code = try bounded(code + shifted(repeated, by: code.count))
        }
        return code
    }

    private mutating func atom() throws(InputFault) -> [Instruction] {
        let scalar = source[position]
        position += 1
        switch scalar {
        case "(": return try group()
        case "[": return [.scalar(try set())]
        case ".": return [.scalar(.notNewline)]
        case "^": return [.assert(.start)]
        case "$": return [.assert(.end)]
        case "\\": return [try escape()]
        case "*", "+", "?": throw fault("quantifier without an operand")
        default: return [.scalar(ScalarClass(ranges: [Self.single(scalar)]))]
        }
    }

    private static func single(_ scalar: Unicode.Scalar) -> ClosedRange<UInt32> {
        let value = TextPattern.fold(scalar)
        return value...value
    }

    /// A group, captured or not: a search does not return its parts.
    private mutating func group() throws(InputFault) -> [Instruction] {
        if accept("?") {
            // Every search ignores case.
            if accept("i"), accept(")") { return [] }
            guard accept(":") else { throw fault("look-around, named groups and other flags are not supported") }
        }
        guard depth < 50 else { throw fault("groups nested too deep") }
        depth += 1
        defer { depth -= 1 }
        let code = try alternatives()
        guard accept(")") else { throw fault("missing )") }
        return code
    }

    /// An escape outside of a set: an assertion or a class.
    private mutating func escape() throws(InputFault) -> Instruction {
        guard let scalar = next else { throw fault("incomplete escape") }
        if let assertion: TextPattern.Assertion = scalar == "b" ? .boundary : scalar == "B" ? .noBoundary : nil {
            position += 1
            return .assert(assertion)
        }
        return .scalar(try escapedClass())
    }

    /// A class such as `\d`, or one character.
    private mutating func escapedClass() throws(InputFault) -> ScalarClass {
        if let known = next.flatMap(Self.known) {
            position += 1
            return known
        }
        return ScalarClass(ranges: [Self.single(try escapedScalar())])
    }

    /// The class of `\d \w \s` or of their negations.
    private static func known(_ letter: Unicode.Scalar) -> ScalarClass? {
        func negated(_ set: ScalarClass) -> ScalarClass { ScalarClass(ranges: set.ranges, isNegated: true) }
        return switch letter {
        case "d": .digit
        case "D": negated(.digit)
        case "w": .word
        case "W": negated(.word)
        case "s": .space
        case "S": negated(.space)
        default: nil
        }
    }

    /// A control character, `\xNN`, `\uNNNN`, or any punctuation itself. Letters and digits without a meaning are
    /// rejected, so a later version may give them one.
    private mutating func escapedScalar() throws(InputFault) -> Unicode.Scalar {
        guard let scalar = next else { throw fault("incomplete escape") }
        position += 1
        switch scalar {
        case "t": return "\t"
        case "n": return "\n"
        case "r": return "\r"
        case "x": return try hexadecimal(2)
        case "u": return try hexadecimal(4)
        default:
            guard scalar.isASCII, !scalar.properties.isAlphabetic, !scalar.properties.numericType.isDigit else {
                throw fault("unknown escape or back reference")
            }
            return scalar
        }
    }

    /// A character by its number, of `count` hexadecimal digits.
    private mutating func hexadecimal(_ count: Int) throws(InputFault) -> Unicode.Scalar {
        var value: UInt32 = 0
        for _ in 0..<count {
            guard let digit = next.flatMap({ Character($0).hexDigitValue }), next?.isASCII == true else {
                throw fault("an escape needs \(count) hexadecimal digits")
            }
            position += 1
            value = value * 16 + UInt32(digit)
        }
        guard let scalar = Unicode.Scalar(value) else { throw fault("half of a surrogate pair") }
        return scalar
    }

    /// A set in brackets. A `]` or `-` directly after the opening bracket is an element, and so is a `-` next to a
    /// class.
    private mutating func set() throws(InputFault) -> ScalarClass {
        let isNegated = accept("^")
        var ranges: [ClosedRange<UInt32>] = []
        repeat {
            let first = try element()
            ranges += first.ranges
            guard let low = first.scalar, next == "-", position + 1 < source.count, source[position + 1] != "]" else {
                continue
            }
            position += 1
            let last = try element()
            ranges += last.ranges
            guard let high = last.scalar else {
                ranges.append(Self.single("-"))
                continue
            }
            guard low.value <= high.value else { throw fault("range out of order") }
            ranges += TextPattern.folded(low.value...high.value)
        } while !accept("]")
        return ScalarClass(ranges: ranges, isNegated: isNegated)
    }

    /// An element of a set: a character, or a class.
    private mutating func element() throws(InputFault) -> (scalar: Unicode.Scalar?, ranges: [ClosedRange<UInt32>]) {
        guard let scalar = next else { throw fault("missing ]") }
        position += 1
        guard scalar == "\\" else { return (scalar, [Self.single(scalar)]) }
        if let known = next.flatMap(Self.known) {
            position += 1
            guard !known.isNegated else { throw fault("a negated class inside a set is not supported") }
            return (nil, known.ranges)
        }
        let escaped = try escapedScalar()
        return (escaped, [Self.single(escaped)])
    }

    /// An atom with its quantifiers.
    private mutating func repetitions(of atom: [Instruction]) throws(InputFault) -> [Instruction] {
        var code = atom
        while let bounds = try quantifier() {
            code = try repeated(code, bounds)
            // A search asks only whether there is a match, so a lazy quantifier equals its greedy one.
            _ = accept("?")
            if next == "+" { throw fault("possessive quantifiers are not supported") }
        }
        return code
    }

    /// The least and the greatest number of repetitions, nil for no greatest; nil for no quantifier.
    private mutating func quantifier() throws(InputFault) -> (Int, Int?)? {
        if accept("*") { return (0, nil) }
        if accept("+") { return (1, nil) }
        if accept("?") { return (0, 1) }
        // As in JavaScript, a brace that begins no repetition is a character.
        guard hasRepetition, accept("{") else { return nil }
        let least = try number()
        var most: Int? = least
        if accept(",") { most = next == "}" ? nil : try number() }
        guard accept("}"), most.map({ $0 >= least }) ?? true else { throw fault("bad repetition") }
        return (least, most)
    }

    /// Whether `{n}`, `{n,}` or `{n,m}` follows.
    private var hasRepetition: Bool {
        guard next == "{", let end = source[position...].firstIndex(of: "}") else { return false }
        let numbers = source[(position + 1)..<end].split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        guard let least = numbers.first, !least.isEmpty else { return false }
        return numbers.allSatisfy { $0.allSatisfy { ("0"..."9").contains($0) } }
    }

    /// A decimal number, cut off at ``Bounds/patternSize``.
    private mutating func number() throws(InputFault) -> Int {
        var value: Int?
        while let scalar = next, ("0"..."9").contains(scalar) {
            value = min((value ?? 0) * 10 + Int(scalar.value - 0x30), Bounds.patternSize)
            position += 1
        }
        guard let value else { throw fault("bad repetition") }
        return value
    }

    /// Copies the atom for each repetition. Throws if that exceeds ``Bounds/patternSize``.
    private func repeated(_ atom: [Instruction], _ bounds: (least: Int, most: Int?)) throws(InputFault) -> [Instruction]
    {
        var code: [Instruction] = []
        let copies = max(bounds.least, bounds.most ?? bounds.least)
        guard copies * max(atom.count, 1) <= Bounds.patternSize else { throw fault("pattern too large") }
        for _ in 0..<bounds.least { code += shifted(atom, by: code.count) }
        guard let most = bounds.most else {
            let start = code.count
            code.append(.split(start + 1, start + atom.count + 2))
            code += shifted(atom, by: start + 1)
            return try bounded(code + [.jump(start)])
        }
        for _ in bounds.least..<most {
            let start = code.count
            code.append(.split(start + 1, start + 1 + atom.count))
            code += shifted(atom, by: start + 1)
        }
        return try bounded(code)
    }
}

extension Optional<Unicode.NumericType> {
    fileprivate var isDigit: Bool { self != nil }
}
