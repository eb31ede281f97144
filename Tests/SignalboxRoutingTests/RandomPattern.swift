import SignalboxTesting

/// Random patterns and events of one small alphabet, so that they often match.
struct RandomPattern {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func one<Element>(of elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private static let keys = ["a", "b", "c", "a-b", "longerkey1", "longerkey2"]
    private static let texts = [
        "", "x", "X", "xy", "xyz", "yx", "XYZ", "ß", "SS", "ss", "xxyx", "é", "É", "10.0.0.1", "010.0.0.1", "10.0.1.9",
        "::1", "0:0::1", "*", "a*b",
    ]
    private static let numbers = [
        "0", "-0.0", "1", "1.0", "-1", "2.5", "1e3", "5000000001", "9007199254740992", "9007199254740993", "0.0000001",
    ]

    // MARK: Events

    mutating func event() -> String { object(depth: 3, repeating: false) }

    /// As above; some objects have a key twice.
    mutating func eventWithRepeats() -> String { object(depth: 3, repeating: true) }

    private mutating func object(depth: Int, repeating: Bool) -> String {
        var members: [String] = []
        for key in Self.keys where chance(60) {
            members.append("\"\(key)\":\(value(depth: depth, repeating: repeating))")
            if repeating, chance(20) { members.append("\"\(key)\":\(value(depth: depth, repeating: repeating))") }
        }
        members.shuffle(using: &random)
        return "{" + members.joined(separator: ",") + "}"
    }

    private mutating func value(depth: Int, repeating: Bool) -> String {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3 where depth > 0: return object(depth: depth - 1, repeating: repeating)
        case 3..<5 where depth > 0:
            let count = Int.random(in: 0...3, using: &random)
            return "[" + (0..<count).map { _ in value(depth: depth - 1, repeating: repeating) }.joined(separator: ",")
                + "]"
        default: return scalar()
        }
    }

    private mutating func scalar() -> String {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return one(of: ["true", "false", "null"])
        case 1, 2: return one(of: Self.numbers)
        default: return text()
        }
    }

    private mutating func text() -> String { "\"\(one(of: Self.texts))\"" }

    // MARK: Patterns

    mutating func pattern() -> String {
        chance(3) ? "{}" : fields(depth: 2, keys: Self.keys)
    }

    /// A pattern whose `$or` adds conditions at the paths of other fields: a value and fields below it, or further
    /// fields.
    mutating func mixedPattern() -> String {
        let key = one(of: Self.keys)
        let others = Self.keys.filter { $0 != key }
        let (first, second) = (Array(Self.keys[..<3]), Array(Self.keys[3...]))
        let beside = "\"\(key)\":\(chance(50) ? entries() : fields(depth: 1, keys: first))"
        let asksForValue = beside.hasSuffix("]")
        let alternatives = (0...Int.random(in: 1...2, using: &random)).map { _ in
            if chance(30) { return fields(depth: 1, keys: others) }
            let below = "\"\(key)\":\(fields(depth: 1, keys: second))"
            return "{" + (asksForValue || chance(50) ? below : "\"\(key)\":\(entries())") + "}"
        }
        return "{\(beside),\"$or\":[\(alternatives.joined(separator: ","))]}"
    }

    /// An event whose arrays hold values next to objects.
    mutating func mixedEvent() -> String {
        let members = Self.keys.filter { _ in chance(70) }.map { "\"\($0)\":\(mixedValue(depth: 3))" }
        return "{" + members.joined(separator: ",") + "}"
    }

    private mutating func mixedValue(depth: Int) -> String {
        guard depth > 0 else { return scalar() }
        guard chance(60) else { return chance(50) ? scalar() : object(depth: depth - 1, repeating: false) }
        let elements = (0...Int.random(in: 1...3, using: &random)).map { _ in
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return scalar()
            case 1: return object(depth: depth - 1, repeating: false)
            default: return mixedValue(depth: depth - 1)
            }
        }
        return "[" + elements.joined(separator: ",") + "]"
    }

    private mutating func fields(depth: Int, keys: [String]) -> String {
        var keys = keys.shuffled(using: &random)
        var members: [String] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard let key = keys.popLast() else { break }
            members.append("\"\(key)\":\(field(depth: depth))")
        }
        // The alternatives have keys of their own, so that none requires a field twice.
        if chance(20), keys.count >= 2, depth > 0 {
            let own = (0...Int.random(in: 1...2, using: &random)).map { _ in fields(depth: depth - 1, keys: keys) }
            members.append("\"$or\":[" + own.joined(separator: ",") + "]")
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    private mutating func field(depth: Int) -> String {
        depth > 0 && chance(40) ? fields(depth: depth - 1, keys: Self.keys) : entries()
    }

    private mutating func entries() -> String {
        let count = chance(70) ? 1 : Int.random(in: 2...3, using: &random)
        return "[" + (0..<count).map { _ in entry() }.joined(separator: ",") + "]"
    }

    private mutating func entry() -> String {
        switch Int.random(in: 0..<16, using: &random) {
        case 0: return "{\"exists\":true}"
        case 1: return "{\"exists\":false}"
        case 2: return "{\"prefix\":\(text())}"
        case 3: return "{\"suffix\":\(text())}"
        case 4: return "{\"\(one(of: ["prefix", "suffix"]))\":{\"equals-ignore-case\":\(text())}}"
        case 5: return "{\"equals-ignore-case\":\(text())}"
        case 6: return "{\"wildcard\":\(wildcard())}"
        case 7: return "{\"anything-but\":\(unwanted())}"
        case 8, 9: return "{\"numeric\":\(range())}"
        case 10: return "{\"cidr\":\"\(one(of: ["10.0.0.0/24", "10.0.0.0/8", "::/64", "0.0.0.0/0"]))\"}"
        default: return scalar()
        }
    }

    private mutating func wildcard() -> String {
        "\"\(one(of: ["*", "x*", "*x", "*x*", "x*z", "*y*x", "", "x", "\\\\*", "a\\\\*b", "*xy*", "*.0.*", "x*y*"]))\""
    }

    private mutating func unwanted() -> String {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return text()
        case 1: return one(of: ["0", "1", "2.5"])
        case 2: return "[\(text()),\(text())]"
        case 3: return "{\"\(one(of: ["prefix", "suffix"]))\":[\"x\",\"\(one(of: ["y", "xy", "1"]))\"]}"
        case 4: return "{\"equals-ignore-case\":\(text())}"
        default: return "{\"wildcard\":\(wildcard())}"
        }
    }

    private mutating func range() -> String {
        let bounds = ["-1", "0", "1", "2.5", "1000", "5000000001"]
        guard chance(50) else { return "[\"\(one(of: ["=", "<", "<=", ">", ">="]))\",\(one(of: bounds))]" }
        let low = Int.random(in: 0..<5, using: &random)
        let high = Int.random(in: low + 1..<6, using: &random)
        return "[\"\(one(of: [">", ">="]))\",\(bounds[low]),\"\(one(of: ["<", "<="]))\",\(bounds[high])]"
    }
}
