/// Writes compact JSON into memory that it owns and that grows as needed. Commas are its business; that keys and values
/// alternate is the caller's.
///
/// Not copyable and not an array: events are written by it, and an array's checks at every append cost more than the
/// writing.
@usableFromInline
package struct JSONWriter: ~Copyable, @unchecked Sendable {
    // Sendable: nobody else has this memory.
    @usableFromInline var memory: UnsafeMutablePointer<UInt8>
    @usableFromInline var capacity: Int
    @usableFromInline var count = 0
    @usableFromInline var needsComma = false

    /// Stands for memory while there is none: nothing is ever written there. Sendable for that reason.
    private nonisolated(unsafe) static let nowhere = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)

    /// With no capacity reserved, no memory is taken until something is written.
    package init(reservingCapacity capacity: Int = 0) {
        self.capacity = capacity
        memory = capacity > 0 ? .allocate(capacity: capacity) : Self.nowhere
    }

    /// True when nothing was written.
    package var isEmpty: Bool { count == 0 }

    deinit {
        if capacity > 0 { memory.deallocate() }
    }

    /// A copy of what was written.
    package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: memory, count: count)) }

    /// Lends what was written.
    package borrowing func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// Starts anew in the same memory.
    package mutating func removeAll() {
        count = 0
        needsComma = false
    }

    // MARK: Structure

    @inlinable package mutating func beginObject() { open(UInt8(ascii: "{")) }
    @inlinable package mutating func endObject() { close(UInt8(ascii: "}")) }
    @inlinable package mutating func beginArray() { open(UInt8(ascii: "[")) }
    @inlinable package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// A key that needs no escaping.
    @inlinable @inline(__always)
    package mutating func key(_ name: StaticString) {
        let length = name.utf8CodeUnitCount
        reserve(length + 4)
        separate()
        putQuoted(name)
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
        name.utf8Span.span.withUnsafeBufferPointer { key(utf8: $0) }
    }

    /// A line end between two top-level values, as NDJSON has it.
    package mutating func newline() {
        reserve(1)
        put(UInt8(ascii: "\n"))
        needsComma = false
    }

    // MARK: Values

    package mutating func string(_ text: String) {
        // Every string of ours is in native memory; others, were there any, would be copied.
        guard text.utf8.withContiguousStorageIfAvailable({ string(utf8: $0) }) == nil else { return }
        var text = text
        text.withUTF8 { string(utf8: $0) }
    }

    /// One string out of several parts.
    package mutating func string(_ first: String, _ more: String...) {
        string(first)
        for part in more {
            // The closing quote gives way to the next part.
            count -= 1
            part.utf8Span.span.withUnsafeBufferPointer { bytes in
                reserve(Self.roomToEscape(bytes.count))
                escape(bytes)
            }
            put(UInt8(ascii: "\""))
        }
    }

    package mutating func string(utf8 text: UnsafeBufferPointer<UInt8>) {
        reserve(Self.roomToEscape(text.count))
        separate()
        put(UInt8(ascii: "\""))
        escape(text)
        put(UInt8(ascii: "\""))
        needsComma = true
    }

    /// A text that needs no escaping.
    @inlinable
    package mutating func string(_ text: StaticString) {
        reserve(text.utf8CodeUnitCount + 3)
        separate()
        putQuoted(text)
        needsComma = true
    }

    /// A text of so many bytes that need no escaping, which `write` puts where it is told.
    @inlinable
    package mutating func string(length: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
        reserve(length + 3)
        separate()
        put(UInt8(ascii: "\""))
        write(UnsafeMutableBufferPointer(start: memory + count, count: length))
        count += length
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
        fragment(json)
        needsComma = true
    }

    package mutating func text(_ json: JSONText) { raw(json.bytes) }

    /// The first part of a value, or members of one, that another writer wrote up to a key: the value of that comes next.
    package mutating func fragment(_ json: [UInt8]) {
        reserve(json.count + 1)
        separate()
        json.withUnsafeBufferPointer { put($0) }
        needsComma = false
    }
}

// MARK: Bytes

extension JSONWriter {
    @inlinable
    mutating func open(_ bracket: UInt8) {
        reserve(2)
        separate()
        put(bracket)
        needsComma = false
    }

    @inlinable
    mutating func close(_ bracket: UInt8) {
        reserve(1)
        put(bracket)
        needsComma = true
    }

    private mutating func literal(_ text: String) {
        text.utf8Span.span.withUnsafeBufferPointer { bytes in
            reserve(bytes.count + 1)
            separate()
            put(bytes)
        }
        needsComma = true
    }

    /// Makes room; whoever puts bytes has reserved them.
    @inlinable @inline(__always)
    mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(by: more) }
    }

    @usableFromInline @inline(never)
    mutating func grow(by more: Int) {
        let larger = max(capacity * 2, count + more, 256)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        moved.update(from: memory, count: count)
        if capacity > 0 { memory.deallocate() }
        memory = moved
        capacity = larger
    }

    @inlinable @inline(__always)
    mutating func separate() {
        if needsComma { put(UInt8(ascii: ",")) }
    }

    @inlinable @inline(__always)
    mutating func put(_ byte: UInt8) {
        memory[count] = byte
        count += 1
    }

    @inlinable @inline(__always)
    mutating func putQuoted(_ text: StaticString) {
        put(UInt8(ascii: "\""))
        (memory + count).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        count += text.utf8CodeUnitCount
        put(UInt8(ascii: "\""))
    }

    private mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        (memory + count).update(from: base, count: bytes.count)
        count += bytes.count
    }
}

// MARK: Escaping

extension JSONWriter {
    /// Room for a quoted text in the worst case, in which every byte becomes an escape of six, for the comma before it,
    /// and for the eight bytes that are written at once where fewer count.
    private static func roomToEscape(_ length: Int) -> Int { length * 6 + 11 }

    /// Copies a text, eight bytes at a time where none of them needs escaping.
    private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
        guard let base = text.baseAddress else { return }
        var source = UnsafeRawPointer(base)
        var left = text.count
        // Kept apart from the writer's own fields, which any byte written might change as far as the compiler knows.
        var target = UnsafeMutableRawPointer(memory + count)
        while left > 0 {
            let word = left >= 8 ? source.loadUnaligned(as: UInt64.self) : Self.lastBytes(source, left)
            let escaped = Self.bytesToEscape(word)
            target.storeBytes(of: word, as: UInt64.self)
            let plain = escaped == 0 ? 8 : escaped.trailingZeroBitCount / 8
            target += plain
            source += plain
            left -= plain
            if escaped != 0, left > 0 {
                target += Self.escape(source.load(as: UInt8.self), into: target)
                source += 1
                left -= 1
            }
        }
        count = target - UnsafeMutableRawPointer(memory)
    }

    /// Up to seven bytes as the first of a word; the rest are zeros, which are not plain.
    @inline(__always)
    private static func lastBytes(_ source: UnsafeRawPointer, _ count: Int) -> UInt64 {
        if count >= 4 {
            let first = UInt64(source.loadUnaligned(as: UInt32.self))
            let last = UInt64(source.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
            return first | last << UInt64((count - 4) * 8)
        }
        let first = UInt64(source.load(as: UInt8.self))
        let middle = UInt64(source.load(fromByteOffset: count / 2, as: UInt8.self))
        let last = UInt64(source.load(fromByteOffset: count - 1, as: UInt8.self))
        return first | middle << UInt64(count / 2 * 8) | last << UInt64((count - 1) * 8)
    }

    /// The highest bit of the first of eight bytes that JSON does not take as it is, and perhaps of some behind it.
    private static func bytesToEscape(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
        let slashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
        let controls = (word &- ones &* 0x20) & ~word
        let hits = controls | ((quotes &- ones) & ~quotes) | ((slashes &- ones) & ~slashes)
        return hits & (ones &* 0x80)
    }

    /// Writes a byte as an escape and says how long that is.
    private static func escape(_ byte: UInt8, into target: UnsafeMutableRawPointer) -> Int {
        let short: UInt8? =
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
            case 0x08: UInt8(ascii: "b")
            case 0x09: UInt8(ascii: "t")
            case 0x0A: UInt8(ascii: "n")
            case 0x0C: UInt8(ascii: "f")
            case 0x0D: UInt8(ascii: "r")
            default: nil
            }
        let escape = target.assumingMemoryBound(to: UInt8.self)
        escape[0] = UInt8(ascii: "\\")
        if let short {
            escape[1] = short
            return 2
        }
        let digits: StaticString = "0123456789abcdef"
        escape[1] = UInt8(ascii: "u")
        escape[2] = UInt8(ascii: "0")
        escape[3] = UInt8(ascii: "0")
        escape[4] = digits.utf8Start[Int(byte >> 4)]
        escape[5] = digits.utf8Start[Int(byte & 0xF)]
        return 6
    }
}
