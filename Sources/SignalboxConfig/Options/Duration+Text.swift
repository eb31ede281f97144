extension Duration {
    /// Reads `250ms`, `15s`, `10m`, `6h`, `7d`: a whole number and a unit; nil for anything else. Accepts numbers up
    /// to 1,000,000,000, so no unit overflows.
    package init?(text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(digits), count <= 1_000_000_000 else { return nil }
        switch text.dropFirst(digits.count) {
        case "ms": self = .milliseconds(count)
        case "s": self = .seconds(count)
        case "m": self = .seconds(count * 60)
        case "h": self = .seconds(count * 3600)
        case "d": self = .seconds(count * 86_400)
        default: return nil
        }
    }

    /// The duration in the largest unit that keeps it whole, as ``init(text:)`` reads it: `10ms`, `90s`, `6h`. Rounded
    /// down to the millisecond.
    package var text: String {
        let milliseconds = milliseconds
        let units: [(name: String, length: Int64)] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)]
        for unit in units where milliseconds != 0 && milliseconds.isMultiple(of: unit.length) {
            return "\(milliseconds / unit.length)\(unit.name)"
        }
        return "\(milliseconds)ms"
    }

    /// Whole milliseconds, rounded down.
    package var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
