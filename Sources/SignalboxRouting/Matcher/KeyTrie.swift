import SignalboxJSON

/// A trie of the paths that patterns name, keys as its edges. The nodes are numbered in preorder: the root is 0, and
/// the descendants of a node follow it.
struct KeyTrie: BitwiseCopyable {
    /// A path that a pattern names, or that leads to such a path.
    struct Node: BitwiseCopyable {
        let parent: Int32
        /// The number that follows those of all descendants.
        var end: Int32
        /// The key that leads here from the parent, and its head, which identifies a short key.
        let key: UnsafeBufferPointer<UInt8>
        let head: JSONKeyHead
        /// Bit n: a child has a key of n bytes; bit 63: of 63 bytes or more. Zero for a leaf.
        var childLengths: UInt64 = 0
        /// The probes of the index for the value at this path.
        let probes: Run

        /// False for a leaf: the search then skips the objects at this path.
        var hasChildren: Bool { childLengths != 0 }
    }

    /// In preorder.
    let nodes: UnsafeBufferPointer<Node>
    /// A hash table of node numbers, by parent and key: open addressing, with 0, the root, in free slots.
    private let slots: UnsafeBufferPointer<Int32>

    /// `probes`: for the nodes that have some. Stores the nodes in the order of the numbering, at most half of the
    /// hash table filled.
    init(_ numbering: PathNumbering, probes: [Int: Run], in arena: Arena) {
        var nodes: [Node] = []
        var capacity = 4
        while capacity < numbering.paths.count * 2 { capacity *= 2 }
        var slots = [Int32](repeating: 0, count: capacity)
        for (number, path) in numbering.paths.enumerated() {
            let key = arena.store(path.last ?? [])
            let node = Node(
                parent: Int32(numbering.number(of: path.dropLast())), end: Int32(number + 1), key: key,
                head: JSONKeyHead(path.last ?? []), probes: probes[number] ?? Run())
            nodes.append(node)
            guard number > 0 else { continue }
            nodes[Int(node.parent)].childLengths |= Self.lengthBit(of: key)
            var slot = Self.slot(of: key, node.head, below: Int(node.parent), mask: capacity - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (capacity - 1) }
            slots[slot] = Int32(number)
        }
        for number in nodes.indices.dropFirst().reversed() {
            let parent = Int(nodes[number].parent)
            nodes[parent].end = max(nodes[parent].end, nodes[number].end)
        }
        self.nodes = arena.store(nodes)
        self.slots = arena.store(slots)
    }

    /// The bit of ``Node/childLengths`` for a key.
    @inline(__always)
    private static func lengthBit(of key: UnsafeBufferPointer<UInt8>) -> UInt64 {
        1 << UInt64(truncatingIfNeeded: min(key.count, 63))
    }

    /// Hashes all of a long key, because many keys may have the same head.
    @inline(__always)
    private static func slot(
        of key: UnsafeBufferPointer<UInt8>, _ head: JSONKeyHead, below parent: Int, mask: Int
    ) -> Int {
        let code = key.count > JSONKeyHead.reach ? UInt64(StringTable.hash(key)) << 32 : head.hash
        return Int(truncatingIfNeeded: (code &+ UInt64(parent) &* 0x9E37_79B9_7F4A_7C15) >> 40) & mask
    }

    /// The child of a node that the key of a parsed object leads to; nil if no pattern names the key there. Compares
    /// the length of the key first, so that most keys of an event are never hashed.
    @inline(__always)
    func child(of parent: Int, _ key: UnsafeBufferPointer<UInt8>) -> Int? {
        guard nodes[parent].childLengths & Self.lengthBit(of: key) != 0 else { return nil }
        let head = JSONKeyHead(parsed: key)
        var slot = Self.slot(of: key, head, below: parent, mask: slots.count - 1)
        while true {
            let number = Int(slots[slot])
            guard number != 0 else { return nil }
            let node = nodes[number]
            if node.head == head, Int(node.parent) == parent, key.count <= JSONKeyHead.reach || key.equals(node.key) {
                return number
            }
            slot = (slot + 1) & (slots.count - 1)
        }
    }
}

/// Numbers the nodes of a ``KeyTrie``. Preorder lets a search mark all descendants of a node as one range.
struct PathNumbering {
    /// The path of each node: those of all fields, and all that lead to them, in preorder.
    let paths: [[[UInt8]]]
    private let numbers: [[[UInt8]]: Int]

    /// Numbers the paths of these fields and all paths that lead to them. Takes time that grows with the total length
    /// of all paths, and with the logarithm of their number.
    init(_ fields: some Sequence<Pattern.Field>) {
        var all: Set<[[UInt8]]> = [[]]
        for field in fields {
            var path = field.path
            while all.insert(path).inserted { path.removeLast() }
        }
        // An ancestor sorts before its descendants, and nothing sorts between two of them.
        paths = all.sorted { $0.lexicographicallyPrecedes($1) { $0.lexicographicallyPrecedes($1) } }
        numbers = Dictionary(uniqueKeysWithValues: zip(paths, 0...))
    }

    /// `path`: one of a field, or one that leads there.
    func number(of path: [[UInt8]]) -> Int {
        guard let number = numbers[path] else { preconditionFailure("Every path of a field has a number.") }
        return number
    }
}
