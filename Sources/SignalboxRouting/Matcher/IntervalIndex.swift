/// A segment tree: finds all intervals that contain a key, in time that grows with their number and with the
/// logarithm of the number of all intervals. Takes memory for each interval that grows with the same logarithm.
struct IntervalIndex: BitwiseCopyable {
    /// A rule that matches all keys within bounds, both included.
    struct Interval {
        let bounds: ClosedRange<UInt128>
        let candidate: Candidate

        /// The key that follows; nil after the greatest.
        fileprivate var next: UInt128? { bounds.upperBound < .max ? bounds.upperBound + 1 : nil }
    }

    /// A range of neighbouring segments.
    private struct Node: BitwiseCopyable {
        /// The candidates that this node lists.
        let postings: Run
        /// The nearest node above that lists intervals; 0 if there is none.
        let next: UInt32
    }

    /// The starts of segments, in order: the bounds of all intervals cut the keys into segments, and no interval
    /// begins or ends within one.
    private let starts: UnsafeBufferPointer<UInt128>
    /// A complete binary tree in one array: node 1 is the root, 2n and 2n + 1 are below n, and segment i is the leaf
    /// `starts.count + i`. A node lists the intervals that contain all segments below it, but not all below its
    /// parent.
    private let nodes: UnsafeBufferPointer<Node>
    private let candidates: UnsafeBufferPointer<Candidate>

    /// Nil if there are no intervals. Takes time n log n for n intervals. Bounds of equal intervals share segments.
    init?(_ intervals: [Interval], in arena: Arena) {
        guard !intervals.isEmpty else { return nil }
        let starts = Set(intervals.map(\.bounds.lowerBound) + intervals.compactMap(\.next)).sorted()
        let leaves = Dictionary(uniqueKeysWithValues: zip(starts, starts.count...))
        var lists = [[Candidate]](repeating: [], count: 2 * starts.count)
        for interval in intervals {
            guard var low = leaves[interval.bounds.lowerBound],
                var high = interval.next.map({ leaves[$0] }) ?? lists.count
            else { preconditionFailure("Every bound starts a segment.") }
            // From the leaves upwards: a node at an end that is not its parent's end covers what the parent does not.
            while low < high {
                if low % 2 == 1 {
                    lists[low].append(interval.candidate)
                    low += 1
                }
                if high % 2 == 1 {
                    high -= 1
                    lists[high].append(interval.candidate)
                }
                (low, high) = (low / 2, high / 2)
            }
        }
        var candidates: [Candidate] = []
        var nodes: [Node] = []
        for (number, list) in lists.enumerated() {
            let parent = number / 2
            let next = number == 0 || !lists[parent].isEmpty ? UInt32(parent) : nodes[parent].next
            nodes.append(Node(postings: candidates.appendRun(list), next: next))
        }
        self.nodes = arena.store(nodes)
        self.starts = arena.store(starts)
        self.candidates = arena.store(candidates)
    }

    /// Calls `body` with the candidate of every interval that contains the key.
    @inline(__always)
    func forEachCandidate(containing key: UInt128, _ body: (Candidate) -> Void) {
        guard starts[0] <= key else { return }
        var (segment, count) = (0, starts.count)
        while count > 1 {
            let half = count / 2
            segment = starts[segment + half] <= key ? segment + half : segment
            count -= half
        }
        var node = starts.count + segment
        while node > 0 {
            for position in nodes[node].postings.range { body(candidates[position]) }
            node = Int(nodes[node].next)
        }
    }
}
