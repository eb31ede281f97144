import SignalboxJSON

/// A number as patterns compare it: by its value as a double, so that `3`, `3.0` and `3e0` are equal.
///
/// The documentation of EventBridge limits numbers to ±5·10⁹ with six decimals; Ruler has accepted every double
/// since its issue 179. An integer of 64 bits that no double holds equals only itself: `ComparableNumber.generate`
/// rejects it, and Ruler then compares strings.
enum PatternNumber: Equatable {
    /// A value that a double holds exactly, with `-0` as `0`.
    case double(Double)
    /// An integer of 64 bits that no double holds.
    case wide(Int128)

    /// Nil for a value that is not a number. Integers up to 2^53 are always doubles. `-0.0` becomes `0`.
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

    /// Equal for equal numbers. Keys of doubles are those of ``key(_:)``; those of other integers lie above them. A
    /// stable key lets hash tables and interval trees compare numbers. Bit 127 marks integers that no double holds,
    /// so the two ranges never meet.
    var key: UInt128 {
        switch self {
        case .double(let number): UInt128(Self.key(number))
        case .wide(let number): UInt128(truncatingIfNeeded: number) | 1 << 127
        }
    }

    /// Keys have the order of the numbers. `number`: `-0` must have become `0`. Follows the total order of IEEE 754
    /// for all but `-0` and NaN; JSON has no NaN.
    static func key(_ number: Double) -> UInt64 {
        let bits = number.bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }
}
