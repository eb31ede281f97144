import SignalboxJSON

/// Finds what belongs to a text among any number of texts, in time that depends only on the text's length.
struct ByteTable: BitwiseCopyable {
    private struct Slot: BitwiseCopyable {
        var hash: UInt32 = 0
        /// The greatest number: the slot is free.
        var length = UInt32.max
        var offset: UInt32 = 0
        var posting = Posting()
    }

    private let slots: UnsafeBufferPointer<Slot>
    private let bytes: UnsafeBufferPointer<UInt8>

    /// Nil for no texts.
    init?(_ texts: [[UInt8]: [UInt32]], _ postings: inout Postings, in arena: Arena) {
        guard !texts.isEmpty else { return nil }
        var capacity = 4
        while capacity < texts.count * 2 { capacity *= 2 }
        var slots = [Slot](repeating: Slot(), count: capacity)
        var bytes: [UInt8] = []
        for (text, candidates) in texts {
            let hash = text.withUnsafeBufferPointer { Self.hash($0) }
            var place = Int(hash) & (capacity - 1)
            while slots[place].length != .max { place = (place + 1) & (capacity - 1) }
            slots[place] = Slot(
                hash: hash, length: UInt32(text.count), offset: UInt32(bytes.count), posting: postings.add(candidates))
            bytes += text
        }
        self.slots = arena.keep(slots)
        self.bytes = arena.keep(bytes)
    }

    func posting(of text: UnsafeBufferPointer<UInt8>) -> Posting? {
        let hash = Self.hash(text)
        var place = Int(hash) & (slots.count - 1)
        while true {
            let slot = slots[place]
            if slot.length == .max { return nil }
            if slot.hash == hash, text.equals(self.text(of: slot)) { return slot.posting }
            place = (place + 1) & (slots.count - 1)
        }
    }

    @inline(__always)
    private func text(of slot: Slot) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[Int(slot.offset)..<Int(slot.offset + slot.length)])
    }

    /// Eight bytes at a time; the last eight may overlap those before. Whoever makes texts that collide chooses from
    /// outside what is looked up, never what is in the table.
    @inline(__always)
    private static func hash(_ text: UnsafeBufferPointer<UInt8>) -> UInt32 {
        let raw = UnsafeRawBufferPointer(text)
        var hash = UInt64(text.count) &* 0x9E37_79B9_7F4A_7C15
        if text.count >= 8 {
            var cursor = 0
            while cursor + 8 < text.count {
                hash = mixed(hash ^ raw.loadUnaligned(fromByteOffset: cursor, as: UInt64.self))
                cursor += 8
            }
            hash = mixed(hash ^ raw.loadUnaligned(fromByteOffset: text.count - 8, as: UInt64.self))
        } else {
            var word: UInt64 = 0
            for byte in text { word = word << 8 | UInt64(byte) }
            hash = mixed(hash ^ word)
        }
        return UInt32(truncatingIfNeeded: hash >> 32)
    }

    @inline(__always)
    private static func mixed(_ word: UInt64) -> UInt64 {
        let product = word.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}
