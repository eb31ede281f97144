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
    /// Bits of eight bytes that do not count.
    private let ignored: UInt64

    /// The bit in which letters of ASCII differ by case; of other bytes it makes a few alike.
    static let caseBit: UInt64 = 0x2020_2020_2020_2020

    /// `ignoring`: bits of each byte that do not count. Nil for no texts.
    init?(
        _ texts: [[UInt8]: [UInt32]], ignoring ignored: UInt64 = 0, _ postings: inout Postings, in arena: Arena
    ) {
        guard !texts.isEmpty else { return nil }
        var lists: [[UInt8]: [UInt32]] = [:]
        for (text, candidates) in texts { lists[text.map { $0 | UInt8(ignored & 0xFF) }, default: []] += candidates }
        var capacity = 4
        while capacity < lists.count * 3 { capacity *= 2 }
        var slots = [Slot](repeating: Slot(), count: capacity)
        var bytes: [UInt8] = []
        for (text, candidates) in lists {
            let hash = text.withUnsafeBufferPointer { Self.hash($0, ignoring: ignored) }
            var place = Int(hash) & (capacity - 1)
            while slots[place].length != .max { place = (place + 1) & (capacity - 1) }
            slots[place] = Slot(
                hash: hash, length: UInt32(text.count), offset: UInt32(bytes.count), posting: postings.add(candidates))
            bytes += text
        }
        self.slots = arena.keep(slots)
        self.bytes = arena.keep(bytes)
        self.ignored = ignored
    }

    /// Of no candidates when the text is not there.
    func posting(of text: UnsafeBufferPointer<UInt8>) -> Posting {
        let hash = Self.hash(text, ignoring: ignored)
        var place = Int(hash) & (slots.count - 1)
        while true {
            let slot = slots[place]
            if slot.length == .max { return Posting() }
            if slot.hash == hash, isSame(slot, text) { return slot.posting }
            place = (place + 1) & (slots.count - 1)
        }
    }

    /// Eight bytes at a time, since a call costs as much as comparing most texts.
    @inline(__always)
    private func isSame(_ slot: Slot, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard Int(slot.length) == text.count else { return false }
        let (own, other) = (UnsafeRawBufferPointer(bytes), UnsafeRawBufferPointer(text))
        let start = Int(slot.offset)
        var cursor = 0
        while cursor + 8 <= text.count {
            guard Self.word(own, start + cursor) == Self.word(other, cursor) | ignored else { return false }
            cursor += 8
        }
        if text.count >= 8 {
            return Self.word(own, start + text.count - 8) == Self.word(other, text.count - 8) | ignored
        }
        while cursor < text.count {
            guard own[start + cursor] == other[cursor] | UInt8(truncatingIfNeeded: ignored) else { return false }
            cursor += 1
        }
        return true
    }

    /// Sixteen bytes at a time; the last ones may overlap those before. Whoever makes texts that collide chooses from
    /// outside what is looked up, never what is in the table.
    @inline(__always)
    static func hash(_ text: UnsafeBufferPointer<UInt8>, ignoring ignored: UInt64 = 0) -> UInt32 {
        let raw = UnsafeRawBufferPointer(text)
        var hash = UInt64(text.count)
        if text.count >= 8 {
            var cursor = 0
            while cursor + 16 < text.count {
                hash = mixed(hash ^ (word(raw, cursor) | ignored), word(raw, cursor + 8) | ignored)
                cursor += 16
            }
            let last = word(raw, text.count - 8) | ignored
            hash = mixed(hash ^ (word(raw, min(cursor, text.count - 8)) | ignored), last)
        } else {
            var word: UInt64 = 0
            for byte in text { word = word << 8 | UInt64(byte) }
            hash = mixed(hash, word | ignored)
        }
        return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
    }

    @inline(__always)
    private static func word(_ raw: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    @inline(__always)
    private static func mixed(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = (left ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: right ^ 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}
