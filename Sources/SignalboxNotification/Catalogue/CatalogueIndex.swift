/// Leads from a key to the markers that ask for it, in a time that depends on the key alone: a trie in flat arrays.
struct CatalogueIndex: Sendable {
    private struct Node {
        let byte: UInt8
        var child: Int32 = -1
        var sibling: Int32 = -1
        /// Markers that want exactly the key that ends here.
        var exact = 0..<0
        /// Markers that want a key that begins so.
        var prefix = 0..<0
    }

    private var nodes: [Node] = []
    /// The first node by the key's first byte; keys without a byte are nobody's.
    private var starts = [Int32](repeating: -1, count: 256)
    private var markers: [Int] = []

    /// A key, or the beginning of keys, and the marker that asks for it.
    struct Wanted {
        let key: [UInt8]
        let isPrefix: Bool
        let marker: Int
    }

    init(_ wanted: [Wanted]) {
        for (key, group) in Dictionary(grouping: wanted, by: \.key).sorted(by: {
            $0.key.lexicographicallyPrecedes($1.key)
        })
        where !key.isEmpty {
            let node = makeNode(for: key)
            nodes[node].exact = list(group.filter { !$0.isPrefix })
            nodes[node].prefix = list(group.filter(\.isPrefix))
        }
    }

    var isEmpty: Bool { nodes.isEmpty }

    /// Hands `body` every marker that asks for a key.
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

    @inline(__always)
    private func next(_ first: Int32, _ byte: UInt8) -> Int32 {
        var node = first
        while node >= 0, nodes[Int(node)].byte != byte { node = nodes[Int(node)].sibling }
        return node
    }

    // MARK: Building

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

    private mutating func append(_ byte: UInt8) -> Int32 {
        nodes.append(Node(byte: byte))
        return Int32(nodes.count - 1)
    }

    private mutating func list(_ wanted: [Wanted]) -> Range<Int> {
        let start = markers.count
        markers += wanted.map(\.marker)
        return start..<markers.count
    }
}

/// Markers that were asked already. Holds 256 without memory of its own.
struct CatalogueMarkerSet {
    private var few = SIMD4<UInt64>(repeating: 0)
    private var more: Set<Int> = []

    /// False when it is in already.
    mutating func insert(_ marker: Int) -> Bool {
        guard marker < 256 else { return more.insert(marker).inserted }
        let bit: UInt64 = 1 << UInt64(marker & 63)
        let isNew = few[marker >> 6] & bit == 0
        few[marker >> 6] |= bit
        return isNew
    }
}
