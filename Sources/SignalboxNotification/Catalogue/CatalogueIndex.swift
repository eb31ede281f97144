/// Finds the markers for a key in a time that depends on the key alone: a trie in flat arrays. Built once for each
/// catalogue. Not a dictionary, because a payload's keys are bytes in the parser's memory, which a lookup must not
/// copy.
struct CatalogueIndex: Sendable {
    /// One byte of a key. Nodes of one level are linked as siblings.
    private struct Node {
        /// The byte that leads here from the parent.
        let byte: UInt8
        /// The first node of the next level; -1 for none.
        var child: Int32 = -1
        /// The next node of the same level; -1 for none.
        var sibling: Int32 = -1
        /// Markers whose key ends at this node.
        var exact = 0..<0
        /// Markers whose key prefix ends at this node.
        var prefix = 0..<0
    }

    /// All nodes; they refer to each other by position.
    private var nodes: [Node] = []
    /// The first node by the key's first byte; no marker has an empty key.
    private var starts = [Int32](repeating: -1, count: 256)
    /// The markers of all nodes; each node has two ranges of them.
    private var markers: [Int] = []

    /// A key or key prefix, and its marker.
    struct Entry {
        /// As UTF-8.
        let key: [UInt8]
        /// True if every key with this beginning counts.
        let isPrefix: Bool
        /// The position of the marker in the catalogue.
        let marker: Int
    }

    /// Sorts the keys, so that the result does not depend on the order of a dictionary. Entries with an empty key are
    /// left out.
    init(_ entries: [Entry]) {
        for (key, group) in Dictionary(grouping: entries, by: \.key).sorted(by: {
            $0.key.lexicographicallyPrecedes($1.key)
        })
        where !key.isEmpty {
            let node = makeNode(for: key)
            nodes[node].exact = list(group.filter { !$0.isPrefix })
            nodes[node].prefix = list(group.filter(\.isPrefix))
        }
    }

    /// True without an entry.
    var isEmpty: Bool { nodes.isEmpty }

    /// Calls `body` with every marker of a key. Calls `body` for prefixes of the key first, the shortest first, then
    /// for the whole key. Several keys of a payload may lead to the same marker.
    @inline(__always)
    func forEachMarker(of key: UnsafeBufferPointer<UInt8>, _ body: (Int) -> Void) {
        guard let first = key.first else { return }
        var node = starts[Int(first)]
        var position = 1
        while node >= 0 {
            let current = nodes[Int(node)]
            for slot in current.prefix { body(markers[slot]) }
            guard position < key.count else {
                for slot in current.exact { body(markers[slot]) }
                return
            }
            node = next(current.child, key[position])
            position += 1
        }
    }

    /// The sibling with a byte, or -1.
    @inline(__always)
    private func next(_ first: Int32, _ byte: UInt8) -> Int32 {
        var node = first
        while node >= 0, nodes[Int(node)].byte != byte { node = nodes[Int(node)].sibling }
        return node
    }

    // MARK: Building

    /// The node at the end of a key; adds the missing nodes.
    private mutating func makeNode(for key: [UInt8]) -> Int {
        var node = starts[Int(key[0])]
        if node < 0 {
            node = append(key[0])
            starts[Int(key[0])] = node
        }
        for byte in key.dropFirst() {
            var child = next(nodes[Int(node)].child, byte)
            if child < 0 {
                child = append(byte)
                nodes[Int(child)].sibling = nodes[Int(node)].child
                nodes[Int(node)].child = child
            }
            node = child
        }
        return Int(node)
    }

    /// Adds a node without relatives and returns its position.
    private mutating func append(_ byte: UInt8) -> Int32 {
        nodes.append(Node(byte: byte))
        return Int32(nodes.count - 1)
    }

    /// Adds the markers of some entries and returns their range in ``markers``.
    private mutating func list(_ entries: [Entry]) -> Range<Int> {
        let start = markers.count
        markers += entries.map(\.marker)
        return start..<markers.count
    }
}

/// A set of markers. Contains the first 256 without an allocation.
struct CatalogueMarkerSet {
    /// A bit for each of the first 256 markers.
    private var few = SIMD4<UInt64>(repeating: 0)
    /// Markers from the 257th on.
    private var more: Set<Int> = []

    /// False if the set already contains the marker. Constant time.
    mutating func insert(_ marker: Int) -> Bool {
        guard marker < 256 else { return more.insert(marker).inserted }
        let bit: UInt64 = 1 << UInt64(marker & 63)
        let isNew = few[marker >> 6] & bit == 0
        few[marker >> 6] |= bit
        return isNew
    }
}
