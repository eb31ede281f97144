import SignalboxJSON

/// Finds the markers for a key in a time that does not depend on the number of entries: a hash table of the whole keys,
/// and a trie of the key prefixes. Built once for each catalogue. Not a dictionary, because a payload's keys are bytes
/// in the parser's memory, which a lookup must not copy.
struct CatalogueIndex: Sendable {
    /// A whole key.
    private struct Key {
        /// The hash of its head. The hashes of few other keys are equal.
        let hash: UInt64
        /// The bytes in ``CatalogueIndex/texts``.
        let text: Range<Int>
        /// Its part of ``CatalogueIndex/markers``.
        let markers: Range<Int>
    }

    private var keys: [Key] = []
    /// Positions of ``keys`` by the upper bits of their hashes; -1 for none. A collision takes the next free slot. At
    /// most half of the slots are taken.
    private var slots: [Int32]
    /// The bits of a hash that do not choose the slot.
    private let shift: UInt64
    private var texts: [UInt8] = []
    /// The markers of all keys and prefixes.
    private var markers: [Int] = []
    private var prefixes = CataloguePrefixes()

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
        let bits = UInt64.bitWidth - (entries.count * 2 | 1).leadingZeroBitCount
        shift = UInt64(UInt64.bitWidth - bits)
        slots = [Int32](repeating: -1, count: 1 << bits)
        for (key, group) in Dictionary(grouping: entries, by: \.key).sorted(by: {
            $0.key.lexicographicallyPrecedes($1.key)
        })
        where !key.isEmpty {
            let whole = group.filter { !$0.isPrefix }
            let prefix = group.filter(\.isPrefix)
            if !whole.isEmpty { insert(key, list(whole)) }
            if !prefix.isEmpty { prefixes.insert(key, list(prefix)) }
        }
    }

    /// True without an entry.
    var isEmpty: Bool { markers.isEmpty }

    /// Calls `body` with every marker of a key of a parsed object. Calls `body` for prefixes of the key first, the
    /// shortest first, then for the whole key. Several keys of a payload may lead to the same marker.
    @inline(__always)
    func forEachMarker(of key: UnsafeBufferPointer<UInt8>, _ body: (Int) -> Void) {
        prefixes.forEachRange(of: key) { range in
            for position in range { body(markers[position]) }
        }
        let hash = JSONKeyHead(parsed: key).hash
        var slot = Int(truncatingIfNeeded: hash >> shift)
        while slots[slot] >= 0 {
            let known = keys[Int(slots[slot])]
            if known.hash == hash, isText(known.text, key) {
                for position in known.markers { body(markers[position]) }
                return
            }
            slot = (slot + 1) & (slots.count - 1)
        }
    }

    /// True if a part of ``texts`` is this key.
    private func isText(_ range: Range<Int>, _ key: UnsafeBufferPointer<UInt8>) -> Bool {
        texts.withUnsafeBufferPointer { UnsafeBufferPointer(rebasing: $0[range]).equals(key) }
    }

    // MARK: Building

    /// Adds a key that the index does not have.
    private mutating func insert(_ key: [UInt8], _ markers: Range<Int>) {
        let hash = JSONKeyHead(key).hash
        var slot = Int(truncatingIfNeeded: hash >> shift)
        while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = Int32(keys.count)
        keys.append(Key(hash: hash, text: texts.count..<texts.count + key.count, markers: markers))
        texts += key
    }

    /// Adds the markers of some entries and returns their range in ``markers``.
    private mutating func list(_ entries: [Entry]) -> Range<Int> {
        let start = markers.count
        markers += entries.map(\.marker)
        return start..<markers.count
    }
}

/// The key prefixes of a catalogue, each with a range of its markers: a trie in a flat array.
struct CataloguePrefixes: Sendable {
    /// One byte of a prefix. Nodes of one level are linked as siblings.
    private struct Node {
        /// The byte that leads here from the parent.
        let byte: UInt8
        /// The first node of the next level; -1 for none.
        var child: Int32 = -1
        /// The next node of the same level; -1 for none.
        var sibling: Int32 = -1
        /// The markers whose prefix ends at this node.
        var range = 0..<0
    }

    /// All nodes; they refer to each other by position.
    private var nodes: [Node] = []
    /// The first node by the prefix's first byte; no prefix is empty.
    private var starts = [Int32](repeating: -1, count: 256)

    /// Calls `body` with the range of every prefix of a key, the shortest first. Most keys have none, which their
    /// first byte shows.
    @inline(__always)
    func forEachRange(of key: UnsafeBufferPointer<UInt8>, _ body: (Range<Int>) -> Void) {
        guard let first = key.first, starts[Int(first)] >= 0 else { return }
        var node = starts[Int(first)]
        var position = 1
        while node >= 0 {
            let current = nodes[Int(node)]
            if !current.range.isEmpty { body(current.range) }
            guard position < key.count else { return }
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

    /// Adds a prefix of at least one byte.
    mutating func insert(_ prefix: [UInt8], _ range: Range<Int>) {
        var node = starts[Int(prefix[0])]
        if node < 0 {
            node = append(prefix[0])
            starts[Int(prefix[0])] = node
        }
        for byte in prefix.dropFirst() {
            var child = next(nodes[Int(node)].child, byte)
            if child < 0 {
                child = append(byte)
                nodes[Int(child)].sibling = nodes[Int(node)].child
                nodes[Int(node)].child = child
            }
            node = child
        }
        nodes[Int(node)].range = range
    }

    /// Adds a node without relatives and returns its position.
    private mutating func append(_ byte: UInt8) -> Int32 {
        nodes.append(Node(byte: byte))
        return Int32(nodes.count - 1)
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
