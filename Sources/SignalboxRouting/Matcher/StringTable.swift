import SignalboxJSON

/// A hash table from strings to posting lists: open addressing with linear probing, at most a third full. A lookup
/// takes time linear in the string, however many strings there are.
///
/// Senders choose the strings that are looked up, but only the config chooses those in the table. A lookup therefore
/// never probes further than the longest cluster of the config's own strings.
struct StringTable: BitwiseCopyable {
    /// An entry of the hash table.
    private struct Slot: BitwiseCopyable {
        var hash: UInt32 = 0
        /// In `bytes`.
        var key = Run()
        /// Empty in a free slot.
        var postings = Run()
    }

    private let slots: UnsafeBufferPointer<Slot>
    /// The keys of all slots, one after another.
    private let bytes: UnsafeBufferPointer<UInt8>

    /// `lists`: the candidates of each string, appended to `candidates`. Nil if there are no strings. Empty posting
    /// lists are not allowed, because they mark free slots.
    init?(_ lists: [[UInt8]: [Candidate]], _ candidates: inout [Candidate], in arena: Arena) {
        guard !lists.isEmpty else { return nil }
        var capacity = 4
        while capacity < lists.count * 3 { capacity *= 2 }
        var slots = [Slot](repeating: Slot(), count: capacity)
        var bytes: [UInt8] = []
        for (string, list) in lists {
            let hash = string.withUnsafeBufferPointer { Self.hash($0) }
            var position = Int(hash) & (capacity - 1)
            while !slots[position].postings.isEmpty { position = (position + 1) & (capacity - 1) }
            slots[position] = Slot(hash: hash, key: bytes.appendRun(string), postings: candidates.appendRun(list))
        }
        self.slots = arena.store(slots)
        self.bytes = arena.store(bytes)
    }

    /// The posting list of a string; empty if the string is not in the table. The table is never full, so the search
    /// ends at a free slot.
    func postings(of string: UnsafeBufferPointer<UInt8>) -> Run {
        let hash = Self.hash(string)
        var position = Int(hash) & (slots.count - 1)
        while true {
            let slot = slots[position]
            let isFound = slot.hash == hash && UnsafeBufferPointer(rebasing: bytes[slot.key.range]).equals(string)
            if isFound || slot.postings.isEmpty { return slot.postings }
            position = (position + 1) & (slots.count - 1)
        }
    }

    /// Mixes eight bytes at a time; the last eight may overlap those before. Not seeded: it need not resist
    /// collisions, because the config chooses the stored strings.
    @inline(__always)
    static func hash(_ string: UnsafeBufferPointer<UInt8>) -> UInt32 {
        let raw = UnsafeRawBufferPointer(string)
        var hash = UInt64(string.count)
        var last: UInt64 = 0
        if string.count >= 8 {
            var cursor = 0
            while cursor + 8 < string.count {
                hash = mixed(hash ^ raw.loadUnaligned(fromByteOffset: cursor, as: UInt64.self))
                cursor += 8
            }
            last = raw.loadUnaligned(fromByteOffset: string.count - 8, as: UInt64.self)
        } else {
            for byte in string { last = last << 8 | UInt64(byte) }
        }
        hash = mixed(hash ^ last)
        return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
    }

    /// The two halves of a product of 128 bits, combined; as in the hash function wyhash.
    @inline(__always)
    private static func mixed(_ word: UInt64) -> UInt64 {
        let product = (word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}
