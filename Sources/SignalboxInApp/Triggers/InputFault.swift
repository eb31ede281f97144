/// The reason why a request, a message or a policy is rejected.
package struct InputFault: Error, Sendable, Hashable {
    /// Stable; error responses and config diagnostics use the raw value.
    package enum Code: String, Sendable, Hashable {
        /// Bounds of texts, lists, nesting and numbers (``Bounds``).
        case empty, tooLong = "too-long", tooMany = "too-many", nested, outOfRange = "out-of-range"
        /// A word or a name that the policy does not know.
        case unknownLimitKind = "unknown-limit-kind", unknownLimit = "unknown-limit", unknownGroup = "unknown-group"
        case unknownZone = "unknown-zone"
        /// A text pattern that cannot be compiled; two fields that exclude each other.
        case badPattern = "bad-pattern", contradictory
    }

    package let code: Code
    /// JSON Pointer into the request, the message or the section `inapp`.
    package let pointer: String
    /// The allowed values, or the wrong one.
    package let detail: String

    init(_ code: Code, _ pointer: String, _ detail: String) {
        (self.code, self.pointer, self.detail) = (code, pointer, detail)
    }

    /// A name or an id: not empty, at most ``Bounds/nameLength`` bytes.
    static func check(_ name: String, at pointer: String) throws(InputFault) {
        guard !name.isEmpty else { throw InputFault(.empty, pointer, "must not be empty") }
        try check(name, atMost: Bounds.nameLength, at: pointer)
    }

    /// The id of a device or a user. Ids are part of events and logs, so they have no control characters.
    static func check(id: String, at pointer: String) throws(InputFault) {
        try check(id, at: pointer)
        guard id.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw InputFault(.outOfRange, pointer, "an id must not have control characters")
        }
    }

    /// The id of a known user: a valid id that is not one of an anonymous user.
    static func check(user: UserID, at pointer: String) throws(InputFault) {
        try check(id: user, at: pointer)
        guard !AnonymousUser.contains(user) else { throw InputFault(.contradictory, pointer, "a reserved prefix") }
    }

    /// At most `length` bytes of UTF-8.
    static func check(_ text: String, atMost length: Int, at pointer: @autoclosure () -> String) throws(InputFault) {
        guard text.utf8.count <= length else { throw InputFault(.tooLong, pointer(), "more than \(length) bytes") }
    }

    /// At most `most` elements.
    static func check(count: Int, atMost most: Int, at pointer: @autoclosure () -> String) throws(InputFault) {
        guard count <= most else {
            throw InputFault(.tooMany, pointer(), "\(count) elements, at most \(most) are allowed")
        }
    }

    /// Properties of one event: their number, names and values.
    static func check(_ properties: [String: PropertyValue], at pointer: String) throws(InputFault) {
        try check(count: properties.count, atMost: Bounds.properties, at: pointer)
        for (key, value) in properties {
            try check(key, at: pointer)
            // The pointer is made for a fault only: every trigger has properties.
            try check(value, at: pointer + "/" + key.replacing("~", with: "~0").replacing("/", with: "~1"))
        }
    }

    /// One value. Lists hold no lists.
    static func check(
        _ value: PropertyValue, at pointer: @autoclosure () -> String, inList: Bool = false
    ) throws(InputFault) {
        switch value {
        case .text(let text): try check(text, atMost: Bounds.textLength, at: pointer())
        case .list(let elements):
            guard !inList else { throw InputFault(.nested, pointer(), "a list inside a list") }
            try check(count: elements.count, atMost: Bounds.listElements, at: pointer())
            for (index, element) in elements.enumerated() {
                try check(element, at: "\(pointer())/\(index)", inList: true)
            }
        case .boolean, .number, .date: break
        }
    }
}

/// FNV-1a over texts, 64 bits, the same on every node. Not for secrets.
struct Digest {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// Adds one part. "ab" and "c" differ from "a" and "bc".
    mutating func add(_ text: String) { add(text.utf8) }

    /// Adds one part, the UTF-8 of a text.
    mutating func add(_ text: some Sequence<UInt8>) {
        for byte in text { add(byte) }
        // Separates the parts: 0xff is not part of UTF-8.
        add(0xff)
    }

    private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }

    /// The value after the last step of splitmix64. Draws of members use it: without this step, texts that differ only
    /// in their last bytes, such as numbers, have similar values.
    var mixed: UInt64 {
        var mixed = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
