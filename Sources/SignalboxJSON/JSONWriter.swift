/// Writes compact JSON into memory that grows as needed. The writer places commas; the caller alternates keys and
/// values. The writer does not check that brackets match, that keys alternate with values, or that keys differ.
///
/// It does not wrap an array, because the checks of an array at every append cost more than the writing. One owner at a
/// time (`~Copyable`).
@usableFromInline
package struct JSONWriter: ~Copyable, @unchecked Sendable {
    // Sendable: the memory has one owner.
    @usableFromInline var memory: UnsafeMutablePointer<UInt8>
    @usableFromInline var capacity: Int
    @usableFromInline var count = 0
    @usableFromInline var needsComma = false

    /// Placeholder for an empty writer's memory, never written to.
    private nonisolated(unsafe) static let nowhere = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)

    /// Allocates nothing before the first write when no capacity is reserved.
    package init(reservingCapacity capacity: Int = 0) {
        self.capacity = capacity
        memory = capacity > 0 ? .allocate(capacity: capacity) : Self.nowhere
    }

    deinit {
        if capacity > 0 { memory.deallocate() }
    }

    /// True if nothing has been written.
    package var isEmpty: Bool { count == 0 }

    /// A copy of everything written.
    package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: memory, count: count)) }

    /// Calls `body` with everything written, which is valid during the call.
    package borrowing func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// Starts again in the same memory.
    package mutating func removeAll() {
        count = 0
        needsComma = false
    }

    /// Starts again, in the same memory unless it has grown larger than this.
    package mutating func removeAll(keepingAtMost bytes: Int) {
        if capacity > bytes { self = JSONWriter() } else { removeAll() }
    }

    /// A position to which a writer returns if it turns out that nothing belongs there.
    package struct Mark: Equatable {
        fileprivate let count: Int
        fileprivate let needsComma: Bool
    }

    /// The end of everything written so far.
    package var mark: Mark { Mark(count: count, needsComma: needsComma) }

    /// Removes everything written after a mark.
    package mutating func rewind(to mark: Mark) {
        count = mark.count
        needsComma = mark.needsComma
    }

    // MARK: Structure

    /// Begins an object; write keys and values in turn, then ``endObject()``.
    @inlinable package mutating func beginObject() { open(UInt8(ascii: "{")) }
    /// Ends the innermost object.
    @inlinable package mutating func endObject() { close(UInt8(ascii: "}")) }
    /// Begins an array; write its elements, then ``endArray()``.
    @inlinable package mutating func beginArray() { open(UInt8(ascii: "[")) }
    /// Ends the innermost array.
    @inlinable package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// A key without characters to escape.
    @inlinable @inline(__always)
    package mutating func key(_ name: StaticString) {
        let length = name.utf8CodeUnitCount
        reserve(length + 4)
        separate()
        putQuoted(name)
        put(UInt8(ascii: ":"))
        needsComma = false
    }

    /// A key of UTF-8 bytes, escaped as necessary.
    package mutating func key(utf8 name: UnsafeBufferPointer<UInt8>) {
        string(utf8: name)
        reserve(1)
        put(UInt8(ascii: ":"))
        needsComma = false
    }

    /// A key, escaped as necessary.
    package mutating func key(_ name: String) { name.utf8Span.span.withUnsafeBufferPointer { key(utf8: $0) } }

    /// A line end between two values of NDJSON.
    package mutating func newline() {
        reserve(1)
        put(UInt8(ascii: "\n"))
        needsComma = false
    }

    // MARK: Values

    /// A string, escaped as necessary.
    package mutating func string(_ text: String) {
        // Native strings are contiguous; bridged ones are copied.
        guard text.utf8.withContiguousStorageIfAvailable({ string(utf8: $0) }) == nil else { return }
        var text = text
        text.withUTF8 { string(utf8: $0) }
    }

    /// One string made of three parts, without allocating for it.
    package mutating func string(_ first: String, _ second: String, _ third: String) {
        string(first)
        extend(by: second)
        extend(by: third)
    }

    /// Continues the last string in place of its closing quote.
    private mutating func extend(by part: String) {
        count -= 1
        part.utf8Span.span.withUnsafeBufferPointer { bytes in
            reserve(Self.roomToEscape(bytes.count))
            escape(bytes)
        }
        put(UInt8(ascii: "\""))
    }

    /// A string of UTF-8 bytes, escaped as necessary. The bytes are not validated.
    package mutating func string(utf8 text: UnsafeBufferPointer<UInt8>) {
        reserve(Self.roomToEscape(text.count))
        separate()
        put(UInt8(ascii: "\""))
        escape(text)
        put(UInt8(ascii: "\""))
        needsComma = true
    }

    /// A string without characters to escape.
    @inlinable
    package mutating func string(_ text: StaticString) {
        reserve(text.utf8CodeUnitCount + 3)
        separate()
        putQuoted(text)
        needsComma = true
    }

    /// A string of `length` bytes without characters to escape; `write` fills the buffer.
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

    /// A whole number of any width.
    @usableFromInline
    package mutating func integer(_ number: some BinaryInteger) {
        guard let number = Int64(exactly: number) else { return literal(String(number)) }
        decimal(number)
    }

    /// Writes the digits from the last to the first. `String` takes some 500 instructions (callgrind, Swift 6.3).
    private mutating func decimal(_ number: Int64) {
        reserve(21)
        separate()
        if number < 0 { put(UInt8(ascii: "-")) }
        var rest = number.magnitude
        var length = 1
        var limit: UInt64 = 10
        while length < 19, rest >= limit { (length, limit) = (length + 1, limit * 10) }
        for position in stride(from: count + length - 1, through: count, by: -1) {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            memory[position] = UInt8(ascii: "0") + UInt8(digit)
            rest = quotient
        }
        count += length
        needsComma = true
    }

    /// The shortest text that reads back as the same number. Traps for an infinity or NaN: check untrusted numbers
    /// first.
    package mutating func double(_ number: Double) {
        precondition(number.isFinite, "JSON has no infinities and no NaN.")
        literal(number.description)
    }

    /// `true` or `false`.
    package mutating func bool(_ flag: Bool) { literal(flag ? "true" : "false") }
    /// `null`.
    package mutating func null() { literal("null") }

    /// A value that is JSON text already. The writer does not check it.
    package mutating func raw(_ json: [UInt8]) {
        fragment(json)
        needsComma = true
    }

    /// Text of another writer that ends with a key; write the key's value next.
    package mutating func fragment(_ json: [UInt8]) {
        reserve(json.count + 1)
        separate()
        json.withUnsafeBufferPointer { put($0) }
        needsComma = false
    }
}

// MARK: Bytes

extension JSONWriter {
    /// Writes an opening bracket, after a comma if a value precedes it.
    @inlinable
    mutating func open(_ bracket: UInt8) {
        reserve(2)
        separate()
        put(bracket)
        needsComma = false
    }

    /// Writes a closing bracket. A value may follow, so the next one gets a comma.
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

    /// Makes room for `more` bytes. Every `put` needs a reservation.
    @inlinable @inline(__always)
    package mutating func reserve(_ more: Int) {
        if capacity - count < more { grow(by: more) }
    }

    /// At least doubles the capacity, so that writing takes linear time. Allocates at least 256 bytes.
    @usableFromInline @inline(never)
    mutating func grow(by more: Int) {
        let larger = max(capacity * 2, count + more, 256)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        moved.update(from: memory, count: count)
        if capacity > 0 { memory.deallocate() }
        memory = moved
        capacity = larger
    }

    /// Writes the comma that is due. The caller has reserved a byte for it.
    @inlinable @inline(__always)
    mutating func separate() {
        if needsComma { put(UInt8(ascii: ",")) }
    }

    /// Writes a byte without a check of the capacity.
    @inlinable @inline(__always)
    mutating func put(_ byte: UInt8) {
        memory[count] = byte
        count += 1
    }

    /// Writes a text in quotes, unescaped, without a check of the capacity.
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
