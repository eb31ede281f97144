/// Writes compact JSON into bytes. Commas are its business; that keys and values alternate is the caller's.
package struct JSONWriter: Sendable {
    package private(set) var bytes: [UInt8] = []
    @usableFromInline var needsComma = false

    package init(reservingCapacity capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    /// Starts anew in the same memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    // MARK: Structure

    package mutating func beginObject() { open(UInt8(ascii: "{")) }
    package mutating func endObject() { close(UInt8(ascii: "}")) }
    package mutating func beginArray() { open(UInt8(ascii: "[")) }
    package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// A key that needs no escaping.
    package mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Any key, as UTF-8.
    package mutating func key(utf8 name: UnsafeBufferPointer<UInt8>) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Any key.
    package mutating func key(_ name: String) {
        var name = name
        name.withUTF8 { key(utf8: $0) }
    }

    /// A line end between two top-level values, as NDJSON has it.
    package mutating func newline() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    // MARK: Values

    package mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { string(utf8: $0) }
    }

    package mutating func string(utf8 text: UnsafeBufferPointer<UInt8>) {
        separate()
        quote(text)
        needsComma = true
    }

    package mutating func string(_ text: StaticString) {
        string(utf8: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package mutating func integer(_ number: some BinaryInteger) {
        literal(String(number))
    }

    /// The shortest text that reads back as the same number. Not for infinities or NaN, which JSON cannot say.
    package mutating func double(_ number: Double) {
        precondition(number.isFinite, "JSON has no infinities and no NaN.")
        literal(number.description)
    }

    package mutating func bool(_ flag: Bool) { literal(flag ? "true" : "false") }
    package mutating func null() { literal("null") }

    /// A value that is JSON already.
    package mutating func raw(_ json: [UInt8]) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    package mutating func text(_ json: JSONText) { raw(json.bytes) }

    /// A value of a parsed document with all that is in it; of repeated keys only the last is written.
    package mutating func value(_ value: JSONValue) {
        switch value.kind {
        case .object:
            beginObject()
            for (key, member) in value.members where !value.repeats(key, after: member) {
                self.key(utf8: key)
                self.value(member)
            }
            endObject()
        case .array:
            beginArray()
            for element in value.elements { self.value(element) }
            endArray()
        case .string: string(utf8: value.stringBytes)
        case .integer: integer(Int64(bitPattern: value.tape[value.index + 1]))
        case .unsigned: integer(value.tape[value.index + 1])
        case .double: double(Double(bitPattern: value.tape[value.index + 1]))
        case .bool: bool(value.bool == true)
        case .null: null()
        }
    }

    // MARK: Bytes

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func literal(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
        needsComma = true
    }

    private mutating func quote(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        var start = 0
        var cursor = text.plainPrefix(from: 0)
        while cursor < text.count {
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<cursor]))
            escape(text[cursor])
            start = cursor + 1
            cursor = text.plainPrefix(from: start)
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        default:
            let digits: StaticString = "0123456789abcdef"
            bytes.append(contentsOf: [
                UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0"),
                digits.utf8Start[Int(byte >> 4)], digits.utf8Start[Int(byte & 0xF)],
            ])
        }
    }
}

extension JSONValue {
    /// True when the same key stands again behind this member. Small objects are searched in place; a large one is only
    /// looked at up to a bound, so that a hostile object costs no more than its size: its repeats stay in the copy.
    fileprivate func repeats(_ key: UnsafeBufferPointer<UInt8>, after member: JSONValue) -> Bool {
        var cursor = member.next
        let end = next - 1
        var looked = 0
        while cursor < end, looked < 64 {
            if at(cursor).stringBytes.equals(key) { return true }
            cursor = at(cursor + 1).next
            looked += 1
        }
        return false
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The first position at or after `start` of a byte that JSON wants escaped, eight bytes at a time.
    fileprivate func plainPrefix(from start: Int) -> Int {
        guard let base = baseAddress else { return 0 }
        let raw = UnsafeRawPointer(base)
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        var cursor = start
        while cursor + 8 <= count {
            let word = raw.loadUnaligned(fromByteOffset: cursor, as: UInt64.self)
            let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
            let slashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            let controls = (word &- ones &* 0x20) & ~word
            let hit = (controls | ((quotes &- ones) & ~quotes) | ((slashes &- ones) & ~slashes)) & highs
            if hit != 0 { return cursor + hit.trailingZeroBitCount / 8 }
            cursor += 8
        }
        while cursor < count {
            let byte = base[cursor]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return cursor }
            cursor += 1
        }
        return count
    }
}
