import SignalboxJSON

/// What is read of an object: its keys, and of which type the value of each is. From it follow a warning for what is of
/// another type, and what is kept for the app because nobody read it.
///
/// Sendable: shapes are constants. They lie in memory that is never changed and never given back: every payload is compared with
/// several, and counting references to them cost more than comparing.
struct Shape: @unchecked Sendable {
    fileprivate struct Node {
        /// In the order of their keys' lengths.
        let entries: UnsafePointer<Entry>
        /// Where the keys of each length begin.
        let starts: UnsafePointer<Int>
        let others: UnsafePointer<Value>?
        let reserved: VendorFields.Reserved
        let isWhole: Bool
        /// True when no object of this shape leaves anything over or has a wrong type in it.
        let takesAnything: Bool
    }

    fileprivate struct Entry {
        let key: StaticString
        /// Its first eight bytes and its last, by which most keys are told apart.
        let head, tail: UInt64
        let value: UnsafePointer<Value>

        init(_ key: StaticString, _ value: Value) {
            let bytes = UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
            self.key = key
            self.value = Shape.keep([value])
            head = bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
            tail = bytes.suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }

        /// True when a key of the same length, more than eight, that begins like this one also ends like it.
        func hasTail(of other: UnsafeBufferPointer<UInt8>, _ bytes: UnsafeRawPointer) -> Bool {
            let end = UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: other.count - 8, as: UInt64.self))
            return end == tail && (other.count <= 16 || other.equals(key))
        }
    }

    private static let longestKey = 40
    private let node: UnsafePointer<Node>

    /// Keys have at most 40 characters. `others`: what holds for those that are not named; nil keeps them. `reserved`: those
    /// of them that are kept nevertheless. `isWhole`: an object of this shape is kept as it is, as a page or as arguments,
    /// so that nothing of it is left over.
    init(
        _ keys: KeyValuePairs<StaticString, Value>, others: Value? = nil, reserved: VendorFields.Reserved = .none,
        isWhole: Bool = false
    ) {
        let entries = keys.map { Entry($0.key, $0.value) }
            .sorted { $0.key.utf8CodeUnitCount < $1.key.utf8CodeUnitCount }
        precondition(entries.allSatisfy { $0.key.utf8CodeUnitCount <= Self.longestKey }, "A key is too long.")
        let lengths = entries.map(\.key.utf8CodeUnitCount)
        let starts = (0...Self.longestKey + 1).map { length in lengths.count { $0 < length } }
        let others: Value? = isWhole ? .any : others
        node = Self.keep([
            Node(
                entries: Self.keep(entries), starts: Self.keep(starts), others: others.map { Self.keep([$0]) },
                reserved: reserved, isWhole: isWhole,
                takesAnything: entries.isEmpty && reserved == .none && others?.kind == .any)
        ])
    }

    fileprivate static func keep<Element>(_ elements: [Element]) -> UnsafePointer<Element> {
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: max(elements.count, 1))
        memory.initialize(from: elements, count: elements.count)
        return UnsafePointer(memory)
    }

    var isWhole: Bool { node.pointee.isWhole }
    var takesAnything: Bool { node.pointee.takesAnything }

    /// The value that a key of a parsed object should have; nil when it is not read.
    subscript(_ key: UnsafeBufferPointer<UInt8>) -> Value? { value(of: key)?.pointee }

    /// As above, without a copy.
    @inline(__always)
    private func value(of key: UnsafeBufferPointer<UInt8>) -> UnsafePointer<Value>? {
        let count = key.count
        guard count <= Self.longestKey, let start = key.baseAddress else { return other(key) }
        let end = node.pointee.entries + node.pointee.starts[count + 1]
        var entry = node.pointee.entries + node.pointee.starts[count]
        guard entry < end else { return other(key) }
        // The parser's buffer is padded, so that eight bytes can be read of the shortest key.
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

    /// What holds for a key that is not named.
    private func other(_ key: UnsafeBufferPointer<UInt8>) -> UnsafePointer<Value>? {
        node.pointee.reserved.contains(key) ? nil : node.pointee.others
    }

    /// True when nothing of an object is left over or of a wrong type.
    func covers(_ object: JSONValue, in parser: JSONParser) -> Bool {
        if takesAnything { return true }
        for (key, value) in object.members {
            guard let expected = self.value(of: key), expected.pointee.covers(value, in: parser) else { return false }
        }
        return true
    }
}

extension Shape {
    /// What a value should be.
    struct Value: Sendable {
        enum Kind: Sendable {
            case any, unread, unreadObject, text, scalar, number, integer, strings, link, date
            case object, objectOrText, objectOrString, list, map
        }

        let kind: Kind
        /// Of the object, or of the objects in the list or map.
        let shape: Shape
        /// True when somebody else warns of a wrong type.
        var isUnchecked = false
    }
}

extension Shape.Value {
    private static let nothing = Shape([:])
    private init(_ kind: Kind) { self.init(kind: kind, shape: Self.nothing) }

    /// Read, whatever its type.
    static let any = Self(.any)
    /// Known and not read: always kept.
    static let unread = Self(.unread)
    /// An object that is known and not read: always kept.
    static let unreadObject = Self(.unreadObject)
    static let text = Self(.text)
    /// A string, number or boolean; see ``SignalboxJSON/JSONValue/spelled``.
    static let scalar = Self(.scalar)
    /// A number, or a string that spells a whole one.
    static let number = Self(.number)
    /// A whole number, or a string that spells one.
    static let integer = Self(.integer)
    static let strings = Self(.strings)
    /// The address of something on the web; other strings are not read.
    static let link = Self(.link)
    /// A date as ISO 8601 has it; other strings are not read.
    static let date = Self(.date)

    static func object(_ shape: Shape) -> Self { Self(kind: .object, shape: shape) }
    /// An object, or the JSON text of one, as FCM's data has it.
    static func objectOrText(_ shape: Shape) -> Self { Self(kind: .objectOrText, shape: shape) }
    /// An object, or a string in its stead.
    static func objectOrString(_ shape: Shape) -> Self { Self(kind: .objectOrString, shape: shape) }
    /// A list of objects.
    static func list(_ shape: Shape) -> Self { Self(kind: .list, shape: shape) }
    /// An object of objects under keys of the sender's choice.
    static func map(_ shape: Shape) -> Self { Self(kind: .map, shape: shape) }

    /// As the other, but of a wrong type somebody else warns.
    static func unchecked(_ value: Self) -> Self { Self(kind: value.kind, shape: value.shape, isUnchecked: true) }

    /// True when a value is of this type, as is all within it, and nothing is left over. A null counts as absent.
    func covers(_ value: JSONValue, in parser: JSONParser) -> Bool {
        switch kind {
        case .any: true
        case .text: value.isString || value.isNull
        case .scalar: !value.isObject && !value.isArray
        case .unread, .unreadObject: value.isNull
        case .link: value.isNull || value.utf8?.startsSpelling("http") == true
        case .date: value.isNull || value.utf8.flatMap { Timestamp(iso8601: $0) } != nil
        case .number, .integer, .strings: isType(of: value, in: parser)
        case .object, .objectOrText, .objectOrString, .list, .map:
            value.isNull || coversWithin(value, in: parser)
        }
    }

    // Loops: closures would count references to the parser.
    private func coversWithin(_ value: JSONValue, in parser: JSONParser) -> Bool {
        switch kind {
        case .list:
            guard value.isArray else { return false }
            var position = 0
            for element in value.elements {
                guard position < longestList, element.isObject, shape.covers(element, in: parser) else { return false }
                position += 1
            }
            return true
        case .map:
            guard value.isObject else { return false }
            for (_, member) in value.members {
                guard member.isObject, shape.covers(member, in: parser) else { return false }
            }
            return true
        default:
            if isString(value) { return true }
            guard let object = object(value, in: parser) else { return false }
            return shape.covers(object, in: parser)
        }
    }

    /// True when a value is of this type, whatever stands within it.
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

    /// The object that a value is, or that its text spells where that may be.
    func object(_ value: JSONValue, in parser: JSONParser) -> JSONValue? {
        if value.isObject { return value }
        return kind == .objectOrText ? parser.object(value) : nil
    }

    /// True for a string where one may stand for the object.
    private func isString(_ value: JSONValue) -> Bool { kind == .objectOrString && value.isString }

    /// What should stand here, in words.
    var words: String {
        switch kind {
        case .any, .unread: "anything"
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
