extension TextPattern {
    /// A set of folded Unicode scalars. A test takes time logarithmic in the number of ranges.
    struct ScalarClass: Sendable, Hashable {
        /// Sorted, and apart from each other.
        let ranges: [ClosedRange<UInt32>]
        let isNegated: Bool
        /// The ranges may overlap.
        init(ranges: [ClosedRange<UInt32>], isNegated: Bool = false) {
            var united: [ClosedRange<UInt32>] = []
            for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
                if let last = united.last, range.lowerBound <= last.upperBound + 1 {
                    united[united.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
                } else {
                    united.append(range)
                }
            }
            (self.ranges, self.isNegated) = (united, isNegated)
        }

        /// Whether a folded scalar is in the class.
        func contains(_ scalar: UInt32) -> Bool {
            var (low, high) = (0, ranges.count)
            while low < high {
                let middle = (low + high) / 2
                if ranges[middle].upperBound < scalar { low = middle + 1 } else { high = middle }
            }
            return (low < ranges.count && ranges[low].contains(scalar)) != isNegated
        }

        /// Letters, digits and the underscore of ASCII, and letters of Latin, Greek, Cyrillic and further scripts.
        static let word = ScalarClass(ranges: [0x30...0x39, 0x5f...0x5f, 0x61...0x7a, 0xaa...0x2ff, 0x370...0x1fff])
        static let digit = ScalarClass(ranges: [0x30...0x39])
        static let space = ScalarClass(ranges: [0x09...0x0d, 0x20...0x20, 0xa0...0xa0, 0x2000...0x200a])
        static let notNewline = ScalarClass(ranges: [0x0a...0x0a], isNegated: true)
    }
}
