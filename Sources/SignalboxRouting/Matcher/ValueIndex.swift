import SignalboxJSON
import SignalboxNotification

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
        /// Longest text that one of the conditions can match, in bytes; for kinds that fold text.
        var reach: Int32 = 0
    }

    private enum Kind: UInt8, BitwiseCopyable {
        case text, affix, literal, foldedText, foldedPrefix, foldedSuffix, anyText, four, six, number, range, yes, no,
            null, any
    }

    private let probes: UnsafeBufferPointer<Probe>
    private let tables: UnsafeBufferPointer<ByteTable>
    private let trees: UnsafeBufferPointer<PrefixTree>
    private let searches: UnsafeBufferPointer<LiteralSearch>
    private let ranges: UnsafeBufferPointer<IntervalIndex<UInt64>>
    private let blocks: UnsafeBufferPointer<IntervalIndex<UInt128>>
    private let postings: UnsafeBufferPointer<Posting>
    private let candidates: UnsafeBufferPointer<UInt32>

    var candidateCount: Int { candidates.count }

    /// Calls `body` with every candidate for a value that is neither an object nor an array, perhaps more than once.
    /// Skips lists of candidates for which `isNew` returns false. A visited list of a text implies that the lists of
    /// all texts within that text were visited.
    @inline(__always)
    func forEachCandidate(
        of value: JSONValue, _ own: Probes, isNew: (Posting) -> Bool, body: (UInt32) -> Void
    ) {
        let text = value.utf8
        for place in Int(own.first)..<Int(own.first + own.count) {
            let probe = probes[place]
            if probe.kind == .any {
                _ = each(postings[Int(probe.number)], isNew, body)
            } else if let text {
                look(for: text, probe, isNew, body)
            } else {
                look(for: value, probe.kind, Int(probe.number), isNew, body)
            }
        }
    }

    /// False when the list is empty or was visited before.
    @inline(__always)
    private func each(_ posting: Posting, _ isNew: (Posting) -> Bool, _ body: (UInt32) -> Void) -> Bool {
        guard posting.count > 0, isNew(posting) else { return false }
        for place in Int(posting.start)..<Int(posting.start + posting.count) { body(candidates[place]) }
        return true
    }

    @inline(__always)
    private func look(
        for text: UnsafeBufferPointer<UInt8>, _ probe: Probe, _ isNew: (Posting) -> Bool, _ body: (UInt32) -> Void
    ) {
        let number = Int(probe.number)
        switch probe.kind {
        case .text: _ = each(tables[number].posting(of: text), isNew, body)
        case .affix: trees[number].forEachPosting(of: text) { _ = each($0, isNew, body) }
        case .literal: searches[number].forEachPosting(in: text) { each($0, isNew, body) }
        case .foldedText:
            guard text.count <= Int(probe.reach) else { return }
            // What is ASCII need not be folded for a table that does not look at the bit of case.
            if CaseVariants.isASCII(text) {
                _ = each(tables[number].posting(of: text), isNew, body)
            } else {
                CaseVariants.withFolded(text) { _ = each(tables[number].posting(of: $0), isNew, body) }
            }
        case .foldedPrefix:
            CaseVariants.withFolded(text.beginning(upTo: Int(probe.reach))) { text in
                trees[number].forEachPosting(of: text) { _ = each($0, isNew, body) }
            }
        case .foldedSuffix:
            CaseVariants.withFolded(text.ending(upTo: Int(probe.reach))) { text in
                trees[number].forEachPosting(of: text) { _ = each($0, isNew, body) }
            }
        case .anyText: _ = each(postings[number], isNew, body)
        case .four, .six:
            guard let address = IPAddress(ruler: text), address.isIPv6 == (probe.kind == .six) else { return }
            blocks[number].forEach(holding: address.bits, body)
        default: return
        }
    }

    private func look(
        for value: JSONValue, _ kind: Kind, _ number: Int, _ isNew: (Posting) -> Bool, _ body: (UInt32) -> Void
    ) {
        switch kind {
        case .yes: if value.bool == true { _ = each(postings[number], isNew, body) }
        case .no: if value.bool == false { _ = each(postings[number], isNew, body) }
        case .null: if value.isNull { _ = each(postings[number], isNew, body) }
        case .range:
            guard case .double(let double) = PatternNumber(value) else { return }
            ranges[number].forEach(holding: PatternNumber.key(double), body)
        case .number:
            guard let wanted = PatternNumber(value) else { return }
            wanted.withBytes { _ = each(tables[number].posting(of: $0), isNew, body) }
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
            let reach = entries.foldedReach
            add(
                ByteTable(entries.foldedTexts, ignoring: ByteTable.caseBit, &postings, in: arena), .foldedText,
                reach: reach, to: \.tables)
            add(PrefixTree(entries.foldedPrefixes, &postings, in: arena), .foldedPrefix, reach: reach, to: \.trees)
            add(
                PrefixTree(entries.foldedSuffixes, isReversed: true, &postings, in: arena), .foldedSuffix, reach: reach,
                to: \.trees)
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
            _ structure: Structure?, _ kind: Kind, reach: Int = 0, to list: WritableKeyPath<Self, [Structure]>
        ) {
            guard let structure else { return }
            probes.append(Probe(kind: kind, number: Int32(self[keyPath: list].count), reach: Int32(reach)))
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

extension UnsafeBufferPointer<UInt8> {
    /// The first `most` bytes, extended to the end of a character.
    fileprivate func beginning(upTo most: Int) -> Self {
        guard count > most else { return self }
        let end = self[most...].firstIndex { $0 & 0xC0 != 0x80 } ?? count
        return Self(rebasing: self[..<end])
    }

    /// The last `most` bytes, extended to the start of a character.
    fileprivate func ending(upTo most: Int) -> Self {
        guard count > most else { return self }
        guard most > 0 else { return Self(rebasing: self[count...]) }
        let start = self[...(count - most)].lastIndex { $0 & 0xC0 != 0x80 } ?? 0
        return Self(rebasing: self[start...])
    }
}
