import SignalboxNotification

/// What the ``ValueIndex`` of one field is made of: candidates by what they ask for.
struct FieldEntries {
    private(set) var texts: [[UInt8]: [UInt32]] = [:]
    private(set) var prefixes: [[UInt8]: [UInt32]] = [:]
    private(set) var suffixes: [[UInt8]: [UInt32]] = [:]
    private(set) var literals: [[UInt8]: [UInt32]] = [:]
    private(set) var foldedTexts: [[UInt8]: [UInt32]] = [:]
    private(set) var foldedPrefixes: [[UInt8]: [UInt32]] = [:]
    private(set) var foldedSuffixes: [[UInt8]: [UInt32]] = [:]
    /// By the bytes of a double or of 128 bits.
    private(set) var numbers: [[UInt8]: [UInt32]] = [:]
    private(set) var ranges: [IntervalIndex<UInt64>.Interval] = []
    private(set) var four: [IntervalIndex<UInt128>.Interval] = []
    private(set) var six: [IntervalIndex<UInt128>.Interval] = []
    private(set) var yes: [UInt32] = []
    private(set) var no: [UInt32] = []
    private(set) var null: [UInt32] = []
    private(set) var anyText: [UInt32] = []
    private(set) var any: [UInt32] = []
    /// Longest text that a case-insensitive comparison can match, in bytes.
    private(set) var foldedReach = 0

    mutating func add(_ condition: Pattern.Condition, of rule: Int) {
        let found = UInt32(rule) << 1
        let asked = found | 1
        switch condition {
        case .string(let text): texts[text, default: []].append(found)
        case .number(let number):
            numbers[PatternNumber.double(number).withBytes { Array($0) }, default: []].append(found)
        case .wide(let number):
            numbers[PatternNumber.wide(number).withBytes { Array($0) }, default: []].append(found)
        case .bool(let flag): if flag { yes.append(found) } else { no.append(found) }
        case .null: null.append(found)
        case .address(let block):
            let interval = IntervalIndex<UInt128>.Interval(first: block.first.bits, last: block.last, candidate: found)
            if block.first.isIPv6 { six.append(interval) } else { four.append(interval) }
        case .prefix(let text): prefixes[text, default: []].append(found)
        case .suffix(let text): suffixes[text, default: []].append(found)
        case .equalsIgnoringCase(let variants): add(variants, asked, to: \.foldedTexts)
        case .prefixIgnoringCase(let variants): add(variants, asked, to: \.foldedPrefixes)
        case .suffixIgnoringCase(let variants): add(variants, asked, to: \.foldedSuffixes)
        case .wildcard(let wildcard): add(wildcard, found, asked)
        case .range(let keys):
            ranges.append(.init(first: keys.lowerBound, last: keys.upperBound, candidate: found))
        case .anythingBut: any.append(asked)
        case .exists: any.append(found)
        }
    }

    private mutating func add(
        _ variants: CaseVariants, _ asked: UInt32, to list: WritableKeyPath<Self, [[UInt8]: [UInt32]]>
    ) {
        self[keyPath: list][variants.folded, default: []].append(asked)
        foldedReach = max(foldedReach, variants.longest)
    }

    /// Under the longest text that a wildcard asks for.
    private mutating func add(_ wildcard: Wildcard, _ found: UInt32, _ asked: UInt32) {
        let pieces = wildcard.pieces
        guard pieces.count > 1 else { return texts[pieces[0], default: []].append(found) }
        let longest = pieces.indices.reduce(0) { pieces[$1].count > pieces[$0].count ? $1 : $0 }
        if pieces[longest].isEmpty {
            anyText.append(asked)
        } else if longest == 0 {
            prefixes[pieces[longest], default: []].append(asked)
        } else if longest == pieces.count - 1 {
            suffixes[pieces[longest], default: []].append(asked)
        } else {
            literals[pieces[longest], default: []].append(asked)
        }
    }
}
