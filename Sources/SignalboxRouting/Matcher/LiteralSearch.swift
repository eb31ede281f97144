/// Finds all of any number of texts that occur anywhere in another text, by one walk along it. A filter of the first few
/// bytes tells most places at which nothing begins. At others, texts of few lengths are looked up in a table, and others
/// are followed by an automaton (Aho and Corasick): both in time that grows with the length of the other text alone.
struct LiteralSearch: BitwiseCopyable {
    private struct State: BitwiseCopyable {
        /// Where to go on when no transition fits: the longest end of what led here that another text begins with.
        var fallback: UInt32 = 0
        /// The nearest state along the fallbacks where a text ends; nought for none.
        var output: UInt32 = 0
        /// The same, this one left out.
        var next: UInt32 = 0
        var posting = Posting()
    }

    private struct Transition: BitwiseCopyable {
        /// A state and a byte.
        var key = UInt32.max
        var target: UInt32 = 0
    }

    private let states: UnsafeBufferPointer<State>
    /// By ``slot(of:mask:)``; the greatest key is that of free places.
    private let transitions: UnsafeBufferPointer<Transition>
    /// A bit for the beginning of each text: of as many bytes as the shortest has, four at most.
    private let filter: UnsafeBufferPointer<UInt64>
    private let reach: Int
    /// The bytes that texts begin with, where they are two at most: then sixteen bytes are looked at together.
    private let first: (SIMD16<UInt8>, SIMD16<UInt8>)
    private let hasFewBeginnings: Bool
    private let table: ByteTable?
    /// Of the texts in the table.
    private let lengths: UnsafeBufferPointer<Int32>

    /// How many lengths a table is asked for, and how long they may be.
    private static let (mostLengths, longest) = (4, 32)

    /// The texts must not be empty. Nil for none.
    init?(_ texts: [[UInt8]: [UInt32]], _ postings: inout Postings, in arena: Arena) {
        guard let shortest = texts.keys.map(\.count).min() else { return nil }
        reach = min(shortest, 4)
        let firsts = Set(texts.keys.compactMap(\.first)).sorted()
        hasFewBeginnings = firsts.count <= 2
        first = (SIMD16(repeating: firsts.first ?? 0), SIMD16(repeating: firsts.dropFirst().first ?? firsts.first ?? 0))
        var filter = [UInt64](repeating: 0, count: 64)
        for text in texts.keys {
            let beginning = Self.hash(text[..<reach].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
            filter[beginning / 64] |= 1 << UInt64(beginning % 64)
        }
        self.filter = arena.keep(filter)
        let lengths = Set(texts.keys.map(\.count)).sorted()
        let isTable = lengths.count <= Self.mostLengths && lengths.allSatisfy { $0 <= Self.longest }
        self.lengths = arena.keep(isTable ? lengths.map { Int32($0) } : [])
        table = isTable ? ByteTable(texts, &postings, in: arena) : nil
        let automaton = isTable ? ([], []) : Self.automaton(texts, &postings)
        states = arena.keep(automaton.0)
        transitions = arena.keep(automaton.1)
    }

    /// The trie while the automaton is built: states, and the transitions between them.
    private struct Draft {
        var states = [State()]
        /// Depth of each state in bytes, and the state and byte that lead to it.
        var depths = [0]
        var origins: [(state: Int, byte: UInt8)] = [(0, 0)]
        private var targets: [UInt32: UInt32] = [:]

        func target(_ state: Int, _ byte: UInt8) -> UInt32? { targets[LiteralSearch.key(state, byte)] }

        mutating func add(_ text: [UInt8]) -> Int {
            text.reduce(0) { state, byte in
                if let next = target(state, byte) { return Int(next) }
                let number = states.count
                targets[LiteralSearch.key(state, byte)] = UInt32(number)
                states.append(State())
                depths.append(depths[state] + 1)
                origins.append((state, byte))
                return number
            }
        }

        /// Links shorter texts first, because fallbacks lead to them.
        mutating func link() {
            for state in states.indices.dropFirst().sorted(by: { depths[$0] < depths[$1] }) {
                let (parent, byte) = origins[state]
                if parent != 0 {
                    var other = Int(states[parent].fallback)
                    while other != 0, target(other, byte) == nil { other = Int(states[other].fallback) }
                    states[state].fallback = target(other, byte) ?? 0
                }
                states[state].next = states[Int(states[state].fallback)].output
                states[state].output = states[state].posting.count > 0 ? UInt32(state) : states[state].next
            }
        }

        /// A hash table, indexed by ``LiteralSearch/slot(of:mask:)``.
        var transitions: [Transition] {
            var capacity = 16
            while capacity < states.count * 2 { capacity *= 2 }
            var transitions = [Transition](repeating: Transition(), count: capacity)
            for (key, target) in targets {
                var place = LiteralSearch.slot(of: key, mask: capacity - 1)
                while transitions[place].key != .max { place = (place + 1) & (capacity - 1) }
                transitions[place] = Transition(key: key, target: target)
            }
            return transitions
        }
    }

    /// All texts together must be shorter than 2²⁴ bytes, because a state and a byte share one number. The bounds of a
    /// config guarantee it.
    private static func automaton(
        _ texts: [[UInt8]: [UInt32]], _ postings: inout Postings
    ) -> ([State], [Transition]) {
        var draft = Draft()
        for (text, candidates) in texts {
            let state = draft.add(text)
            draft.states[state].posting = postings.add(candidates)
        }
        precondition(draft.states.count < 1 << 24, "Literals of patterns are larger than a config.")
        draft.link()
        return (draft.states, draft.transitions)
    }

    @inline(__always)
    private static func key(_ state: Int, _ byte: UInt8) -> UInt32 {
        UInt32(truncatingIfNeeded: state) << 8 | UInt32(byte)
    }

    /// Calls `body` with the candidates of every text that occurs. When `body` returns false, shorter texts that end
    /// at the same position are skipped: an earlier occurrence reported them. The search therefore takes linear time,
    /// however many texts contain one another.
    @inline(__always)
    func forEachPosting(in text: UnsafeBufferPointer<UInt8>, _ body: (Posting) -> Bool) {
        guard let table else { return follow(text, body) }
        var place = 0
        while let start = beginning(in: text, from: place) {
            for length in lengths where start + Int(length) <= text.count {
                _ = body(table.posting(of: UnsafeBufferPointer(rebasing: text[start..<(start + Int(length))])))
            }
            place = start + 1
        }
    }

    private func follow(_ text: UnsafeBufferPointer<UInt8>, _ body: (Posting) -> Bool) {
        var place = 0
        while let start = beginning(in: text, from: place) {
            place = start
            var state = 0
            repeat {
                state = step(from: state, text[place])
                place += 1
                var ending = Int(states[state].output)
                while ending != 0, body(states[ending].posting) { ending = Int(states[ending].next) }
            } while state != 0 && place < text.count
        }
    }

    /// The next place at which a text may begin.
    @inline(__always)
    private func beginning(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var start = start
        while hasFewBeginnings, start + 16 <= text.count {
            let bytes = UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: start, as: SIMD16<UInt8>.self)
            let hits = SIMD16<UInt8>(repeating: 0).replacing(
                with: 0xFF, where: (bytes .== first.0) .| (bytes .== first.1))
            let places = unsafeBitCast(hits, to: UInt128.self)
            guard places != 0 else {
                start += 16
                continue
            }
            start += places.trailingZeroBitCount / 8
            guard start + reach <= text.count else { return nil }
            if mayBegin(window(in: text, at: start)) { return start }
            start += 1
        }
        guard start + reach <= text.count else { return nil }
        var window = window(in: text, at: start)
        while !mayBegin(window) {
            guard start + reach < text.count else { return nil }
            window = (window << 8 | UInt32(text[start + reach])) & (UInt32.max >> UInt32(32 - 8 * reach))
            start += 1
        }
        return start
    }

    @inline(__always)
    private func window(in text: UnsafeBufferPointer<UInt8>, at start: Int) -> UInt32 {
        var window: UInt32 = 0
        for place in start..<(start + reach) { window = window << 8 | UInt32(text[place]) }
        return window
    }

    @inline(__always)
    private func mayBegin(_ window: UInt32) -> Bool {
        let hash = Self.hash(window)
        return filter[hash / 64] >> UInt64(hash % 64) & 1 != 0
    }

    @inline(__always)
    private static func hash(_ window: UInt32) -> Int { Int((window &* 0x9E37_79B1) >> 20) }

    @inline(__always)
    private static func slot(of key: UInt32, mask: Int) -> Int {
        Int(truncatingIfNeeded: (UInt64(key) &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
    }

    /// Back at the beginning, a byte that begins nothing has been passed over.
    @inline(__always)
    private func step(from start: Int, _ byte: UInt8) -> Int {
        var state = start
        while true {
            let key = Self.key(state, byte)
            var place = Self.slot(of: key, mask: transitions.count - 1)
            while transitions[place].key != .max {
                if transitions[place].key == key { return Int(transitions[place].target) }
                place = (place + 1) & (transitions.count - 1)
            }
            guard state != 0 else { return 0 }
            state = Int(states[state].fallback)
        }
    }
}
