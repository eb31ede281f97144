import SignalboxJSON
import SignalboxNotification

/// Finds rules by the value of the field they are filed under.
///
/// Every field has a run of probes, one for each kind of condition that its rules have. A probe leads from a value to
/// posting lists of candidates. A lookup may return rules that do not match, but never misses one that does.
struct ValueIndex: BitwiseCopyable {
    let probes: UnsafeBufferPointer<Probe>
    let candidates: UnsafeBufferPointer<Candidate>

    /// The number of all candidates: posting lists start below it.
    var candidateCount: Int { candidates.count }

    /// Calls `body` with every candidate for a value that is neither an object nor an array. May pass a candidate more
    /// than once. Skips the posting lists for which `isNew` returns false. A search passes its set of visited lists, so
    /// each list is read at most once per event.
    @inline(__always)
    func forEachCandidate(of value: JSONValue, _ run: Run, isNew: (Run) -> Bool, body: (Candidate) -> Void) {
        let text = value.utf8
        for position in run.range {
            switch probes[position] {
            case .any(let postings): visit(postings, isNew, body)
            case .bool(let flag, let postings): if value.bool == flag { visit(postings, isNew, body) }
            case .null(let postings): if value.isNull { visit(postings, isNew, body) }
            case .number(let intervals):
                if let number = PatternNumber(value) { intervals.forEachCandidate(containing: number.key, body) }
            case let probe: if let text { find(text, with: probe, isNew, body) }
            }
        }
    }

    /// Looks up a string with one probe. Probes for other types of values find no candidate.
    @inline(__always)
    private func find(
        _ text: UnsafeBufferPointer<UInt8>, with probe: Probe, _ isNew: (Run) -> Bool, _ body: (Candidate) -> Void
    ) {
        switch probe {
        case .text(let table): visit(table.postings(of: text), isNew, body)
        case .affix(let tree): tree.forEachPostings(of: text) { visit($0, isNew, body) }
        case .substring(let index): index.forEachPostings(in: text) { visit($0, isNew, body) }
        case .foldedText(let table, let longest):
            guard text.count <= longest else { return }
            CaseVariants.withFolded(text) { visit(table.postings(of: $0), isNew, body) }
        case .foldedAffix(let tree, let longest):
            // The cut may split a character, but never in a text that matches.
            let part = tree.isReversed ? text.suffix(longest) : text.prefix(longest)
            CaseVariants.withFolded(UnsafeBufferPointer(rebasing: part)) {
                tree.forEachPostings(of: $0) { visit($0, isNew, body) }
            }
        case .address(let intervals, let isIPv6):
            guard let address = IPAddress(ruler: text), address.isIPv6 == isIPv6 else { return }
            intervals.forEachCandidate(containing: address.bits, body)
        case .any, .bool, .null, .number: return
        }
    }

    /// Calls `body` with each candidate of a list, unless the list was visited before: its candidates were evaluated
    /// then.
    @inline(__always)
    private func visit(_ postings: Run, _ isNew: (Run) -> Bool, _ body: (Candidate) -> Void) {
        guard !postings.isEmpty, isNew(postings) else { return }
        for position in postings.range { body(candidates[position]) }
    }
}

/// Finds the posting lists for the values of a field that meet one kind of condition. Strings have a probe for each
/// way of comparing them, because a text may meet several conditions at once.
enum Probe: BitwiseCopyable {
    /// Lists for any value, for one boolean, for null.
    case any(Run)
    case bool(Bool, Run)
    case null(Run)
    /// Keys are those of ``PatternNumber/key``, and the bits of addresses.
    case number(IntervalIndex)
    case address(IntervalIndex, isIPv6: Bool)
    case text(StringTable)
    /// Prefixes, or suffixes in a reversed tree.
    case affix(RadixTree)
    /// The longest pieces of wildcards, between two asterisks.
    case substring(SubstringIndex)
    /// Strings in the form of ``CaseVariants/folded``. `longest`: bytes of the longest text that one of them matches.
    case foldedText(StringTable, longest: Int)
    case foldedAffix(RadixTree, longest: Int)
}

/// The rules filed under one field, grouped by the probes that find them. ``RuleCompiler`` fills one for each indexed
/// path and then takes its probes.
struct FieldDraft {
    /// The kinds of conditions on strings, each with an index of its own.
    private enum StringKind { case text, prefix, suffix, substring, foldedText, foldedPrefix, foldedSuffix }

    private var strings: [StringKind: [[UInt8]: [Candidate]]] = [:]
    private var numbers: [IntervalIndex.Interval] = []
    /// By whether they are IPv6.
    private var addresses: [Bool: [IntervalIndex.Interval]] = [:]
    private var bools: [Bool: [Candidate]] = [:]
    private var null: [Candidate] = []
    private var any: [Candidate] = []
    /// Bytes of the longest text that any case-insensitive condition matches.
    private var longest = 0

    /// Files a rule under a condition of this field. A candidate with `needsCheck` is evaluated again, because its
    /// probe can find values that do not match. One rule may be filed under several conditions of the field, and is
    /// then found by any of them.
    mutating func add(_ condition: Pattern.Condition, of rule: Int) {
        let proven = Candidate(rule: rule, needsCheck: false)
        let unproven = Candidate(rule: rule, needsCheck: true)
        switch condition {
        case .string(let text): add(proven, .text, text)
        case .prefix(let text): add(proven, .prefix, text)
        case .suffix(let text): add(proven, .suffix, text)
        case .wildcard(let wildcard): add(wildcard, proven, unproven)
        case .equalsIgnoringCase(let text): add(unproven, .foldedText, text)
        case .prefixIgnoringCase(let text): add(unproven, .foldedPrefix, text)
        case .suffixIgnoringCase(let text): add(unproven, .foldedSuffix, text)
        case .numbers(let keys): numbers.append(.init(bounds: keys, candidate: proven))
        case .address(let range):
            addresses[range.first.isIPv6, default: []].append(
                .init(bounds: range.first.bits...range.last, candidate: proven))
        case .bool(let flag): bools[flag, default: []].append(proven)
        case .null: null.append(proven)
        case .exists: any.append(proven)
        case .anythingBut: any.append(unproven)
        }
    }

    /// Several rules may have the same text.
    private mutating func add(_ candidate: Candidate, _ kind: StringKind, _ text: [UInt8]) {
        strings[kind, default: [:]][text, default: []].append(candidate)
    }

    /// Files it under the folded text, which different texts may share.
    private mutating func add(_ candidate: Candidate, _ kind: StringKind, _ text: CaseVariants) {
        add(candidate, kind, text.folded)
        longest = max(longest, text.longest)
    }

    /// Files a rule under the longest piece of a wildcard; without one, under the empty prefix, which every text has.
    private mutating func add(_ wildcard: Wildcard, _ proven: Candidate, _ unproven: Candidate) {
        let pieces = wildcard.pieces
        guard pieces.count > 1 else { return add(proven, .text, pieces[0]) }
        let longest = pieces.indices.reduce(0) { pieces[$1].count > pieces[$0].count ? $1 : $0 }
        let kind: StringKind = longest == 0 ? .prefix : longest == pieces.count - 1 ? .suffix : .substring
        add(unproven, kind, pieces[longest])
    }

    /// The probes of the field. Their posting lists are appended to `candidates`. A field without conditions of a
    /// kind has no probe for it, so a search does not look there.
    func probes(_ candidates: inout [Candidate], in arena: Arena) -> [Probe] {
        func table(_ kind: StringKind) -> StringTable? { StringTable(strings[kind] ?? [:], &candidates, in: arena) }
        func tree(_ kind: StringKind, isReversed: Bool = false) -> RadixTree? {
            RadixTree(strings[kind] ?? [:], isReversed: isReversed, &candidates, in: arena)
        }
        var probes: [Probe?] = [
            table(.text).map { .text($0) },
            tree(.prefix).map { .affix($0) },
            tree(.suffix, isReversed: true).map { .affix($0) },
            SubstringIndex(strings[.substring] ?? [:], &candidates, in: arena).map { .substring($0) },
            table(.foldedText).map { .foldedText($0, longest: longest) },
            tree(.foldedPrefix).map { .foldedAffix($0, longest: longest) },
            tree(.foldedSuffix, isReversed: true).map { .foldedAffix($0, longest: longest) },
            IntervalIndex(numbers, in: arena).map { .number($0) },
            IntervalIndex(addresses[false] ?? [], in: arena).map { .address($0, isIPv6: false) },
            IntervalIndex(addresses[true] ?? [], in: arena).map { .address($0, isIPv6: true) },
        ]
        for (flag, list) in bools { probes.append(.bool(flag, candidates.appendRun(list))) }
        if !null.isEmpty { probes.append(.null(candidates.appendRun(null))) }
        if !any.isEmpty { probes.append(.any(candidates.appendRun(any))) }
        return probes.compactMap { $0 }
    }
}
