import SignalboxJSON
import SignalboxNotification

extension Pattern.Condition {
    /// `value`: neither object nor array.
    func matches(_ value: JSONValue, _ work: inout MatchWork) -> Bool {
        work.spend(1)
        switch self {
        case .string, .address, .prefix, .suffix, .equalsIgnoringCase, .prefixIgnoringCase, .suffixIgnoringCase,
            .wildcard:
            return value.utf8.map { matches(text: $0, &work) } ?? false
        case .number(let number): return PatternNumber(value) == .double(number)
        case .wide(let number): return PatternNumber(value) == .wide(number)
        case .range(let keys):
            guard case .double(let number) = PatternNumber(value) else { return false }
            return keys.contains(PatternNumber.key(number))
        case .bool(let flag): return value.bool == flag
        case .null: return value.isNull
        case .anythingBut(let unwanted): return !unwanted.contains(value, &work)
        case .exists: return true
        }
    }

    private func matches(text: UnsafeBufferPointer<UInt8>, _ work: inout MatchWork) -> Bool {
        switch self {
        case .string(let wanted):
            work.spend(wanted.count)
            return wanted.withUnsafeBufferPointer { text.equals($0) }
        case .prefix(let wanted):
            guard text.count >= wanted.count else { return false }
            work.spend(wanted.count)
            return wanted.withUnsafeBufferPointer { UnsafeBufferPointer(rebasing: text[..<$0.count]).equals($0) }
        case .suffix(let wanted):
            guard text.count >= wanted.count else { return false }
            work.spend(wanted.count)
            return wanted.withUnsafeBufferPointer {
                UnsafeBufferPointer(rebasing: text[(text.count - $0.count)...]).equals($0)
            }
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

extension Pattern {
    /// The values that an `anything-but` excludes. Texts and numbers are looked up, not scanned.
    struct Exclusion: Sendable, Hashable {
        private var texts: Set<[UInt8]> = []
        private var numbers: Set<Double> = []
        private var others: [Condition] = []
        /// Bytes of the longest text.
        private var longest = 0

        init(_ conditions: [Condition]) {
            for condition in conditions {
                switch condition {
                case .string(let text):
                    texts.insert(text)
                    longest = max(longest, text.count)
                case .number(let number): numbers.insert(number)
                default: others.append(condition)
                }
            }
        }

        /// The excluded text, if it is the only exclusion.
        var onlyText: [UInt8]? { others.isEmpty && numbers.isEmpty && texts.count == 1 ? texts.first : nil }

        func contains(_ value: JSONValue, _ work: inout MatchWork) -> Bool {
            if let text = value.utf8, !texts.isEmpty, text.count <= longest {
                work.spend(text.count)
                if texts.contains(Array(text)) { return true }
            }
            if !numbers.isEmpty, case .double(let number) = PatternNumber(value), numbers.contains(number) {
                return true
            }
            return others.contains { $0.matches(value, &work) }
        }
    }
}
