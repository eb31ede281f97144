/// Finds all of any number of texts that another text begins with, or ends with, by one walk along it.
struct PrefixTree: BitwiseCopyable {
    /// Children stand behind one another, in the order of their labels' first bytes.
    private struct Node: BitwiseCopyable {
        /// What leads here from the parent.
        var label: UInt32 = 0
        var labelCount: UInt32 = 0
        var firstChild: UInt32 = 0
        var childCount: UInt32 = 0
        var posting = Posting()
    }

    private let nodes: UnsafeBufferPointer<Node>
    /// The first byte of each node's label.
    private let firsts: UnsafeBufferPointer<UInt8>
    private let labels: UnsafeBufferPointer<UInt8>
    private let isReversed: Bool

    /// `isReversed`: for ends. Nil for no texts.
    init?(
        _ texts: [[UInt8]: [UInt32]], isReversed: Bool = false, _ postings: inout Postings, in arena: Arena
    ) {
        guard !texts.isEmpty else { return nil }
        let sorted = texts.map { (text: isReversed ? $0.key.reversed() : $0.key, candidates: $0.value) }
            .sorted { $0.text.lexicographicallyPrecedes($1.text) }
        var nodes = [Node()]
        var firsts: [UInt8] = [0]
        var labels: [UInt8] = []
        // The texts below each node, and how many bytes of them lead to it.
        var below = [(range: sorted.indices, depth: 0)]
        var number = 0
        while number < nodes.count {
            var (range, depth) = below[number]
            if sorted[range.lowerBound].text.count == depth {
                nodes[number].posting = postings.add(sorted[range.lowerBound].candidates)
                range = range.dropFirst().startIndex..<range.upperBound
            }
            nodes[number].firstChild = UInt32(nodes.count)
            while let start = range.first {
                let first = sorted[start].text[depth]
                let end = range.first { sorted[$0].text[depth] != first } ?? range.upperBound
                let common = zip(sorted[start].text, sorted[end - 1].text).prefix { $0 == $1 }.count
                let label = sorted[start].text[depth..<common]
                nodes.append(Node(label: UInt32(labels.count), labelCount: UInt32(label.count)))
                nodes[number].childCount += 1
                firsts.append(first)
                labels += label
                below.append((start..<end, common))
                range = end..<range.upperBound
            }
            number += 1
        }
        self.nodes = arena.keep(nodes)
        self.firsts = arena.keep(firsts)
        self.labels = arena.keep(labels)
        self.isReversed = isReversed
    }

    @inline(__always)
    func forEachPosting(of text: UnsafeBufferPointer<UInt8>, _ body: (Posting) -> Void) {
        var node = nodes[0]
        var depth = 0
        while true {
            if node.posting.count > 0 { body(node.posting) }
            guard depth < text.count, let child = child(of: node, byte(depth, of: text)) else { return }
            node = nodes[child]
            let count = Int(node.labelCount)
            guard text.count - depth >= count else { return }
            for position in 1..<max(count, 1)
            where labels[Int(node.label) + position] != byte(depth + position, of: text) {
                return
            }
            depth += count
        }
    }

    @inline(__always)
    private func byte(_ depth: Int, of text: UnsafeBufferPointer<UInt8>) -> UInt8 {
        text[isReversed ? text.count - 1 - depth : depth]
    }

    @inline(__always)
    private func child(of node: Node, _ byte: UInt8) -> Int? {
        var (low, high) = (Int(node.firstChild), Int(node.firstChild + node.childCount))
        while low < high {
            let middle = (low + high) / 2
            if firsts[middle] == byte { return middle }
            if firsts[middle] < byte { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}
