import SignalboxJSON
import SignalboxModel

/// What is read of an object: its keys, and of which type the value of each is. From it follow a warning for what is of
/// another type, and what is kept for the app because nobody read it.
///
/// A class because shapes hold shapes and live as long as the program.
final class Shape: Sendable {
    indirect enum Value: Sendable {
        /// Read, whatever its type; or its reader warns by itself.
        case any
        /// Known and not read: always kept.
        case unread
        /// An object that is known and not read: always kept.
        case unreadObject
        case text
        /// A string, number or boolean; see ``SignalboxJSON/JSONValue/spelled``.
        case scalar
        /// A number, or a string that spells a whole one.
        case number
        /// A whole number, or a string that spells one.
        case integer
        case object(Shape)
        /// An object, or the JSON text of one, as FCM's data has it.
        case objectOrText(Shape)
        /// An object, or a string in its stead.
        case objectOrString(Shape)
        /// A list of objects.
        case list(Shape)
        /// An object of objects under keys of the sender's choice.
        case map(Shape)
        case strings
        /// The address of something on the web; other strings are not read.
        case link
        /// A date as ISO 8601 has it; other strings are not read.
        case date
        /// As the other, but of a wrong type somebody else warns.
        case unchecked(Value)
    }

    private struct Entry: Sendable {
        let key: StaticString
        let value: Value
    }

    private static let longestKey = 40
    /// In the order of their keys' lengths.
    private let entries: [Entry]
    /// Where the keys of each length begin.
    private let starts: [Int]

    /// What holds for keys that are not named.
    private let others: Value?
    /// True when an object of this shape is kept as it is, as a page or as arguments, so that nothing of it is left over.
    let isWhole: Bool

    /// Keys have at most 40 characters. `others`: what holds for those that are not named; nil keeps them.
    init(_ keys: KeyValuePairs<StaticString, Value>, others: Value? = nil, isWhole: Bool = false) {
        self.others = isWhole ? .any : others
        self.isWhole = isWhole
        entries = keys.map { Entry(key: $0.key, value: $0.value) }
            .sorted { $0.key.utf8CodeUnitCount < $1.key.utf8CodeUnitCount }
        precondition(entries.allSatisfy { $0.key.utf8CodeUnitCount <= Self.longestKey }, "A key is too long.")
        let lengths = entries.map(\.key.utf8CodeUnitCount)
        starts = (0...Self.longestKey + 1).map { length in lengths.count { $0 < length } }
    }

    /// The value that a key should have; nil when it is not read.
    subscript(_ key: UnsafeBufferPointer<UInt8>) -> Value? {
        guard key.count <= Self.longestKey else { return others }
        for position in starts[key.count]..<starts[key.count + 1] where key.equals(entries[position].key) {
            return entries[position].value
        }
        return others
    }

    /// True when nothing of an object is left over or of a wrong type.
    func covers(_ object: JSONValue, in parser: JSONParser) -> Bool {
        for (key, value) in object.members {
            guard let expected = self[key], expected.covers(value, in: parser) else { return false }
        }
        return true
    }
}

extension Shape.Value {
    /// True when a value is of this type, as is all within it, and nothing is left over. A null counts as absent.
    func covers(_ value: JSONValue, in parser: JSONParser) -> Bool {
        switch self {
        case .any: true
        case .unread, .unreadObject: value.isNull
        case .unchecked(let type): type.covers(value, in: parser)
        case .object(let shape), .objectOrText(let shape), .objectOrString(let shape):
            value.isNull || isString(value) || object(value, in: parser).map { shape.covers($0, in: parser) } ?? false
        case .list(let shape):
            value.isNull
                || value.isArray
                    && !value.elements.enumerated().contains {
                        $0 >= longestList || !$1.isObject || !shape.covers($1, in: parser)
                    }
        case .map(let shape):
            value.isNull
                || value.isObject
                    && value.members.allSatisfy { $1.isObject && shape.covers($1, in: parser) }
        case .link: value.isNull || value.utf8?.startsSpelling("http") == true
        case .date: value.isNull || value.utf8.flatMap { Timestamp(iso8601: $0) } != nil
        case .text, .scalar, .number, .integer, .strings: isType(of: value, in: parser)
        }
    }

    /// True when a value is of this type, whatever stands within it.
    func isType(of value: JSONValue, in parser: JSONParser) -> Bool {
        guard !value.isNull else { return true }
        return switch self {
        case .any, .unread: true
        case .text, .link, .date: value.isString
        case .scalar: !value.isObject && !value.isArray
        case .number: value.double != nil || value.number != nil
        case .integer: value.number != nil
        case .strings: value.isArray || value.isString
        case .list: value.isArray
        case .map, .unreadObject: value.isObject
        case .object, .objectOrText, .objectOrString: isString(value) || object(value, in: parser) != nil
        case .unchecked(let type): type.isType(of: value, in: parser)
        }
    }

    func object(_ value: JSONValue, in parser: JSONParser) -> JSONValue? {
        if value.isObject { return value }
        guard case .objectOrText = self else { return nil }
        return parser.object(value)
    }

    /// True for a string where one may stand for the object.
    private func isString(_ value: JSONValue) -> Bool {
        if case .objectOrString = self { value.isString } else { false }
    }

    /// What should stand here, in words.
    var words: String {
        switch self {
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
        case .unchecked(let type): type.words
        }
    }
}
