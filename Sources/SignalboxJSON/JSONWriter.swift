import Foundation

/// Writes compact JSON into memory that it owns and that grows as needed. Commas are its business; that keys and values
/// alternate is the caller's.
///
/// Not copyable and not an array: events are written by it, and an array's checks at every append cost more than the
/// writing.
package struct JSONWriter: ~Copyable {
    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var count = 0
    private var needsComma = false

    /// With no capacity reserved, no memory is taken until something is written.
    package init(reservingCapacity capacity: Int = 0) {
        self.capacity = capacity
        memory = .allocate(capacity: capacity)
    }

    /// True when nothing was written.
    package var isEmpty: Bool { count == 0 }

    deinit { memory.deallocate() }

    /// A copy of what was written.
    package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: memory, count: count)) }

    /// Starts anew in the same memory.
    package mutating func removeAll() {
        count = 0
        needsComma = false
    }

    // MARK: Structure

    package mutating func beginObject() { open(UInt8(ascii: "{")) }
    package mutating func endObject() { close(UInt8(ascii: "}")) }
    package mutating func beginArray() { open(UInt8(ascii: "[")) }
    package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// A key that needs no escaping.
    package mutating func key(_ name: StaticString) {
        reserve(name.utf8CodeUnitCount + 4)
        separate()
        put(UInt8(ascii: "\""))
        put(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        put(UInt8(ascii: "\""))
        put(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Any key, as UTF-8.
    package mutating func key(utf8 name: UnsafeBufferPointer<UInt8>) {
        string(utf8: name)
        reserve(1)
        put(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Any key.
    package mutating func key(_ name: String) {
        var name = name
        name.withUTF8 { key(utf8: $0) }
    }

    /// A line end between two top-level values, as NDJSON has it.
    package mutating func newline() {
        reserve(1)
        put(UInt8(ascii: "\n"))
        needsComma = false
    }

    // MARK: Values

    package mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { string(utf8: $0) }
    }

    /// One string out of several parts.
    package mutating func string(_ first: String, _ more: String...) {
        string(first)
        for part in more {
            // The closing quote gives way to the next part.
            count -= 1
            var part = part
            part.withUTF8 { bytes in
                reserve(bytes.count * 6 + 1)
                escape(bytes)
            }
            put(UInt8(ascii: "\""))
        }
    }

    package mutating func string(utf8 text: UnsafeBufferPointer<UInt8>) {
        // Room for the worst case, in which every byte becomes an escape of six.
        reserve(text.count * 6 + 3)
        separate()
        put(UInt8(ascii: "\""))
        escape(text)
        put(UInt8(ascii: "\""))
        needsComma = true
    }

    /// A text that needs no escaping.
    package mutating func string(_ text: StaticString) {
        reserve(text.utf8CodeUnitCount + 3)
        separate()
        put(UInt8(ascii: "\""))
        put(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        put(UInt8(ascii: "\""))
        needsComma = true
    }

    /// An array of strings.
    package mutating func strings(_ texts: [String]) {
        beginArray()
        for text in texts { string(text) }
        endArray()
    }

    package mutating func integer(_ number: some BinaryInteger) { literal(String(number)) }

    /// The shortest text that reads back as the same number. Not for infinities or NaN, which JSON cannot say.
    package mutating func double(_ number: Double) {
        precondition(number.isFinite, "JSON has no infinities and no NaN.")
        literal(number.description)
    }

    package mutating func bool(_ flag: Bool) { literal(flag ? "true" : "false") }
    package mutating func null() { literal("null") }

    /// A value that is JSON already.
    package mutating func raw(_ json: [UInt8]) {
        reserve(json.count + 1)
        separate()
        json.withUnsafeBufferPointer { put($0) }
        needsComma = true
    }

    package mutating func text(_ json: JSONText) { raw(json.bytes) }

    // MARK: Bytes

    private mutating func open(_ bracket: UInt8) {
        reserve(2)
        separate()
        put(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        reserve(1)
        put(bracket)
        needsComma = true
    }

    private mutating func literal(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            reserve(bytes.count + 1)
            separate()
            put(bytes)
        }
        needsComma = true
    }

    /// Makes room; whoever puts bytes has reserved them.
    private mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(by: more) }
    }

    private mutating func grow(by more: Int) {
        let larger = max(capacity * 2, count + more, 256)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        moved.update(from: memory, count: count)
        memory.deallocate()
        memory = moved
        capacity = larger
    }

    private mutating func separate() {
        if needsComma { put(UInt8(ascii: ",")) }
    }

    private mutating func put(_ byte: UInt8) {
        memory[count] = byte
        count += 1
    }

    private mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        (memory + count).update(from: base, count: bytes.count)
        count += bytes.count
    }

    /// Copies a text, eight bytes at a time where none of them needs escaping.
    private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
        guard let base = text.baseAddress else { return }
        let raw = UnsafeRawPointer(base)
        var cursor = 0
        while cursor + 8 <= text.count {
            let word = raw.loadUnaligned(fromByteOffset: cursor, as: UInt64.self)
            let plain = Self.plainBytes(word)
            UnsafeMutableRawPointer(memory + count).storeBytes(of: word, as: UInt64.self)
            count += plain
            cursor += plain
            if plain < 8 {
                escape(base[cursor])
                cursor += 1
            }
        }
        while cursor < text.count {
            let byte = base[cursor]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                escape(byte)
            } else {
                put(byte)
            }
            cursor += 1
        }
    }

    /// How many of eight bytes, from the first on, JSON takes as they are.
    private static func plainBytes(_ word: UInt64) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let slashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let controls = (word &- ones &* 0x20) & ~word
        let hits = controls | ((quotes &- ones) & ~quotes) | ((slashes &- ones) & ~slashes)
        return (hits & (ones &* 0x80)).trailingZeroBitCount / 8
    }

    private mutating func escape(_ byte: UInt8) {
        put(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): put(byte)
        case 0x08: put(UInt8(ascii: "b"))
        case 0x09: put(UInt8(ascii: "t"))
        case 0x0A: put(UInt8(ascii: "n"))
        case 0x0C: put(UInt8(ascii: "f"))
        case 0x0D: put(UInt8(ascii: "r"))
        default:
            let digits: StaticString = "0123456789abcdef"
            for digit in [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0")] { put(digit) }
            put(digits.utf8Start[Int(byte >> 4)])
            put(digits.utf8Start[Int(byte & 0xF)])
        }
    }
}
