import SignalboxJSON

/// The keys of an object that a reader consumes, with the expected type of each value. Two things follow from a
/// schema: a warning for each value of another type, and the rest of the object, which the event keeps for the app.
///
/// Sendable: schemas are constants. Their memory is never changed and never freed. Every payload is compared with
/// several schemas, and reference counting took longer than the comparison.
struct KeySchema: @unchecked Sendable {
    /// The constant memory of one schema.
    fileprivate struct Node {
        /// Ordered by the length of their keys.
        let entries: UnsafePointer<Entry>
        /// The index of the first key of each length.
        let starts: UnsafePointer<Int>
        /// The value of unnamed keys; nil if the app keeps them.
        let others: UnsafePointer<Value>?
        /// A key that is consumed in upper or lower case, and ``Value/any``; nil for none.
        let anyCase: (key: StaticString, value: UnsafePointer<Value>)?
        /// Unnamed keys that ``others`` does not cover.
        let reserved: VendorFields.Reserved
        let isWhole: Bool
        /// True when an object of this schema never has a rest or a wrong type.
        let acceptsAnything: Bool
    }

    /// One key and its expected value.
    fileprivate struct Entry {
        let key: StaticString
        /// Its first eight bytes and its last eight, which distinguish most keys.
        let head, tail: UInt64
        let value: UnsafePointer<Value>

        /// Copies the value to memory that is never freed.
        init(_ key: StaticString, _ value: Value) {
            let bytes = UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
            self.key = key
            self.value = KeySchema.store([value])
            head = bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
            tail = bytes.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }

        /// Compares the rest of a key that has the same first eight bytes and the same length, which exceeds eight.
        func hasTail(of other: UnsafeBufferPointer<UInt8>, _ bytes: UnsafeRawPointer) -> Bool {
            let end = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: other.count - 8, as: UInt64.self))
            return end == tail && (other.count <= 16 || other.equals(key))
        }
    }

    /// Bytes of the longest key of a schema. A longer key of a payload is unnamed without a comparison.
    private static let longestKey = 40
    /// Memory that is written once and never freed.
    private let node: UnsafePointer<Node>

    /// `keys`: of at most 40 bytes each. `others`: the value of every key that is not named; nil to keep such keys
    /// for the app. `anyCase`: a key that is consumed with any value, in upper or lower case, as a field of HTTP.
    /// `reserved`: unnamed keys of the platform, which `others` does not cover. `isWhole`: the event
    /// contains the object unchanged, as a page or as arguments, so that it has no rest. `base`: a schema whose keys
    /// are added, unless `keys` has them.
    init(
        _ keys: KeyValuePairs<StaticString, Value>, extending base: KeySchema? = nil, others: Value? = nil,
        anyCase: StaticString? = nil, reserved: VendorFields.Reserved = .none, isWhole: Bool = false
    ) {
        let own = Set(keys.map { $0.key.description })
        let entries =
            (keys.map { Entry($0.key, $0.value) } + (base?.entries ?? []).filter { !own.contains("\($0.key)") })
            .sorted { $0.key.utf8CodeUnitCount < $1.key.utf8CodeUnitCount }
        precondition(entries.allSatisfy { $0.key.utf8CodeUnitCount <= Self.longestKey }, "A key is too long.")
        let lengths = entries.map(\.key.utf8CodeUnitCount)
        let starts = (0...Self.longestKey + 1).map { length in lengths.count { $0 < length } }
        let others: Value? = isWhole ? .any : others
        node = Self.store([
            Node(
                entries: Self.store(entries), starts: Self.store(starts), others: others.map { Self.store([$0]) },
                anyCase: anyCase.map { ($0, Self.store([.any])) }, reserved: reserved, isWhole: isWhole,
                acceptsAnything: entries.isEmpty && reserved == .none && others?.kind == .any)
        ])
    }

    /// The keys of this schema, for a schema that extends it.
    private var entries: [Entry] {
        Array(UnsafeBufferPointer(start: node.pointee.entries, count: node.pointee.starts[Self.longestKey + 1]))
    }

    /// Copies elements to memory that is never freed.
    fileprivate static func store<Element>(_ elements: [Element]) -> UnsafePointer<Element> {
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: max(elements.count, 1))
        memory.initialize(from: elements, count: elements.count)
        return UnsafePointer(memory)
    }

    /// An object of which the reader consumes every member.
    static let anything = KeySchema([:], others: .any)
    /// An object that the event contains unchanged.
    static let whole = KeySchema([:], isWhole: true)

    /// True when the event contains the object unchanged, so that it has no rest.
    var isWhole: Bool { node.pointee.isWhole }
    /// True when comparing an object with the schema is unnecessary.
    var acceptsAnything: Bool { node.pointee.acceptsAnything }

    /// The expected value of a key of a parsed object; nil if the reader does not consume the key.
    subscript(_ key: UnsafeBufferPointer<UInt8>) -> Value? { value(of: key)?.pointee }

    /// The same without a copy.
    @inline(__always)
    private func value(of key: UnsafeBufferPointer<UInt8>) -> UnsafePointer<Value>? {
        let count = key.count
        guard count <= Self.longestKey, let start = key.baseAddress else { return other(key) }
        let end = node.pointee.entries + node.pointee.starts[count + 1]
        var entry = node.pointee.entries + node.pointee.starts[count]
        guard entry < end else { return other(key) }
        // The parser pads its buffer, so that eight bytes can be read even of a short key.
        let bytes = UnsafeRawPointer(start)
        let mask: UInt64 = count < 8 ? ~(~0 << UInt64(count * 8)) : ~0
        let head = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)) & mask
        while entry < end {
            if entry.pointee.head == head, count <= 8 || entry.pointee.hasTail(of: key, bytes) {
                return entry.pointee.value
            }
            entry += 1
        }
        return other(key)
    }

    /// The expected value of an unnamed key.
    private func other(_ key: UnsafeBufferPointer<UInt8>) -> UnsafePointer<Value>? {
        if case let (name, value)? = node.pointee.anyCase, key.equalsIgnoringCase(name) { return value }
        return node.pointee.reserved.contains(key) ? nil : node.pointee.others
    }

    /// True when an object has no rest and no wrong type.
    func covers(_ object: JSONValue, in parser: JSONParser) -> Bool {
        if acceptsAnything { return true }
        for (key, value) in object.members {
            guard let expected = self.value(of: key), expected.pointee.covers(value, in: parser) else { return false }
        }
        return true
    }
}

extension KeySchema {
    /// The expected type of a value.
    struct Value: Sendable {
        /// The types; the constants of ``KeySchema/Value`` explain them.
        enum Kind: Sendable {
            case any, unread, unreadObject, text, scalar, number, integer, strings, link, date
            case object, objectOrText, objectOrString, list, map
        }

        /// Decides how the value is read, compared and written.
        let kind: Kind
        /// Schema of the object, or of each object in the list or map.
        let schema: KeySchema
        /// True when the reader itself warns of a wrong type.
        var isUnchecked = false
    }
}

extension KeySchema.Value {
    private static let nothing = KeySchema([:])
    /// A type without members.
    private init(_ kind: Kind) { self.init(kind: kind, schema: Self.nothing) }

    /// Consumed, of every type.
    static let any = Self(.any)
    /// Known and not consumed: the event always keeps it.
    static let unread = Self(.unread)
    /// An object that is known and not consumed.
    static let unreadObject = Self(.unreadObject)
    /// A string; an empty one counts as consumed.
    static let text = Self(.text)
    /// A string, number or boolean; see ``SignalboxJSON/JSONValue/scalarText``.
    static let scalar = Self(.scalar)
    /// A number, or a string with the text of a whole one.
    static let number = Self(.number)
    /// A whole number, or a string with the text of one.
    static let integer = Self(.integer)
    /// A list of scalars, or one string instead of it, which may be the JSON text of such a list.
    static let strings = Self(.strings)
    /// A web address; other strings are not consumed.
    static let link = Self(.link)
    /// An ISO 8601 date; other strings are not consumed.
    static let date = Self(.date)

    /// An object whose members have the types of a schema.
    static func object(_ schema: KeySchema) -> Self { Self(kind: .object, schema: schema) }
    /// An object, or a string with the JSON text of one, as in FCM's data.
    static func objectOrText(_ schema: KeySchema) -> Self { Self(kind: .objectOrText, schema: schema) }
    /// An object, or a string instead of it.
    static func objectOrString(_ schema: KeySchema) -> Self { Self(kind: .objectOrString, schema: schema) }
    /// A list of objects.
    static func list(_ schema: KeySchema) -> Self { Self(kind: .list, schema: schema) }
    /// An object of objects, under keys that the sender chooses.
    static func map(_ schema: KeySchema) -> Self { Self(kind: .map, schema: schema) }

    /// The same type, for a key whose reader warns of wrong types itself.
    static func unchecked(_ value: Self) -> Self { Self(kind: value.kind, schema: value.schema, isUnchecked: true) }

    /// True when a value and all its members have the expected types and leave no rest. A null counts as absent.
    func covers(_ value: JSONValue, in parser: JSONParser) -> Bool {
        switch kind {
        case .any: true
        case .text: value.isString || value.isNull
        case .scalar: !value.isObject && !value.isArray
        case .unread, .unreadObject: value.isNull
        case .link: value.isNull || value.utf8?.hasPrefixIgnoringCase("http") == true
        case .date: value.isNull || value.utf8.flatMap { Timestamp(iso8601: $0) } != nil
        case .number, .integer: isType(of: value, in: parser)
        case .strings: isType(of: value, in: parser) && coversElements(of: value, in: parser)
        case .object, .objectOrText, .objectOrString, .list, .map: value.isNull || coversMembers(of: value, in: parser)
        }
    }

    // Loops, because closures would count references to the parser.
    /// The same for a non-null object, list or map.
    private func coversMembers(of value: JSONValue, in parser: JSONParser) -> Bool {
        switch kind {
        case .list:
            guard value.isArray else { return false }
            var position = 0
            for element in value.elements {
                guard position < longestList, element.isObject, schema.covers(element, in: parser) else { return false }
                position += 1
            }
            return true
        case .map:
            guard value.isObject else { return false }
            for (_, member) in value.members {
                guard member.isObject, schema.covers(member, in: parser) else { return false }
            }
            return true
        default:
            if isString(value) { return true }
            guard let object = object(value, in: parser) else { return false }
            return schema.covers(object, in: parser)
        }
    }

    /// True when readers read all elements of a list of arguments.
    private func coversElements(of value: JSONValue, in parser: JSONParser) -> Bool {
        guard let list = parser.argumentList(value) else { return true }
        var position = 0
        for element in list.elements {
            guard position < longestList, element.isArgument else { return false }
            position += 1
        }
        return true
    }

    /// True when a value has the expected type, regardless of its members.
    func isType(of value: JSONValue, in parser: JSONParser) -> Bool {
        guard !value.isNull else { return true }
        return switch kind {
        case .any, .unread: true
        case .text, .link, .date: value.isString
        case .scalar: !value.isObject && !value.isArray
        case .number: value.double != nil || value.number != nil
        case .integer: value.number != nil
        case .strings: value.isArray || value.isString
        case .list: value.isArray
        case .map, .unreadObject: value.isObject
        case .object, .objectOrText, .objectOrString: isString(value) || object(value, in: parser) != nil
        }
    }

    /// The object itself, or the one whose JSON text a string contains if the type allows that.
    func object(_ value: JSONValue, in parser: JSONParser) -> JSONValue? {
        if value.isObject { return value }
        return kind == .objectOrText ? parser.object(value) : nil
    }

    /// True for a string if the type allows one instead of the object.
    private func isString(_ value: JSONValue) -> Bool { kind == .objectOrString && value.isString }

    /// The expected type as a noun phrase for warnings.
    var expectation: String {
        switch kind {
        case .any, .unread: "any value"
        case .text, .link, .date: "a string"
        case .scalar: "a string, a number or a boolean"
        case .number: "a number"
        case .integer: "a whole number"
        case .strings: "a list of strings"
        case .object, .unreadObject: "an object"
        case .objectOrText: "an object, or the JSON text of one"
        case .objectOrString: "a string or an object"
        case .list: "a list of objects"
        case .map: "an object of objects"
        }
    }
}
