import SignalboxJSON
import SignalboxNotification

/// Conditions are values without code of their own, so the matcher can sort them into indexes.
extension Pattern {
    /// A requirement on a value: an entry of a field's array. Reference:
    /// docs/decisions/0020-event-patterns-as-ruler-decides-them.md.
    enum Condition: Sendable, Hashable {
        /// Exactly this string, compared by its bytes.
        case string([UInt8])
        /// A number with one of these keys (``PatternNumber/key``): equal to one number, or within a range of doubles.
        case numbers(ClosedRange<UInt128>)
        /// JSON's `true` or `false`, not the strings.
        case bool(Bool)
        case null
        /// A string that is an address of this block.
        case address(AddressRange)
        /// Strings that start, or end, with these bytes.
        case prefix([UInt8])
        case suffix([UInt8])
        /// The same comparisons without regard to case.
        case equalsIgnoringCase(CaseVariants)
        case prefixIgnoringCase(CaseVariants)
        case suffixIgnoringCase(CaseVariants)
        /// A string in which asterisks stand for any text.
        case wildcard(Wildcard)
        /// Any value that is not excluded.
        case anythingBut(Exclusion)
        /// Any value, null included.
        case exists

        /// Equal to one number.
        static func number(_ number: PatternNumber) -> Self { .numbers(number.key...number.key) }

        /// Doubles whose ``PatternNumber/key(_:)`` is in a range.
        static func range(_ keys: ClosedRange<UInt64>) -> Self {
            .numbers(UInt128(keys.lowerBound)...UInt128(keys.upperBound))
        }

        /// `value`: neither an object nor an array. Spends work for the compared bytes. Its result is invalid once
        /// the work exceeds its limit. Comparisons of strings are of bytes: no Unicode normalisation applies.
        func matches(_ value: JSONValue, _ work: inout MatchWork) -> Bool {
            work.spend(1)
            switch self {
            case .numbers(let keys): return PatternNumber(value).map { keys.contains($0.key) } ?? false
            case .bool(let flag): return value.bool == flag
            case .null: return value.isNull
            case .anythingBut(let exclusion): return !exclusion.contains(value, &work)
            case .exists: return true
            default: return value.utf8.map { matches(text: $0, &work) } ?? false
            }
        }

        /// The comparisons of strings. The other cases never match a string. Work is spent before the comparison, in
        /// proportion to the bytes that it may read.
        func matches(text: UnsafeBufferPointer<UInt8>, _ work: inout MatchWork) -> Bool {
            switch self {
            case .string(let wanted): return text.count == wanted.count && text.hasPrefix(wanted, &work)
            case .prefix(let wanted): return text.hasPrefix(wanted, &work)
            case .suffix(let wanted):
                return UnsafeBufferPointer(rebasing: text.suffix(wanted.count)).hasPrefix(wanted, &work)
            case .equalsIgnoringCase(let variants):
                guard text.count <= variants.longest else { return false }
                work.spend(text.count)
                return variants.prefix(of: text) == text.count
            case .prefixIgnoringCase(let variants):
                work.spend(min(text.count, variants.longest))
                return variants.prefix(of: text) != nil
            case .suffixIgnoringCase(let variants):
                work.spend(min(text.count, variants.longest))
                return variants.suffix(of: text) != nil
            case .wildcard(let wildcard): return wildcard.matches(text, &work)
            case .address(let block):
                work.spend(min(text.count, IPAddress.longestRulerText))
                return IPAddress(ruler: text).map { block.contains($0) } ?? false
            default: return false
            }
        }
    }

    /// The values that an `anything-but` excludes. Strings and numbers are looked up, not scanned. A lookup costs the
    /// same however many values the config excludes. A value of another type than all excluded ones is not excluded.
    struct Exclusion: Sendable, Hashable {
        private var strings: Set<[UInt8]> = []
        /// By ``PatternNumber/key``.
        private var numbers: Set<UInt128> = []
        /// Conditions that are evaluated one after the other.
        private var others: [Condition] = []
        /// Bytes of the longest string.
        private var longest = 0

        /// `conditions`: a value that meets one of them is excluded. Ranges of numbers and comparisons of strings are
        /// kept as conditions and evaluated one after the other.
        init(_ conditions: [Condition]) {
            for condition in conditions {
                switch condition {
                case .string(let text):
                    strings.insert(text)
                    longest = max(longest, text.count)
                case .numbers(let keys) where keys.lowerBound == keys.upperBound: numbers.insert(keys.lowerBound)
                default: others.append(condition)
                }
            }
        }

        /// The excluded string, if it is the only exclusion.
        var onlyText: [UInt8]? { others.isEmpty && numbers.isEmpty && strings.count == 1 ? strings.first : nil }

        /// Whether a value is excluded.
        func contains(_ value: JSONValue, _ work: inout MatchWork) -> Bool {
            if let text = value.utf8, !strings.isEmpty, text.count <= longest {
                work.spend(text.count)
                if strings.contains(Array(text)) { return true }
            }
            if !numbers.isEmpty, let number = PatternNumber(value), numbers.contains(number.key) { return true }
            return others.contains { $0.matches(value, &work) }
        }
    }
}

/// Comparisons that count their work.
extension UnsafeBufferPointer<UInt8> {
    /// Whether it starts with these bytes. Spends the length of the prefix, even if the first byte differs.
    func hasPrefix(_ bytes: [UInt8], _ work: inout MatchWork) -> Bool {
        guard count >= bytes.count else { return false }
        work.spend(bytes.count)
        return bytes.withUnsafeBufferPointer { UnsafeBufferPointer(rebasing: self[..<$0.count]).equals($0) }
    }
}
