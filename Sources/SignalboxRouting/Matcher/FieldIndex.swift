import SignalboxJSON

/// From a value to the rules that have a condition for it, of one field.
///
/// A candidate is a rule's number, doubled, and one more where the condition itself is still to be asked: what was found
/// here is then no more than part of it.
struct FieldIndex: BitwiseCopyable {
    private let texts: ByteTable?
    private let prefixes: PrefixTree?
    private let suffixes: PrefixTree?
    private let literals: LiteralSearch?
    /// Without regard to case.
    private let foldedTexts: ByteTable?
    private let foldedPrefixes: PrefixTree?
    private let foldedSuffixes: PrefixTree?
    private let numbers: ByteTable?
    private let ranges: IntervalIndex<UInt64>?
    private let four: IntervalIndex<UInt128>?
    private let six: IntervalIndex<UInt128>?
    private let yes: Posting
    private let no: Posting
    private let null: Posting
    private let anyText: Posting
    private let any: Posting
    private let candidates: UnsafeBufferPointer<UInt32>

    init(_ entries: FieldEntries, in arena: Arena) {
        var postings = Postings()
        texts = ByteTable(entries.texts, &postings, in: arena)
        prefixes = PrefixTree(entries.prefixes, &postings, in: arena)
        suffixes = PrefixTree(entries.suffixes, isReversed: true, &postings, in: arena)
        literals = LiteralSearch(entries.literals, &postings, in: arena)
        foldedTexts = ByteTable(entries.foldedTexts, &postings, in: arena)
        foldedPrefixes = PrefixTree(entries.foldedPrefixes, &postings, in: arena)
        foldedSuffixes = PrefixTree(entries.foldedSuffixes, isReversed: true, &postings, in: arena)
        numbers = ByteTable(entries.numbers, &postings, in: arena)
        ranges = IntervalIndex(entries.ranges, in: arena)
        four = IntervalIndex(entries.four, in: arena)
        six = IntervalIndex(entries.six, in: arena)
        yes = postings.add(entries.yes)
        no = postings.add(entries.no)
        null = postings.add(entries.null)
        anyText = postings.add(entries.anyText)
        any = postings.add(entries.any)
        candidates = arena.keep(postings.candidates)
    }

    /// Calls `body` with every candidate for a value that is neither object nor array; perhaps more than once with one.
    @inline(__always)
    func forEachCandidate(of value: JSONValue, _ body: (UInt32) -> Void) {
        if let text = value.utf8 {
            forEachCandidate(of: text, body)
        } else {
            switch value.kind {
            case .bool: each(value.bool == true ? yes : no, body)
            case .null: each(null, body)
            default: forEachCandidate(ofNumber: value, body)
            }
        }
        each(any, body)
    }

    @inline(__always)
    private func each(_ posting: Posting, _ body: (UInt32) -> Void) {
        for place in Int(posting.start)..<Int(posting.start + posting.count) { body(candidates[place]) }
    }

    @inline(__always)
    private func forEachCandidate(of text: UnsafeBufferPointer<UInt8>, _ body: (UInt32) -> Void) {
        if let posting = texts?.posting(of: text) { each(posting, body) }
        prefixes?.forEachPosting(of: text) { each($0, body) }
        suffixes?.forEachPosting(of: text) { each($0, body) }
        literals?.forEachPosting(in: text) { each($0, body) }
        if foldedTexts != nil || foldedPrefixes != nil || foldedSuffixes != nil {
            CaseVariants.withFolded(text) { text in
                if let posting = foldedTexts?.posting(of: text) { each(posting, body) }
                foldedPrefixes?.forEachPosting(of: text) { each($0, body) }
                foldedSuffixes?.forEachPosting(of: text) { each($0, body) }
            }
        }
        if four != nil || six != nil, let address = AddressBlock.address(text) {
            (address.isIPv6 ? six : four)?.forEach(holding: address.bits, body)
        }
        each(anyText, body)
    }

    private func forEachCandidate(ofNumber value: JSONValue, _ body: (UInt32) -> Void) {
        switch PatternNumber(value) {
        case .double(let number):
            let posting = withUnsafeBytes(of: number.bitPattern) { bytes in
                bytes.withMemoryRebound(to: UInt8.self) { numbers?.posting(of: $0) }
            }
            if let posting { each(posting, body) }
            ranges?.forEach(holding: PatternNumber.key(number), body)
        case .wide(let number):
            let posting = withUnsafeBytes(of: number) { bytes in
                bytes.withMemoryRebound(to: UInt8.self) { numbers?.posting(of: $0) }
            }
            if let posting { each(posting, body) }
        case nil: break
        }
    }
}

/// What a ``FieldIndex`` is made of.
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

    mutating func add(_ condition: Pattern.Condition, of rule: Int) {
        let found = UInt32(rule) << 1
        let asked = found | 1
        switch condition {
        case .string(let text): texts[text, default: []].append(found)
        case .number(let number):
            numbers[withUnsafeBytes(of: number.bitPattern) { Array($0) }, default: []].append(found)
        case .wide(let number): numbers[withUnsafeBytes(of: number) { Array($0) }, default: []].append(found)
        case .bool(let flag): if flag { yes.append(found) } else { no.append(found) }
        case .null: null.append(found)
        case .address(let block):
            let interval = IntervalIndex<UInt128>.Interval(first: block.first.bits, last: block.last, candidate: found)
            if block.first.isIPv6 { six.append(interval) } else { four.append(interval) }
        case .prefix(let text): prefixes[text, default: []].append(found)
        case .suffix(let text): suffixes[text, default: []].append(found)
        case .equalsIgnoringCase(let variants): foldedTexts[variants.folded, default: []].append(asked)
        case .prefixIgnoringCase(let variants): foldedPrefixes[variants.folded, default: []].append(asked)
        case .suffixIgnoringCase(let variants): foldedSuffixes[variants.folded, default: []].append(asked)
        case .wildcard(let wildcard): add(wildcard, found, asked)
        case .range(let keys):
            ranges.append(.init(first: keys.lowerBound, last: keys.upperBound, candidate: found))
        case .anythingBut: any.append(asked)
        case .exists: any.append(found)
        }
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
