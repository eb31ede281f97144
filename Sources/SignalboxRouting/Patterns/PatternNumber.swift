import SignalboxJSON

/// A number as patterns compare it: by its value as a double, so that `3`, `3.0` and `3e0` are one.
///
/// EventBridge's documentation limits this to ±5·10⁹ with six decimals; Ruler has taken every double since its issue 179.
/// A whole number of 64 bits that no double holds is compared with nothing but itself (`ComparableNumber.generate`
/// refuses it, and what is left is the comparison of texts).
enum PatternNumber: Equatable {
    case double(Double)
    case wide(Int128)

    /// Nil for what is no number.
    init?(_ value: JSONValue) {
        switch value.kind {
        case .integer, .unsigned:
            let whole = value.integer.map { Int128($0) } ?? value.unsigned.map { Int128($0) } ?? 0
            let double = Double(whole)
            self = whole.magnitude <= 1 << 53 || Int128(exactly: double) == whole ? .double(double) : .wide(whole)
        case .double: self = .double((value.double ?? 0) + 0)
        default: return nil
        }
    }

    /// An integer that orders as doubles do; `-0` must have become `0`.
    static func key(_ number: Double) -> UInt64 {
        let bits = number.bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }
}
