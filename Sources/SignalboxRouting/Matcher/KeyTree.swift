import SignalboxJSON

/// The keys that patterns name, as a tree whose edges are numbered so that everything below an edge follows it.
struct KeyTree: BitwiseCopyable {
    struct Edge: BitwiseCopyable {
        let head: JSONKeyHead
        let key: UnsafeBufferPointer<UInt8>
        /// The keys below; less than nought for none.
        let table: Int32
        /// The edge after all that are below this one.
        let end: Int32
        /// Where to look for the value that stands here; nowhere for most.
        let probes: ValueIndex.Probes
    }

    private struct Table: BitwiseCopyable {
        let first: Int32
        let mask: Int32
        /// A bit for each length that a key here has, the last one for all longer ones.
        let lengths: UInt64
    }

    let edges: UnsafeBufferPointer<Edge>
    private let tables: UnsafeBufferPointer<Table>
    /// Edges by the codes of their keys; less than nought where there is none.
    private let slots: UnsafeBufferPointer<Int32>

    /// `probes`: of each edge that has some.
    init(_ paths: KeyPaths, probes: [Int: ValueIndex.Probes], in arena: Arena) {
        var tables: [Table] = []
        var slots: [Int32] = []
        var numbers: [Int: Int32] = [:]
        for node in paths.parents {
            let children = paths.children(of: node)
            var capacity = 2
            while capacity < children.count * 2 { capacity *= 2 }
            numbers[node] = Int32(tables.count)
            let lengths = children.reduce(UInt64(0)) { $0 | Self.bit(ofLength: paths.key(of: $1).count) }
            tables.append(Table(first: Int32(slots.count), mask: Int32(capacity - 1), lengths: lengths))
            var own = [Int32](repeating: -1, count: capacity)
            for child in children {
                let key = paths.key(of: child)
                var place = key.withUnsafeBufferPointer {
                    Self.place(of: JSONKeyHead(key), $0, mask: capacity - 1)
                }
                while own[place] >= 0 { place = (place + 1) & (capacity - 1) }
                own[place] = Int32(child)
            }
            slots += own
        }
        edges = arena.keep(
            paths.edges.map { edge in
                let key = paths.key(of: edge)
                return Edge(
                    head: JSONKeyHead(key), key: arena.keep(key), table: numbers[edge] ?? -1,
                    end: Int32(paths.end(of: edge)), probes: probes[edge] ?? ValueIndex.Probes())
            })
        self.tables = arena.keep(tables)
        self.slots = arena.keep(slots)
    }

    /// The whole key decides, because many keys may begin alike and events choose the lookups.
    @inline(__always)
    private static func place(of head: JSONKeyHead, _ key: UnsafeBufferPointer<UInt8>, mask: Int) -> Int {
        guard key.count > JSONKeyHead.reach else { return Int(truncatingIfNeeded: head.hash >> 40) & mask }
        return Int(truncatingIfNeeded: ByteTable.hash(key)) & mask
    }

    @inline(__always)
    private static func bit(ofLength length: Int) -> UInt64 { 1 << UInt64(truncatingIfNeeded: min(length, 63)) }

    /// The edge of an event's key in a table; less than nought for a key that no pattern names there.
    @inline(__always)
    func edge(in table: Int, _ key: UnsafeBufferPointer<UInt8>) -> Int {
        let table = tables[table]
        guard table.lengths & Self.bit(ofLength: key.count) != 0 else { return -1 }
        let head = JSONKeyHead(parsed: key)
        var place = Self.place(of: head, key, mask: Int(table.mask))
        while true {
            let number = Int(slots[Int(table.first) + place])
            guard number >= 0 else { return -1 }
            let edge = edges[number]
            if edge.head == head, key.count <= JSONKeyHead.reach || key.equals(edge.key) { return number }
            place = (place + 1) & Int(table.mask)
        }
    }
}

/// The paths of all fields of all patterns while they are numbered.
struct KeyPaths {
    private struct Node {
        var children: [[UInt8]: Int] = [:]
    }

    /// The root, and behind it each edge of the tree by the path that leads to it.
    private var nodes = [Node()]
    private var order: [Int] = []
    private var numbers: [Int: Int] = [:]
    private var keys: [[UInt8]] = []
    private var ends: [Int] = []

    /// The number of the root among ``parents``.
    static let root = -1

    init(_ paths: some Sequence<[[UInt8]]>) {
        for path in paths {
            var node = 0
            for key in path {
                if let next = nodes[node].children[key] {
                    node = next
                } else {
                    nodes[node].children[key] = nodes.count
                    node = nodes.count
                    nodes.append(Node())
                }
            }
        }
        number(below: 0)
    }

    private mutating func number(below node: Int) {
        for (key, child) in nodes[node].children.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            let number = order.count
            numbers[child] = number
            order.append(child)
            keys.append(key)
            ends.append(0)
            self.number(below: child)
            ends[number] = order.count
        }
    }

    var edges: Range<Int> { order.indices }
    /// The root and all edges that others are below, in order.
    var parents: [Int] { [Self.root] + edges.filter { !nodes[order[$0]].children.isEmpty } }

    func key(of edge: Int) -> [UInt8] { keys[edge] }
    func end(of edge: Int) -> Int { ends[edge] }

    func children(of parent: Int) -> [Int] {
        nodes[parent == Self.root ? 0 : order[parent]].children.values.compactMap { numbers[$0] }
    }

    /// The edge to which a path leads; nil for a path that was not among those given.
    func edge(at path: [[UInt8]]) -> Int? {
        var node = 0
        for key in path {
            guard let next = nodes[node].children[key] else { return nil }
            node = next
        }
        return numbers[node]
    }
}
