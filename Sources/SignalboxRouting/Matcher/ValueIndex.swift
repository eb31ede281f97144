import SignalboxJSON

/// From values to the rules that have a condition for them, of all fields.
///
/// A candidate is a rule's number, doubled, and one more where the condition itself is still to be asked: what was found
/// here is then no more than part of it.
struct ValueIndex: BitwiseCopyable {
    /// Where to look for the values of one field: in as many places as its conditions have kinds.
    struct Probes: BitwiseCopyable {
        var first: Int32 = 0
        var count: Int32 = 0
    }

    private struct Probe: BitwiseCopyable {
        let kind: Kind
        /// The place among the structures of this kind.
        let number: Int32
    }

    private enum Kind: UInt8, BitwiseCopyable {
        case text, affix, literal, foldedText, foldedAffix, anyText, four, six, number, range, yes, no, null, any
    }

    private let probes: UnsafeBufferPointer<Probe>
    private let tables: UnsafeBufferPointer<ByteTable>
    private let trees: UnsafeBufferPointer<PrefixTree>
    private let searches: UnsafeBufferPointer<LiteralSearch>
    private let ranges: UnsafeBufferPointer<IntervalIndex<UInt64>>
    private let blocks: UnsafeBufferPointer<IntervalIndex<UInt128>>
    private let postings: UnsafeBufferPointer<Posting>
    private let candidates: UnsafeBufferPointer<UInt32>

    /// Calls `body` with every candidate for a value that is neither object nor array; perhaps more than once with one.
    @inline(__always)
    func forEachCandidate(of value: JSONValue, _ own: Probes, _ body: (UInt32) -> Void) {
        let text = value.utf8
        for place in Int(own.first)..<Int(own.first + own.count) {
            let probe = probes[place]
            let number = Int(probe.number)
            if probe.kind == .any {
                each(postings[number], body)
            } else if let text {
                look(for: text, probe.kind, number, body)
            } else {
                look(for: value, probe.kind, number, body)
            }
        }
    }

    @inline(__always)
    private func each(_ posting: Posting, _ body: (UInt32) -> Void) {
        for place in Int(posting.start)..<Int(posting.start + posting.count) { body(candidates[place]) }
    }

    @inline(__always)
    private func look(for text: UnsafeBufferPointer<UInt8>, _ kind: Kind, _ number: Int, _ body: (UInt32) -> Void) {
        switch kind {
        case .text: each(tables[number].posting(of: text), body)
        case .affix: trees[number].forEachPosting(of: text) { each($0, body) }
        case .literal: searches[number].forEachPosting(in: text) { each($0, body) }
        case .foldedText:
            // What is ASCII need not be folded for a table that does not look at the bit of case.
            if CaseVariants.isASCII(text) {
                each(tables[number].posting(of: text), body)
            } else {
                CaseVariants.withFolded(text) { each(tables[number].posting(of: $0), body) }
            }
        case .foldedAffix:
            CaseVariants.withFolded(text) { text in trees[number].forEachPosting(of: text) { each($0, body) } }
        case .anyText: each(postings[number], body)
        case .four, .six:
            guard let address = AddressBlock.address(text), address.isIPv6 == (kind == .six) else { return }
            blocks[number].forEach(holding: address.bits, body)
        default: return
        }
    }

    private func look(for value: JSONValue, _ kind: Kind, _ number: Int, _ body: (UInt32) -> Void) {
        switch kind {
        case .yes: if value.bool == true { each(postings[number], body) }
        case .no: if value.bool == false { each(postings[number], body) }
        case .null: if value.isNull { each(postings[number], body) }
        case .range:
            guard case .double(let double) = PatternNumber(value) else { return }
            ranges[number].forEach(holding: PatternNumber.key(double), body)
        case .number:
            guard let wanted = PatternNumber(value) else { return }
            wanted.withBytes { each(tables[number].posting(of: $0), body) }
        default: return
        }
    }
}

extension ValueIndex {
    /// The index of some fields while it is made.
    struct Draft {
        private var probes: [Probe] = []
        private var tables: [ByteTable] = []
        private var trees: [PrefixTree] = []
        private var searches: [LiteralSearch] = []
        private var ranges: [IntervalIndex<UInt64>] = []
        private var blocks: [IntervalIndex<UInt128>] = []
        private var lists: [Posting] = []
        private var postings = Postings()

        /// Adds a field.
        mutating func add(_ entries: FieldEntries, in arena: Arena) -> Probes {
            let first = probes.count
            add(ByteTable(entries.texts, &postings, in: arena), .text, to: \.tables)
            add(PrefixTree(entries.prefixes, &postings, in: arena), .affix, to: \.trees)
            add(PrefixTree(entries.suffixes, isReversed: true, &postings, in: arena), .affix, to: \.trees)
            add(LiteralSearch(entries.literals, &postings, in: arena), .literal, to: \.searches)
            add(
                ByteTable(entries.foldedTexts, ignoring: ByteTable.caseBit, &postings, in: arena), .foldedText,
                to: \.tables)
            add(PrefixTree(entries.foldedPrefixes, &postings, in: arena), .foldedAffix, to: \.trees)
            add(
                PrefixTree(entries.foldedSuffixes, isReversed: true, &postings, in: arena), .foldedAffix, to: \.trees)
            add(ByteTable(entries.numbers, &postings, in: arena), .number, to: \.tables)
            add(IntervalIndex(entries.ranges, in: arena), .range, to: \.ranges)
            add(IntervalIndex(entries.four, in: arena), .four, to: \.blocks)
            add(IntervalIndex(entries.six, in: arena), .six, to: \.blocks)
            add(entries.yes, .yes)
            add(entries.no, .no)
            add(entries.null, .null)
            add(entries.anyText, .anyText)
            add(entries.any, .any)
            return Probes(first: Int32(first), count: Int32(probes.count - first))
        }

        private mutating func add<Structure>(
            _ structure: Structure?, _ kind: Kind, to list: WritableKeyPath<Self, [Structure]>
        ) {
            guard let structure else { return }
            probes.append(Probe(kind: kind, number: Int32(self[keyPath: list].count)))
            self[keyPath: list].append(structure)
        }

        private mutating func add(_ candidates: [UInt32], _ kind: Kind) {
            guard !candidates.isEmpty else { return }
            probes.append(Probe(kind: kind, number: Int32(lists.count)))
            lists.append(postings.add(candidates))
        }

        func index(in arena: Arena) -> ValueIndex {
            ValueIndex(
                probes: arena.keep(probes), tables: arena.keep(tables), trees: arena.keep(trees),
                searches: arena.keep(searches), ranges: arena.keep(ranges), blocks: arena.keep(blocks),
                postings: arena.keep(lists), candidates: arena.keep(postings.candidates))
        }
    }
}
