import SignalboxConfig
import SignalboxJSON
import SignalboxNotification

extension Pattern {
    /// Every key that a comparison can have. `exactly` is in Ruler only, not in EventBridge.
    package static let comparisons = [
        "exactly", "prefix", "suffix", "equals-ignore-case", "wildcard", "anything-but", "numeric", "cidr", "exists",
    ]
}

/// Reads the entries of a field's array.
extension PatternReader {
    /// The size of an entry, computed before it is read. Recursive, because `anything-but` holds further values.
    /// Operands of `numeric` do not count. Bounds the work: it is compared with ``PatternReader/Bounds`` before
    /// the entry becomes a condition.
    struct EntrySize {
        /// Values in it: one, or as many as an `anything-but` lists.
        private(set) var entries = 1
        /// Bytes of all its strings, and of the longest.
        private(set) var bytes = 0
        private(set) var longestString = 0

        /// Linear in the entry. The parser has limited the nesting.
        init(of value: JSONValue) {
            if let text = value.utf8 { (bytes, longestString) = (text.count, text.count) }
            var inner: [JSONValue] = []
            for (key, member) in value.members where !key.equals("numeric") { inner.append(member) }
            inner += value.elements
            guard !inner.isEmpty else { return }
            entries = 0
            for value in inner {
                let size = EntrySize(of: value)
                entries += size.entries
                bytes += size.bytes
                longestString = max(longestString, size.longestString)
            }
        }
    }

    /// Whether an entry is `{"exists": false}`.
    static func isAbsence(_ entry: JSONValue) -> Bool {
        onlyMember(of: entry).map { $0.name == "exists" && $0.operand.bool == false } ?? false
    }

    /// The only member of an object; nil for any other value.
    static func onlyMember(of value: JSONValue) -> (name: String, operand: JSONValue)? {
        var members = value.members.makeIterator()
        guard let (key, operand) = members.next(), members.next() == nil else { return nil }
        return (String(decoding: key, as: UTF8.self), operand)
    }

    /// The condition of an entry; nil after a mistake, which is recorded. Stops at the first mistake of an entry, so
    /// an entry is reported once.
    mutating func condition(_ entry: JSONValue) -> Pattern.Condition? {
        switch entry.kind {
        case .string:
            // As in Ruler, a string that is an address matches every spelling of the address.
            let address = entry.utf8.flatMap { IPAddress(ruler: $0) }
            return address.map { .address(AddressRange(around: $0, prefixLength: $0.width)) }
                ?? entry.utf8.map { .string(Array($0)) }
        case .integer, .unsigned, .double: return PatternNumber(entry).map { .number($0) }
        case .bool: return entry.bool.map { .bool($0) }
        case .null: return .null
        case .object: return comparison(entry)
        case .array:
            note(entry, "an array inside an array has no meaning in a pattern; write its entries side by side")
            return nil
        }
    }

    /// The only member of an object; records a mistake for any other value. The caller passes a message that shows
    /// the right form.
    private mutating func only(_ value: JSONValue, _ message: String) -> (name: String, operand: JSONValue)? {
        let member = Self.onlyMember(of: value)
        if member == nil { note(value, message) }
        return member
    }

    /// Reads an object such as `{"prefix": "spring-"}`. An object with several keys is a mistake, because a reader
    /// could not tell whether all or one of them must hold.
    private mutating func comparison(_ value: JSONValue) -> Pattern.Condition? {
        let words = "a comparison must be an object with one key, such as {\"prefix\": \"spring-\"}"
        guard let (name, operand) = only(value, words) else { return nil }
        switch name {
        case "exactly": return string(operand).map { .string(Array($0.utf8)) }
        case "prefix":
            return affix(operand, name, { .prefix(Array($0.utf8)) }, { .prefixIgnoringCase(CaseVariants($0)) })
        case "suffix":
            return affix(operand, name, { .suffix(Array($0.utf8)) }, { .suffixIgnoringCase(CaseVariants($0)) })
        case "equals-ignore-case": return string(operand).map { .equalsIgnoringCase(CaseVariants($0)) }
        case "wildcard": return wildcard(operand)
        case "anything-but": return anythingBut(operand)
        case "numeric": return numeric(operand)
        case "cidr": return cidr(operand)
        case "exists":
            // The caller has read `{"exists": false}`, which is not a condition on a value.
            return reader.flag(operand) == true ? .exists : nil
        default:
            note(
                operand,
                "there is no comparison \"\(name)\"" + ConfigReader.suggestion(for: name, among: Pattern.comparisons))
            return nil
        }
    }

    // MARK: Strings

    /// Any string, even an empty one, which Ruler allows nearly everywhere.
    private mutating func string(_ value: JSONValue) -> String? {
        if let text = value.string { return text }
        note(value, "this must be a string")
        return nil
    }

    /// Reads the operand of `prefix` or `suffix`: a string, or an object that ignores case.
    private mutating func affix(
        _ value: JSONValue, _ name: String, _ exact: (String) -> Pattern.Condition,
        _ ignoringCase: (String) -> Pattern.Condition
    ) -> Pattern.Condition? {
        guard value.isObject else {
            if let text = value.string { return exact(text) }
            note(value, "\"\(name)\" accepts a string or {\"equals-ignore-case\": \"…\"}")
            return nil
        }
        let words = "\"\(name)\" accepts a string or an object with one key, {\"equals-ignore-case\": \"…\"}"
        guard let (inner, operand) = only(value, words) else { return nil }
        guard inner == "equals-ignore-case" else {
            note(
                operand,
                "\"\(name)\" cannot contain \"\(inner)\""
                    + ConfigReader.suggestion(for: inner, among: ["equals-ignore-case"]))
            return nil
        }
        return string(operand).map(ignoringCase)
    }

    /// Counts the bytes of all wildcards of the config. Adjacent asterisks, an escape of another character, and
    /// wildcards beyond the bounds are mistakes.
    private mutating func wildcard(_ value: JSONValue) -> Pattern.Condition? {
        guard let text = string(value) else { return nil }
        totals.wildcardBytes += text.utf8.count
        guard totals.wildcardBytes <= Totals.mostWildcardBytes else {
            let most = Totals.mostWildcardBytes >> 20
            note(value, "with this, the wildcards of the config have more than \(most) MiB in all; shorten them")
            return nil
        }
        do throws(Wildcard.Mistake) {
            return .wildcard(try Wildcard(text))
        } catch {
            switch error {
            case .consecutive: note(value, "two adjacent \"*\" have no effect; leave one out")
            case .escape:
                note(value, "a backslash must be followed by \"*\" or another backslash; in JSON it is written twice")
            case .tooLong: note(value, "a wildcard can have at most \(Wildcard.longest) bytes; shorten it")
            case .tooMany: note(value, "a wildcard can have at most \(Wildcard.most) \"*\"")
            }
            return nil
        }
    }

    // MARK: anything-but

    /// Reads the operand of `anything-but`: excluded values, or a comparison. An empty array is a mistake, and so is
    /// an array that mixes strings and numbers.
    private mutating func anythingBut(_ operand: JSONValue) -> Pattern.Condition? {
        if operand.isObject { return anythingButComparison(operand) }
        let values = list(of: operand)
        let areNumbers = values.allSatisfy { PatternNumber($0) != nil }
        guard !values.isEmpty, areNumbers || values.allSatisfy(\.isString) else {
            note(
                operand,
                "\"anything-but\" accepts a string, a number, an array of strings, an array of numbers, or an object such as {\"prefix\": \"test-\"}"
            )
            return nil
        }
        // Here a string that is an address matches only its own spelling.
        let unwanted: [Pattern.Condition] = values.compactMap { value in
            areNumbers ? bound(value).map { .number(.double($0)) } : value.utf8.map { .string(Array($0)) }
        }
        return .anythingBut(Pattern.Exclusion(unwanted))
    }

    /// Reads a comparison within `anything-but`, with one string or several. Negated comparisons on several strings
    /// exclude a value that meets any of them.
    private mutating func anythingButComparison(_ value: JSONValue) -> Pattern.Condition? {
        let known = ["prefix", "suffix", "equals-ignore-case", "wildcard"]
        let words = "\"anything-but\" accepts an object with one key, such as {\"prefix\": \"test-\"}"
        guard let (name, operand) = only(value, words) else { return nil }
        guard known.contains(name) else {
            note(
                operand,
                "\"anything-but\" cannot contain \"\(name)\"" + ConfigReader.suggestion(for: name, among: known))
            return nil
        }
        let values = list(of: operand)
        guard !values.isEmpty, values.allSatisfy(\.isString) else {
            note(operand, "within \"anything-but\", \"\(name)\" accepts a string or an array of strings")
            return nil
        }
        guard values.count <= Bounds.exclusions else {
            note(operand, "\"\(name)\" within \"anything-but\" accepts at most \(Bounds.exclusions) strings")
            return nil
        }
        var unwanted: [Pattern.Condition] = []
        for value in values {
            let text = value.string ?? ""
            switch name {
            case "wildcard": wildcard(value).map { unwanted.append($0) }
            case "equals-ignore-case": unwanted.append(.equalsIgnoringCase(CaseVariants(text)))
            case _ where text.isEmpty:
                note(value, "every string begins and ends with the empty string; name a longer one")
            case "prefix": unwanted.append(.prefix(Array(text.utf8)))
            default: unwanted.append(.suffix(Array(text.utf8)))
            }
        }
        return .anythingBut(Pattern.Exclusion(unwanted))
    }

    /// The elements of an array, or the value itself.
    private func list(of operand: JSONValue) -> [JSONValue] { operand.isArray ? Array(operand.elements) : [operand] }

    // MARK: Numbers and addresses

    /// A number that can be compared with other numbers. Comparisons need a double, because ``PatternNumber`` orders
    /// only doubles.
    private mutating func bound(_ value: JSONValue) -> Double? {
        switch PatternNumber(value) {
        case .double(let number): return number
        case .wide:
            note(value, "this integer is too large to be compared exactly; write one from -2^53 to 2^53")
        case nil: note(value, "this must be a number")
        }
        return nil
    }

    /// Reads one comparison, or a lower and an upper bound. The bounds become a closed range of keys, so exclusive
    /// bounds are the neighbouring keys. Bounds that leave no number are a mistake, unless they are two neighbouring
    /// doubles.
    private mutating func numeric(_ value: JSONValue) -> Pattern.Condition? {
        let parts = list(of: value)
        guard value.isArray, parts.count == 2 || parts.count == 4 else {
            note(value, "\"numeric\" accepts an array such as [\"=\", 5], [\">\", 0] or [\">\", 0, \"<=\", 10]")
            return nil
        }
        let known = parts.count == 2 ? ["=", "<", "<=", ">", ">="] : [">", ">="]
        guard let low = operation(parts[0], known), let number = bound(parts[1]) else { return nil }
        let key = PatternNumber.key(number)
        if parts.count == 2 {
            switch low {
            case "=": return .number(.double(number))
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
        // The range between two neighbouring doubles is empty, and matches no value.
        let (first, last) = (low == ">" ? key + 1 : key, PatternNumber.key(top) - (high == "<" ? 1 : 0))
        return first <= last ? .range(first...last) : .anythingBut(Pattern.Exclusion([.exists]))
    }

    /// The operator of a numeric comparison; nil after a mistake.
    private mutating func operation(_ value: JSONValue, _ known: [String]) -> String? {
        if let word = value.string, known.contains(word) { return word }
        let words = known.map { "\"\($0)\"" }.joined(separator: ", ")
        note(value, "this must be one of \(words)" + (value.string.map { Self.nearOperation(to: $0, known) } ?? ""))
        return nil
    }

    /// The operation that other languages write in this way. A hint for the message, or the empty string.
    private static func nearOperation(to word: String, _ known: [String]) -> String {
        let near = ["==": "=", "=>": ">=", "=<": "<="][word]
        return near.flatMap { known.contains($0) ? "; did you mean \"\($0)\"?" : nil } ?? ""
    }

    /// Reads an address range, as ``AddressRange/init(ruler:)`` does.
    private mutating func cidr(_ value: JSONValue) -> Pattern.Condition? {
        guard let text = string(value) else { return nil }
        guard let block = AddressRange(ruler: text) else {
            note(
                value,
                "\"\(text)\" is not an address range; write it like 10.0.0.0/8 or fd00::/8, and a single address as a string without \"cidr\""
            )
            return nil
        }
        return .address(block)
    }
}
