package import SignalboxJSON

/// A JSON value whose members keep their order. Schemas, defaults and the description of the API are written with it.
/// For values that this program writes; configs are read as `JSONValue`.
package indirect enum JSONNode: Sendable, Equatable {
    case bool(Bool)
    /// Written without a fraction.
    case integer(Int)
    /// JSON has no form for infinity and NaN.
    case double(Double)
    case string(String)
    /// In their order.
    case array([JSONNode])
    /// In the order of the declaration.
    case object([Member])

    /// A key, unescaped, and its value.
    package struct Member: Sendable, Equatable {
        /// Need not be unique in an object.
        package let key: String
        package let value: JSONNode

        /// `key` is escaped when the node is written.
        package init(key: String, value: JSONNode) { (self.key, self.value) = (key, value) }
    }

    /// Null becomes `false`: the schemas have none. Numbers above `Int.max` become it.
    package init(_ value: JSONValue) {
        switch value.kind {
        case .object:
            self = .object(
                value.members.map { Member(key: String(decoding: $0.key, as: UTF8.self), value: Self($0.value)) })
        case .array: self = .array(value.elements.map { Self($0) })
        case .string: self = .string(value.string ?? "")
        case .integer, .unsigned: self = .integer(Int(value.integer ?? .max))
        case .double: self = .double(value.double ?? 0)
        case .bool, .null: self = .bool(value.bool ?? false)
        }
    }

    /// The members of an object; none of any other value.
    package var members: [Member] {
        if case .object(let members) = self { members } else { [] }
    }

    /// An object with the members of both. Repeated keys stay repeated; the caller avoids them. Values that are not
    /// objects count as empty objects.
    package func adding(_ other: JSONNode) -> JSONNode { .object(members + other.members) }

    /// On one line. Deterministic: members keep their order, and numbers have one form.
    package var compact: String {
        switch self {
        case .array(let elements) where !elements.isEmpty: "[" + elements.map(\.compact).joined(separator: ", ") + "]"
        case .object(let members) where !members.isEmpty:
            "{ " + members.map { Self.quoted($0.key) + ": " + $0.value.compact }.joined(separator: ", ") + " }"
        default: scalar
        }
    }

    /// On several lines, none longer than 120 characters unless a string is. `indent`: the indentation of the line on
    /// which it begins. `used`: characters before it on that line. A value that fits on its line stays there, so short
    /// objects and arrays are not split.
    package func pretty(indent: Int = 0, used: Int = 0) -> String {
        let line = compact
        guard indent + used + line.count > 118 else { return line }
        let inner = String(repeating: " ", count: indent + 2)
        let end = "\n" + String(repeating: " ", count: indent)
        switch self {
        case .array(let elements):
            let lines = elements.map { inner + $0.pretty(indent: indent + 2) }
            return "[\n" + lines.joined(separator: ",\n") + end + "]"
        case .object(let members):
            let lines = members.map { member in
                let key = Self.quoted(member.key) + ": "
                return inner + key + member.value.pretty(indent: indent + 2, used: key.count)
            }
            return "{\n" + lines.joined(separator: ",\n") + end + "}"
        default: return line
        }
    }

    /// A value without elements.
    private var scalar: String {
        switch self {
        case .bool(let flag): "\(flag)"
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): Self.quoted(text)
        case .array: "[]"
        case .object: "{}"
        }
    }

    /// A JSON string with its quotes and escapes.
    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension JSONNode: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Literals make declarations of schemas read like JSON. A dictionary literal keeps the order of its members,
    /// which a Swift dictionary would not.
    package init(stringLiteral text: String) { self = .string(text) }
    package init(integerLiteral number: Int) { self = .integer(number) }
    package init(floatLiteral number: Double) { self = .double(number) }
    package init(booleanLiteral flag: Bool) { self = .bool(flag) }
    package init(arrayLiteral elements: JSONNode...) { self = .array(elements) }
    package init(dictionaryLiteral members: (String, JSONNode)...) {
        self = .object(members.map { Member(key: $0.0, value: $0.1) })
    }

    /// An array of strings, for `enum`. Order and repetitions stay.
    package static func strings(_ texts: [String]) -> JSONNode { .array(texts.map { .string($0) }) }
}
