import SignalboxJSON

extension Pattern.Condition {
    /// `value`: neither object nor array.
    func matches(_ value: JSONValue) -> Bool {
        switch self {
        case .string, .address, .prefix, .suffix, .equalsIgnoringCase, .prefixIgnoringCase, .suffixIgnoringCase,
            .wildcard:
            return value.utf8.map { matches(text: $0) } ?? false
        case .number(let number): return PatternNumber(value) == .double(number)
        case .wide(let number): return PatternNumber(value) == .wide(number)
        case .range(let keys):
            guard case .double(let number) = PatternNumber(value) else { return false }
            return keys.contains(PatternNumber.key(number))
        case .bool(let flag): return value.bool == flag
        case .null: return value.isNull
        case .anythingBut(let unwanted): return !unwanted.contains { $0.matches(value) }
        case .exists: return true
        }
    }

    private func matches(text: UnsafeBufferPointer<UInt8>) -> Bool {
        switch self {
        case .string(let wanted): return wanted.withUnsafeBufferPointer { text.equals($0) }
        case .prefix(let wanted):
            guard text.count >= wanted.count else { return false }
            return wanted.withUnsafeBufferPointer { UnsafeBufferPointer(rebasing: text[..<$0.count]).equals($0) }
        case .suffix(let wanted):
            guard text.count >= wanted.count else { return false }
            return wanted.withUnsafeBufferPointer {
                UnsafeBufferPointer(rebasing: text[(text.count - $0.count)...]).equals($0)
            }
        case .equalsIgnoringCase(let variants): return variants.prefix(of: text) == text.count
        case .prefixIgnoringCase(let variants): return variants.prefix(of: text) != nil
        case .suffixIgnoringCase(let variants): return variants.suffix(of: text) != nil
        case .wildcard(let wildcard): return wildcard.matches(text)
        case .address(let block): return AddressBlock.address(text).map { block.contains($0) } ?? false
        default: return false
        }
    }
}
