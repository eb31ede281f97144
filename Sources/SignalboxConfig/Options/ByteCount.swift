/// Reads and writes numbers of bytes with units.
package enum ByteCount {
    /// Reads `512B`, `256KB`, `1MB`, `1GB` (thousands), `64KiB`, `1MiB`, `1GiB` (1024): a whole number and a unit.
    /// Returns nil for anything else. Accepts numbers up to 1,000,000,000, so no unit overflows.
    package static func read(_ text: String) -> Int? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int(digits), count <= 1_000_000_000 else { return nil }
        switch text.dropFirst(digits.count) {
        case "B": return count
        case "KB": return count * 1000
        case "MB": return count * 1_000_000
        case "GB": return count * 1_000_000_000
        case "KiB": return count * 1024
        case "MiB": return count * 1024 * 1024
        case "GiB": return count * 1024 * 1024 * 1024
        default: return nil
        }
    }

    /// The number in the largest unit that keeps it whole, as ``read(_:)`` reads it.
    package static func text(_ count: Int) -> String {
        let units = [
            ("GB", 1_000_000_000), ("GiB", 1 << 30), ("MB", 1_000_000), ("MiB", 1 << 20), ("KB", 1000), ("KiB", 1024),
        ]
        for (name, size) in units where count > 0 && count.isMultiple(of: size) { return "\(count / size)\(name)" }
        return "\(count)B"
    }
}
