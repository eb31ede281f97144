import SignalboxJSON

/// A radix tree (compressed trie). One walk along a text finds every string of the tree that the text starts with; in
/// a reversed tree, that it ends with. Each step is a binary search among the children of a node.
struct RadixTree: BitwiseCopyable {
    /// The children of a node are neighbours, ordered by the byte that leads to them.
    private struct Node: BitwiseCopyable {
        /// The bytes between the parent and this node, in `labels`.
        var label = Run()
        /// In the arrays of nodes and of their bytes.
        var children = Run()
        /// Empty unless a string ends here.
        var postings = Run()
    }

    private let nodes: UnsafeBufferPointer<Node>
    /// For each node the byte that leads to it: the first of its label, or the last in a reversed tree.
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The labels of all nodes. Each keeps the order of its text, even in a reversed tree.
    private let labels: UnsafeBufferPointer<UInt8>
    /// Whether it finds suffixes instead of prefixes.
    let isReversed: Bool

    /// `lists`: the candidates of each string, appended to `candidates`. Nil if there are no strings. Builds the tree
    /// breadth first, so that the children of a node are neighbours. Takes time n log n for n strings. The empty
    /// string is allowed: every text starts with it.
    init?(
        _ lists: [[UInt8]: [Candidate]], isReversed: Bool = false, _ candidates: inout [Candidate], in arena: Arena
    ) {
        guard !lists.isEmpty else { return nil }
        let sorted = lists.map { (string: isReversed ? $0.key.reversed() : $0.key, list: $0.value) }
            .sorted { $0.string.lexicographicallyPrecedes($1.string) }
        var nodes = [Node()]
        var bytes: [UInt8] = [0]
        var labels: [UInt8] = []
        // For each node, the strings below it, and how many of their bytes lead to it.
        var below = [(strings: sorted[...], depth: 0)]
        var number = 0
        while number < nodes.count {
            var (rest, depth) = below[number]
            if let first = rest.first, first.string.count == depth {
                nodes[number].postings = candidates.appendRun(first.list)
                rest.removeFirst()
            }
            nodes[number].children.start = UInt32(nodes.count)
            while let first = rest.first?.string {
                let group = rest.prefix { $0.string[depth] == first[depth] }
                let common = zip(first, rest[group.endIndex - 1].string).prefix { $0 == $1 }.count
                let label = first[depth..<common]
                nodes.append(Node(label: labels.appendRun(isReversed ? label.reversed() : Array(label))))
                nodes[number].children.count += 1
                bytes.append(first[depth])
                below.append((group, common))
                rest = rest[group.endIndex...]
            }
            number += 1
        }
        self.nodes = arena.store(nodes)
        self.bytes = arena.store(bytes)
        self.labels = arena.store(labels)
        self.isReversed = isReversed
    }

    /// Calls `body` with the posting list of every string that the text starts (or ends) with, shortest first. Stops
    /// at the first byte that leads to no child.
    @inline(__always)
    func forEachPostings(of text: UnsafeBufferPointer<UInt8>, _ body: (Run) -> Void) {
        var node = nodes[0]
        var depth = 0
        while true {
            if !node.postings.isEmpty { body(node.postings) }
            guard depth < text.count,
                let child = child(of: node, at: text[isReversed ? text.count - 1 - depth : depth])
            else { return }
            node = nodes[child]
            let count = Int(node.label.count)
            // Most labels are one byte, which is known to fit.
            if count > 1 {
                let start = isReversed ? text.count - depth - count : depth
                guard start >= 0, start + count <= text.count,
                    UnsafeBufferPointer(rebasing: text[start..<start + count]).equals(
                        UnsafeBufferPointer(rebasing: labels[node.label.range]))
                else { return }
            }
            depth += count
        }
    }

    /// The child that a byte leads to, by binary search.
    @inline(__always)
    private func child(of node: Node, at byte: UInt8) -> Int? {
        var children = node.children.range
        while children.count > 1 {
            let middle = children.lowerBound + children.count / 2
            children = bytes[middle] <= byte ? middle..<children.upperBound : children.lowerBound..<middle
        }
        return children.first.flatMap { bytes[$0] == byte ? $0 : nil }
    }
}
