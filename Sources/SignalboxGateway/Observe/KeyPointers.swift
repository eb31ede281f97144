import SignalboxJSON

/// The kind of a value of an unread key. Raw values are the words of the API.
package enum KeyType: String, Sendable, CaseIterable {
    case string, number, boolean, null, object, array
    /// Values of several types.
    case mixed
}

/// The keys of a JSON value as JSON Pointers (RFC 6901), without any value.
///
/// Indexes of arrays, and keys that look like identifiers, become `*`: a payload must not turn its data into keys of
/// their own. Bounded in depth, number and length.
struct KeyPointers {
    /// Levels; a deeper value counts as an object or array.
    static let deepest = 8
    /// The most pointers of one value.
    static let most = 500
    /// The most bytes of a pointer; a longer one is cut at a key.
    static let longest = 200
    /// The most bytes of a key that is not an identifier.
    private static let longestKey = 48

    private(set) var found: [String: KeyType] = [:]
    /// Values that were visited: bounds the work on values with equal pointers.
    private var work = 4 * Self.most

    /// The pointers of the leaves of an object.
    static func of(_ value: JSONValue) -> [String: KeyType] {
        var pointers = KeyPointers()
        pointers.visit(value, at: "", depth: 0)
        return pointers.found
    }

    private mutating func visit(_ value: JSONValue, at pointer: String, depth: Int) {
        work -= 1
        guard work > 0 else { return }
        let isLeaf = depth == Self.deepest || value.isEmptyContainer || !(value.isObject || value.isArray)
        if isLeaf { return add(pointer, KeyType(value)) }
        if value.isArray {
            for element in value.elements {
                guard work > 0 else { return }
                visit(element, at: pointer + "/*", depth: depth + 1)
            }
            return
        }
        for (key, member) in value.members {
            guard work > 0 else { return }
            let name = Self.isIdentifier(key) ? "*" : JSONPointer.escape(String(decoding: key, as: UTF8.self))
            guard pointer.utf8.count + 1 + name.utf8.count <= Self.longest else {
                add(pointer, .object)
                continue
            }
            visit(member, at: pointer + "/" + name, depth: depth + 1)
        }
    }

    /// The root itself is not a key.
    private mutating func add(_ pointer: String, _ type: KeyType) {
        guard !pointer.isEmpty else { return }
        if let known = found[pointer] {
            found[pointer] = known.joined(with: type)
        } else if found.count < Self.most {
            found[pointer] = type
        }
    }

    /// Whether a key is data rather than a name: digits, hexadecimal digits, a UUID, an address, or a long text.
    static func isIdentifier(_ key: some Collection<UInt8>) -> Bool {
        guard !key.isEmpty, key.count <= longestKey else { return !key.isEmpty }
        var (digits, run, longestRun, hex, upper, lower) = (0, 0, 0, 0, 0, 0)
        for byte in key {
            // An address, or a text.
            if byte == UInt8(ascii: "@") || byte <= 0x20 || byte == 0x7F { return true }
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            run = isDigit ? run + 1 : 0
            longestRun = max(longestRun, run)
            digits += isDigit ? 1 : 0
            hex += isDigit || (0x61...0x66).contains(byte | 0x20) || byte == UInt8(ascii: "-") ? 1 : 0
            upper += (0x41...0x5A).contains(byte) ? 1 : 0
            lower += (0x61...0x7A).contains(byte) ? 1 : 0
        }
        if digits == key.count || longestRun >= 5 || digits * 2 >= key.count && digits >= 4 { return true }
        if key.count >= 8, hex == key.count, digits > 0 { return true }
        // Base64 and the like.
        return key.count >= 16 && digits >= 2 && upper >= 2 && lower >= 2
    }
}

extension KeyType {
    init(_ value: JSONValue) {
        switch value.kind {
        case .object: self = .object
        case .array: self = .array
        case .string: self = .string
        case .integer, .unsigned, .double: self = .number
        case .bool: self = .boolean
        case .null: self = .null
        }
    }

    /// The type of values of both types; a null does not change it.
    func joined(with other: KeyType) -> KeyType {
        if self == other || other == .null { return self }
        return self == .null ? other : .mixed
    }
}
