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

    private static func automaton(
        _ texts: [[UInt8]: [UInt32]], _ postings: inout Postings
    ) -> ([State], [Transition]) {
        var states = [State()]
        var children: [[UInt8: UInt32]] = [[:]]
        for (text, candidates) in texts {
            var state = 0
            for byte in text {
                if let next = children[state][byte] {
                    state = Int(next)
                } else {
                    children[state][byte] = UInt32(states.count)
                    state = states.count
                    states.append(State())
                    children.append([:])
                }
            }
            states[state].posting = postings.add(candidates)
        }
        link(&states, children)
        return (states, transitions(children))
    }

    /// Level by level, since fallbacks lead to shorter texts.
    private static func link(_ states: inout [State], _ children: [[UInt8: UInt32]]) {
        var level = children[0].values.map { Int($0) }
        for state in level where states[state].posting.count > 0 { states[state].output = UInt32(state) }
        while !level.isEmpty {
            var deeper: [Int] = []
            for state in level {
                for (byte, child) in children[state] {
                    var other = states[state].fallback
                    while other != 0, children[Int(other)][byte] == nil { other = states[Int(other)].fallback }
                    let fallback = children[Int(other)][byte] ?? 0
                    states[Int(child)].fallback = fallback
                    states[Int(child)].next = states[Int(fallback)].output
                    let ends = states[Int(child)].posting.count > 0
                    states[Int(child)].output = ends ? child : states[Int(child)].next
                    deeper.append(Int(child))
                }
            }
            level = deeper
        }
    }

    private static func transitions(_ children: [[UInt8: UInt32]]) -> [Transition] {
        var capacity = 16
        while capacity < children.count * 2 { capacity *= 2 }
        var transitions = [Transition](repeating: Transition(), count: capacity)
        for (state, children) in children.enumerated() {
            for (byte, target) in children {
                let key = UInt32(state) << 8 | UInt32(byte)
                var place = slot(of: key, mask: capacity - 1)
                while transitions[place].key != .max { place = (place + 1) & (capacity - 1) }
                transitions[place] = Transition(key: key, target: target)
            }
        }
        return transitions
    }

    @inline(__always)
    func forEachPosting(in text: UnsafeBufferPointer<UInt8>, _ body: (Posting) -> Void) {
        guard let table else { return follow(text, body) }
        var place = 0
        while let start = beginning(in: text, from: place) {
            for length in lengths where start + Int(length) <= text.count {
                body(table.posting(of: UnsafeBufferPointer(rebasing: text[start..<(start + Int(length))])))
            }
            place = start + 1
        }
    }

    private func follow(_ text: UnsafeBufferPointer<UInt8>, _ body: (Posting) -> Void) {
        var place = 0
        while let start = beginning(in: text, from: place) {
            place = start
            var state = 0
            repeat {
                state = step(from: state, text[place])
                place += 1
                var ending = Int(states[state].output)
                while ending != 0 {
                    body(states[ending].posting)
                    ending = Int(states[ending].next)
                }
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
            let key = UInt32(state) << 8 | UInt32(byte)
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
