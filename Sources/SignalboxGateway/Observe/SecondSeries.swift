/// Counts of the last 15 minutes, one for each second. A value without a lock.
struct SecondSeries: Sendable {
    /// The number of seconds that it keeps.
    static let length = 900

    /// The count of a second is at its number modulo ``length``.
    private var counts = [UInt32](repeating: 0, count: Self.length)
    /// The newest second with a count; nil before the first.
    private var newest: Int64?

    /// Adds to a second, in seconds since 1970. A second older than the series is ignored.
    mutating func add(_ count: Int, at second: Int64) {
        if let newest, second > newest {
            // Seconds without a count in between have old numbers.
            let gap = min(Int64(Self.length), second - newest)
            for old in (second - gap + 1)...second { counts[Self.index(old)] = 0 }
        }
        newest = max(newest ?? second, second)
        guard let newest, second > newest - Int64(Self.length) else { return }
        let index = Self.index(second)
        counts[index] = UInt32(clamping: Int(counts[index]) + count)
    }

    /// The count of a second; 0 for one that it does not have.
    subscript(second: Int64) -> Int {
        guard let newest, second <= newest, second > newest - Int64(Self.length) else { return 0 }
        return Int(counts[Self.index(second)])
    }

    /// The sums of steps of `step` seconds, from `first` on.
    func sums(from first: Int64, steps: Int, of step: Int) -> [Int] {
        (0..<steps).map { number in
            let start = first + Int64(number * step)
            return (start..<(start + Int64(step))).reduce(0) { $0 + self[$1] }
        }
    }

    private static func index(_ second: Int64) -> Int {
        let rest = Int(second % Int64(length))
        return rest < 0 ? rest + length : rest
    }
}
