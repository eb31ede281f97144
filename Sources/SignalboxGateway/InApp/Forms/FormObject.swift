import SignalboxInApp
import SignalboxJSON

/// An object of a form, whose members are all known and appear once. Reads members by type; every fault names the
/// member.
/// Valid as long as the parser's document, so during the call of ``FormDocument/read(_:upTo:_:)`` only. It copies
/// the strings that it returns.
struct FormObject {
    /// The object itself, for members that are read by their own types.
    let value: JSONValue
    /// JSON Pointer to this object.
    let pointer: String

    /// Throws for any other JSON type, for a member that is not in `keys`, and for a repeated member. Reads at most
    /// one member more than there are keys.
    init(_ value: JSONValue, at pointer: String, _ keys: [StaticString]) throws(FormFault) {
        (self.value, self.pointer) = (value, pointer)
        guard value.isObject else { throw .wrongType(pointer, "an object") }
        // A bit for each key: no form has more than 64.
        var seen: UInt64 = 0
        for (key, _) in value.members {
            guard let index = keys.firstIndex(where: { key.equals($0) }) else {
                throw Self.unknown(key, at: pointer, keys)
            }
            let bit = UInt64(1) << UInt64(index)
            guard seen & bit == 0 else {
                throw FormFault(
                    FormFault.Code.repeatedMember, "\(pointer)/\(keys[index])",
                    "\(keys[index]) appears twice: keep one of them.")
            }
            seen |= bit
        }
    }

    /// Names the known members, because most unknown ones are misspelled.
    private static func unknown(
        _ key: UnsafeBufferPointer<UInt8>, at pointer: String, _ keys: [StaticString]
    ) -> FormFault {
        // A long key is not repeated in full.
        guard key.count <= Bounds.nameLength else {
            return FormFault(
                FormFault.Code.unknownMember, pointer, "A member's name has more than \(Bounds.nameLength) bytes.")
        }
        let name = String(decoding: key, as: UTF8.self)
        let known = keys.map(\.description).joined(separator: ", ")
        return FormFault(
            FormFault.Code.unknownMember, pointer + "/" + JSONPointer.escape(name),
            "Unknown member \"\(name)\"; known members: \(known).")
    }

    /// JSON Pointer to a member, whether it exists or not.
    /// Members of the forms need no escaping.
    func pointer(_ key: StaticString) -> String { "\(pointer)/\(key)" }

    /// Nil for an absent member. A member with `null` has a value, which has the wrong type for most readers.
    subscript(_ key: StaticString) -> JSONValue? { value[key] }

    /// The value of a member that must be there.
    /// `value`: as another reader returned it.
    func required<Value>(_ key: StaticString, _ value: Value?) throws(FormFault) -> Value {
        guard let value else { throw FormFault(FormFault.Code.missing, pointer(key), "\(key) is missing: add it.") }
        return value
    }

    // MARK: Scalars

    /// A string that is not empty.
    /// Nil for an absent member. `limit`: bytes of UTF-8. Throws for an empty string, because it never is a name.
    func text(_ key: StaticString, upTo limit: Int = Bounds.nameLength) throws(FormFault) -> String? {
        guard let value = self[key] else { return nil }
        return try Self.text(value, at: pointer(key), upTo: limit)
    }

    static func text(
        _ value: JSONValue, at pointer: @autoclosure () -> String, upTo limit: Int = Bounds.nameLength
    ) throws(FormFault) -> String {
        guard let bytes = value.utf8 else { throw .wrongType(pointer(), "a string") }
        guard !bytes.isEmpty else {
            throw FormFault(.empty, pointer(), "This string is empty: leave the member out or give it a value.")
        }
        guard bytes.count <= limit else {
            throw FormFault(.tooLong, pointer(), "This string has \(bytes.count) bytes; at most \(limit) are allowed.")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A string, or a whole number as its decimal digits: some vendors write ids as numbers. Nil for an absent member.
    func identifier(_ key: StaticString) throws(FormFault) -> String? {
        guard let value = self[key] else { return nil }
        if let number = value.integer { return String(number) }
        guard value.isString else { throw .wrongType(pointer(key), "a string or a whole number") }
        return try Self.text(value, at: pointer(key))
    }

    /// Nil for an absent member. Throws for anything but `true` and `false`, including 0 and 1.
    func flag(_ key: StaticString) throws(FormFault) -> Bool? {
        guard let value = self[key] else { return nil }
        guard let flag = value.bool else { throw .wrongType(pointer(key), "true or false") }
        return flag
    }

    /// Nil for an absent member. Accepts `5.0` as 5. Throws for a fraction, and for a number outside the range.
    func integer(_ key: StaticString, in range: ClosedRange<Int>) throws(FormFault) -> Int? {
        guard let value = self[key] else { return nil }
        var expected: String { "a whole number from \(range.lowerBound) to \(range.upperBound)" }
        guard value.double != nil else { throw .wrongType(pointer(key), expected) }
        guard let number = value.integer, let number = Int(exactly: number), range.contains(number) else {
            throw FormFault(.outOfRange, pointer(key), "Expected \(expected).")
        }
        return number
    }

    /// One of these words.
    /// Nil for an absent member. Throws with the list of known words for any other one; upper and lower case differ.
    func choice<Choice: RawRepresentable<String>>(
        _ key: StaticString, _ choices: [Choice]
    ) throws(FormFault) -> Choice? {
        guard let value = self[key] else { return nil }
        return try Self.choice(value, at: pointer(key), choices)
    }

    /// An object whose member `type` decides which others it may have. Throws for a missing or unknown type, and for
    /// members of another one. `members`: those of a type.
    static func typed<Choice: RawRepresentable<String>>(
        _ value: JSONValue, at pointer: String, _ types: [Choice], _ members: (Choice) -> [StaticString]
    ) throws(FormFault) -> (type: Choice, object: FormObject) {
        guard value.isObject else { throw .wrongType(pointer, "an object") }
        guard let word = value["type"] else {
            throw FormFault(FormFault.Code.missing, pointer + "/type", "type is missing: add it.")
        }
        let type = try choice(word, at: pointer + "/type", types)
        return (type, try FormObject(value, at: pointer, ["type"] + members(type)))
    }

    /// The same for a value that is not a member, such as an element of an array.
    static func choice<Choice: RawRepresentable<String>>(
        _ value: JSONValue, at pointer: @autoclosure () -> String, _ choices: [Choice]
    ) throws(FormFault) -> Choice {
        var known: String { choices.map(\.rawValue).joined(separator: ", ") }
        guard let bytes = value.utf8 else { throw .wrongType(pointer(), "one of \(known)") }
        // No choice is longer, so no long string is copied.
        let word = bytes.count <= 64 ? String(decoding: bytes, as: UTF8.self) : ""
        guard let choice = choices.first(where: { $0.rawValue == word }) else {
            throw FormFault(FormFault.Code.invalidValue, pointer(), "Expected one of \(known).")
        }
        return choice
    }

    // MARK: Containers

    /// Nil for an absent member. Throws for a member of the object that is not in `keys`.
    func object(_ key: StaticString, _ keys: [StaticString]) throws(FormFault) -> FormObject? {
        guard let value = self[key] else { return nil }
        return try FormObject(value, at: pointer(key), keys)
    }

    /// Nil for an absent member. `read` receives each element with its pointer, in their order.
    func list<Element>(
        _ key: StaticString, upTo limit: Int = Bounds.listElements,
        _ read: (JSONValue, String) throws(FormFault) -> Element
    ) throws(FormFault) -> [Element]? {
        guard let value = self[key] else { return nil }
        return try Self.list(value, at: pointer(key), upTo: limit, read)
    }

    /// An array of at most `limit` elements; stops at the first one beyond.
    /// A list beyond the limit costs no more than one within it.
    static func list<Element>(
        _ value: JSONValue, at pointer: String, upTo limit: Int,
        _ read: (JSONValue, String) throws(FormFault) -> Element
    ) throws(FormFault) -> [Element] {
        guard value.isArray else { throw .wrongType(pointer, "an array") }
        var elements: [Element] = []
        for element in value.elements {
            guard elements.count < limit else { throw .tooMany(pointer, limit) }
            elements.append(try read(element, "\(pointer)/\(elements.count)"))
        }
        return elements
    }

    /// Strings that are not empty. `length`: the most bytes of each.
    func texts(
        _ key: StaticString, upTo limit: Int = Bounds.listElements, length: Int = Bounds.nameLength
    ) throws(FormFault) -> [String]? {
        try list(key, upTo: limit) { (value, pointer) throws(FormFault) in
            try Self.text(value, at: pointer, upTo: length)
        }
    }

    /// The members of an object with names that the form does not fix, each name once. `length`: the most bytes of a
    /// name. Throws for an empty or repeated name, and for more than `limit` names.
    static func map<Value>(
        _ value: JSONValue, at pointer: String, upTo limit: Int, length: Int = Bounds.nameLength,
        _ read: (JSONValue, String) throws(FormFault) -> Value
    ) throws(FormFault) -> [String: Value] {
        guard value.isObject else { throw .wrongType(pointer, "an object") }
        var values: [String: Value] = [:]
        for (key, member) in value.members {
            guard !key.isEmpty, key.count <= length else {
                throw FormFault(key.isEmpty ? .empty : .tooLong, pointer, "A name must have 1 to \(length) bytes.")
            }
            guard values.count < limit else { throw .tooMany(pointer, limit) }
            let name = String(decoding: key, as: UTF8.self)
            let place = pointer + "/" + JSONPointer.escape(name)
            guard values.updateValue(try read(member, place), forKey: name) == nil else {
                throw FormFault(FormFault.Code.repeatedMember, place, "This name appears twice: keep one of them.")
            }
        }
        return values
    }
}

/// Faults that every reader has.
extension FormFault {
    /// `expected`: with its article, such as "a string".
    static func wrongType(_ pointer: String, _ expected: String) -> FormFault {
        FormFault(Code.wrongType, pointer, "Expected \(expected).")
    }

    /// `limit`: the number of permitted elements.
    static func tooMany(_ pointer: String, _ limit: Int) -> FormFault {
        FormFault(.tooMany, pointer, "More than \(limit) elements: send fewer.")
    }
}
