import SignalboxConfig
import SignalboxJSON
import SignalboxNotification

extension Pattern {
    /// Every word that a comparison can begin with. `exactly` is Ruler's alone.
    package static let comparisons = [
        "exactly", "prefix", "suffix", "equals-ignore-case", "wildcard", "anything-but", "numeric", "cidr", "exists",
    ]
}

/// What stands in the arrays of a pattern.
extension PatternReader {
    enum PatternEntry: Equatable {
        case condition(Pattern.Condition)
        case absence
        /// Noted.
        case mistake

        init(_ condition: Pattern.Condition?) { self = condition.map { .condition($0) } ?? .mistake }
    }

    /// The size of an array's entry, computed before it is read.
    struct EntrySize {
        /// Values in it: one, or as many as an `anything-but` lists.
        private(set) var entries = 1
        /// Bytes of all its texts.
        private(set) var bytes = 0
        private(set) var longestText = 0

        init(of value: JSONValue) {
            if let text = value.utf8 { (bytes, longestText) = (text.count, text.count) }
            var inner: [JSONValue] = []
            for (key, member) in value.members where !key.equals("numeric") { inner.append(member) }
            inner += value.elements
            guard !inner.isEmpty else { return }
            entries = 0
            for value in inner {
                let size = EntrySize(of: value)
                entries += size.entries
                bytes += size.bytes
                longestText = max(longestText, size.longestText)
            }
        }
    }

    mutating func entry(_ value: JSONValue) -> PatternEntry {
        switch value.kind {
        case .string:
            // As Ruler has it, a text that is an address stands for the address in every spelling.
            let block = value.utf8.flatMap { IPAddress(ruler: $0) }.map {
                AddressRange(around: $0, prefixLength: $0.width)
            }
            return PatternEntry(block.map { .address($0) } ?? value.utf8.map { .string(Array($0)) })
        case .integer, .unsigned, .double: return PatternEntry(number(value))
        case .bool: return PatternEntry(value.bool.map { .bool($0) })
        case .null: return .condition(.null)
        case .object: return comparison(value)
        case .array:
            note(value, "an array inside an array has no meaning in a pattern; write its entries side by side")
            return .mistake
        }
    }

    private func number(_ value: JSONValue) -> Pattern.Condition? {
        switch PatternNumber(value) {
        case .double(let number): .number(number)
        case .wide(let number): .wide(number)
        case nil: nil
        }
    }

    /// The only member of an object.
    private mutating func only(_ value: JSONValue, _ words: String) -> (name: String, operand: JSONValue)? {
        var members = value.members.makeIterator()
        guard let (key, operand) = members.next(), members.next() == nil else {
            note(value, words)
            return nil
        }
        return (String(decoding: key, as: UTF8.self), operand)
    }

    private mutating func comparison(_ value: JSONValue) -> PatternEntry {
        let words = "a comparison is an object with one key, such as {\"prefix\": \"spring-\"}"
        guard let (name, operand) = only(value, words) else { return .mistake }
        switch name {
        case "exactly": return PatternEntry(string(operand).map { .string(Array($0.utf8)) })
        case "prefix":
            return PatternEntry(
                affix(operand, name, { .prefix(Array($0.utf8)) }, { .prefixIgnoringCase(CaseVariants($0)) }))
        case "suffix":
            return PatternEntry(
                affix(operand, name, { .suffix(Array($0.utf8)) }, { .suffixIgnoringCase(CaseVariants($0)) }))
        case "equals-ignore-case":
            return PatternEntry(string(operand).map { .equalsIgnoringCase(CaseVariants($0)) })
        case "wildcard": return PatternEntry(wildcard(operand))
        case "anything-but": return PatternEntry(anythingBut(operand))
        case "numeric": return PatternEntry(numeric(operand))
        case "cidr": return PatternEntry(cidr(operand))
        case "exists":
            guard let exists = operand.bool else {
                _ = reader.flag(operand)
                return .mistake
            }
            return exists ? .condition(.exists) : .absence
        default:
            note(
                operand,
                "there is no comparison \"\(name)\"" + ConfigReader.suggestion(for: name, among: Pattern.comparisons))
            return .mistake
        }
    }

    // MARK: Texts

    /// Also the empty text, which Ruler allows nearly everywhere.
    private mutating func string(_ value: JSONValue) -> String? {
        if let text = value.string { return text }
        note(value, "this must be a string")
        return nil
    }

    private mutating func affix(
        _ value: JSONValue, _ name: String, _ exact: (String) -> Pattern.Condition,
        _ ignoringCase: (String) -> Pattern.Condition
    ) -> Pattern.Condition? {
        guard value.isObject else {
            if let text = value.string { return exact(text) }
            note(value, "\"\(name)\" takes a string or {\"equals-ignore-case\": \"…\"}")
            return nil
        }
        let words = "\"\(name)\" takes a string or an object with one key, {\"equals-ignore-case\": \"…\"}"
        guard let (inner, operand) = only(value, words) else { return nil }
        guard inner == "equals-ignore-case" else {
            note(
                operand,
                "\"\(name)\" cannot be of \"\(inner)\""
                    + ConfigReader.suggestion(for: inner, among: ["equals-ignore-case"]))
            return nil
        }
        return string(operand).map(ignoringCase)
    }

    private mutating func wildcard(_ value: JSONValue) -> Pattern.Condition? {
        guard let text = string(value) else { return nil }
        totals.wildcardBytes += text.utf8.count
        guard totals.wildcardBytes <= PatternTotals.mostWildcardBytes else {
            let most = PatternTotals.mostWildcardBytes >> 20
            note(value, "with this, the wildcards of the config have more than \(most) MiB in all; shorten them")
            return nil
        }
        do throws(Wildcard.Mistake) {
            return .wildcard(try Wildcard(text))
        } catch {
            switch error {
            case .consecutive: note(value, "one \"*\" behind another says nothing more; leave one out")
            case .escape:
                note(value, "a backslash stands before \"*\" or another backslash; in JSON it is written twice")
            case .tooLong: note(value, "a wildcard can have at most \(Wildcard.longest) bytes; shorten it")
            case .tooMany: note(value, "a wildcard can have at most \(Wildcard.most) \"*\"")
            }
            return nil
        }
    }

    // MARK: anything-but

    private mutating func anythingBut(_ operand: JSONValue) -> Pattern.Condition? {
        if operand.isObject { return anythingButComparison(operand) }
        let values = list(of: operand)
        let areNumbers = values.allSatisfy { PatternNumber($0) != nil }
        guard !values.isEmpty, areNumbers || values.allSatisfy(\.isString) else {
            note(
                operand,
                "\"anything-but\" takes a string, a number, an array of strings, an array of numbers, or an object such as {\"prefix\": \"test-\"}"
            )
            return nil
        }
        // Here a text that is an address stands for itself alone.
        let unwanted: [Pattern.Condition] = values.compactMap { value in
            areNumbers ? bound(value).map { .number($0) } : value.utf8.map { .string(Array($0)) }
        }
        return .anythingBut(Pattern.Exclusion(unwanted))
    }

    private mutating func anythingButComparison(_ value: JSONValue) -> Pattern.Condition? {
        let known = ["prefix", "suffix", "equals-ignore-case", "wildcard"]
        let words = "\"anything-but\" takes an object with one key, such as {\"prefix\": \"test-\"}"
        guard let (name, operand) = only(value, words) else { return nil }
        guard known.contains(name) else {
            note(
                operand, "\"anything-but\" cannot be of \"\(name)\"" + ConfigReader.suggestion(for: name, among: known))
            return nil
        }
        let values = list(of: operand)
        guard !values.isEmpty, values.allSatisfy(\.isString) else {
            note(operand, "within \"anything-but\", \"\(name)\" takes a string or an array of strings")
            return nil
        }
        guard values.count <= PatternBounds.exclusions else {
            note(operand, "\"\(name)\" within \"anything-but\" takes at most \(PatternBounds.exclusions) texts")
            return nil
        }
        var unwanted: [Pattern.Condition] = []
        for value in values {
            let text = value.string ?? ""
            switch name {
            case "wildcard": wildcard(value).map { unwanted.append($0) }
            case "equals-ignore-case": unwanted.append(.equalsIgnoringCase(CaseVariants(text)))
            case _ where text.isEmpty: note(value, "every text begins and ends with the empty text; name a longer one")
            case "prefix": unwanted.append(.prefix(Array(text.utf8)))
            default: unwanted.append(.suffix(Array(text.utf8)))
            }
        }
        return .anythingBut(Pattern.Exclusion(unwanted))
    }

    private func list(of operand: JSONValue) -> [JSONValue] {
        operand.isArray ? Array(operand.elements) : [operand]
    }

    // MARK: Numbers and addresses

    /// A number that others can be compared with.
    private mutating func bound(_ value: JSONValue) -> Double? {
        switch PatternNumber(value) {
        case .double(let number): return number
        case .wide:
            note(value, "no double holds this number exactly, so nothing can be compared with it; choose one that does")
        case nil: note(value, "this must be a number")
        }
        return nil
    }

    private mutating func numeric(_ value: JSONValue) -> Pattern.Condition? {
        let parts = list(of: value)
        guard value.isArray, parts.count == 2 || parts.count == 4 else {
            note(value, "\"numeric\" takes an array such as [\"=\", 5], [\">\", 0] or [\">\", 0, \"<=\", 10]")
            return nil
        }
        let known = parts.count == 2 ? ["=", "<", "<=", ">", ">="] : [">", ">="]
        guard let low = operation(parts[0], known), let number = bound(parts[1]) else { return nil }
        let key = PatternNumber.key(number)
        if parts.count == 2 {
            switch low {
            case "=": return .number(number)
            case ">": return .range(key + 1...UInt64.max)
            case ">=": return .range(key...UInt64.max)
            case "<": return .range(0...key - 1)
            default: return .range(0...key)
            }
        }
        guard let high = operation(parts[2], ["<", "<="]), let top = bound(parts[3]) else { return nil }
        guard number < top else {
            note(value, "the first number must be smaller than the second; for one number write [\"=\", 5]")
            return nil
        }
        // No number is between two neighbours: an empty range matches none, as two that are the wrong way round.
        let (first, last) = (low == ">" ? key + 1 : key, PatternNumber.key(top) - (high == "<" ? 1 : 0))
        return first <= last ? .range(first...last) : .anythingBut(Pattern.Exclusion([.exists]))
    }

    private mutating func operation(_ value: JSONValue, _ known: [String]) -> String? {
        if let word = value.string, known.contains(word) { return word }
        let words = known.map { "\"\($0)\"" }.joined(separator: ", ")
        note(value, "this must be one of \(words)" + (value.string.map { Self.nearOperation(to: $0, known) } ?? ""))
        return nil
    }

    /// What other languages write.
    private static func nearOperation(to word: String, _ known: [String]) -> String {
        let near = ["==": "=", "=>": ">=", "=<": "<="][word]
        return near.flatMap { known.contains($0) ? "; did you mean \"\($0)\"?" : nil } ?? ""
    }

    private mutating func cidr(_ value: JSONValue) -> Pattern.Condition? {
        guard let text = string(value) else { return nil }
        guard let block = AddressRange(ruler: text) else {
            note(
                value,
                "\"\(text)\" is no address range; write it like 10.0.0.0/8 or fd00::/8, and a single address as a text without \"cidr\""
            )
            return nil
        }
        return .address(block)
    }
}
