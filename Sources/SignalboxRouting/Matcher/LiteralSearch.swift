/// Finds all of any number of texts that occur anywhere in another text, by one walk along it (Aho and Corasick).
struct LiteralSearch: BitwiseCopyable {
    private struct State: BitwiseCopyable {
        var firstEdge: UInt32 = 0
        var edgeCount: UInt32 = 0
        /// Where to go on when no edge fits: the longest end of what led here that another text begins with.
        var fallback: UInt32 = 0
        /// The nearest state along the fallbacks, this one left out, where a text ends; nought for none.
        var next: UInt32 = 0
        var posting = Posting()
    }

    private struct Edge: BitwiseCopyable {
        let byte: UInt8
        let target: UInt32
    }

    private let states: UnsafeBufferPointer<State>
    private let edges: UnsafeBufferPointer<Edge>
    /// The states that one byte leads to from the beginning; most bytes lead nowhere.
    private let starts: UnsafeBufferPointer<UInt32>

    /// The texts must not be empty. Nil for none.
    init?(_ texts: [[UInt8]: [UInt32]], _ postings: inout Postings, in arena: Arena) {
        guard !texts.isEmpty else { return nil }
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
        Self.link(&states, children)
        var edges: [Edge] = []
        for state in states.indices {
            states[state].firstEdge = UInt32(edges.count)
            states[state].edgeCount = UInt32(children[state].count)
            edges += children[state].sorted { $0.key < $1.key }.map { Edge(byte: $0.key, target: $0.value) }
        }
        starts = arena.keep((0...255).map { children[0][$0] ?? 0 })
        self.states = arena.keep(states)
        self.edges = arena.keep(edges)
    }

    /// Level by level, since fallbacks lead to shorter texts.
    private static func link(_ states: inout [State], _ children: [[UInt8: UInt32]]) {
        var level = children[0].values.map { Int($0) }
        while !level.isEmpty {
            var deeper: [Int] = []
            for state in level {
                for (byte, child) in children[state] {
                    var other = states[state].fallback
                    while other != 0, children[Int(other)][byte] == nil { other = states[Int(other)].fallback }
                    let fallback = children[Int(other)][byte] ?? 0
                    states[Int(child)].fallback = fallback
                    let ends = states[Int(fallback)].posting.count > 0
                    states[Int(child)].next = ends ? fallback : states[Int(fallback)].next
                    deeper.append(Int(child))
                }
            }
            level = deeper
        }
    }

    @inline(__always)
    func forEachPosting(in text: UnsafeBufferPointer<UInt8>, _ body: (Posting) -> Void) {
        var state = 0
        for byte in text {
            state = step(from: state, byte)
            var ending = state
            while ending != 0 {
                if states[ending].posting.count > 0 { body(states[ending].posting) }
                ending = Int(states[ending].next)
            }
        }
    }

    @inline(__always)
    private func step(from state: Int, _ byte: UInt8) -> Int {
        var state = state
        while state != 0 {
            if let target = target(from: states[state], byte) { return target }
            state = Int(states[state].fallback)
        }
        return Int(starts[Int(byte)])
    }

    @inline(__always)
    private func target(from state: State, _ byte: UInt8) -> Int? {
        for number in Int(state.firstEdge)..<Int(state.firstEdge + state.edgeCount) where edges[number].byte == byte {
            return Int(edges[number].target)
        }
        return nil
    }
}
