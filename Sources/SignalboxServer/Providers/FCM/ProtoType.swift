import SignalboxJSON
import SignalboxNotification

/// The type of a field of a protocol buffer, as its JSON form is read (protobuf.dev, "ProtoJSON Format"). Reports the
/// mistakes that Google's APIs report, in their words.
indirect enum ProtoType: Sendable {
    /// `bool`, `int32` and `double` are accepted as strings too.
    case string, bool, int32, double
    /// `"3.5s"`.
    case duration
    /// RFC 3339.
    case timestamp
    /// The names of values, in capitals. Requests may write them in either case, because firebase-admin-java sends
    /// `visibility` in lower case. Numbers are accepted too.
    case enumeration(String, [String])
    /// An object with known members.
    case message(ProtoMessage)
    /// A map from strings to strings. The name is of its entries' type.
    case map(String)
    /// Any JSON object.
    case structure
    /// A list, or one value, which counts as a list of one.
    case repeated(ProtoType)

    /// In error texts.
    private var name: String {
        switch self {
        case .string: "TYPE_STRING"
        case .bool: "TYPE_BOOL"
        case .int32: "TYPE_INT32"
        case .double: "TYPE_DOUBLE"
        case .duration: "type.googleapis.com/google.protobuf.Duration"
        case .timestamp: "type.googleapis.com/google.protobuf.Timestamp"
        case .structure: "type.googleapis.com/google.protobuf.Struct"
        case .enumeration(let name, _), .map(let name): "type.googleapis.com/\(name)"
        case .message(let message): "type.googleapis.com/\(message.name)"
        case .repeated(let element): element.name
        }
    }

    /// Whether no object can be a value.
    private var isScalar: Bool {
        switch self {
        case .message, .map, .structure, .repeated: false
        default: true
        }
    }

    /// Records every mistake of a value. `null` is an absent field. `path`: such as `message.data[0].value`.
    func check(_ value: JSONValue, at path: String, _ violations: inout ProtoViolations) {
        guard !value.isNull, !violations.isFull else { return }
        if value.isArray {
            guard case .repeated(let element) = self else { return violations.unexpectedList(at: path) }
            for (position, entry) in value.elements.enumerated() {
                element.check(entry, at: "\(path)[\(position)]", &violations)
            }
            return
        }
        switch self {
        case .message(let message) where value.isObject: message.check(value, at: path, &violations)
        case .map where value.isObject: Self.checkEntries(of: value, at: path, &violations)
        case .structure where value.isObject: break
        // A single value is read as a list of one.
        case .repeated(let element): element.check(value, at: path, &violations)
        case _ where isScalar && value.isObject: violations.invalid(path, name, "Starting an object on a scalar field")
        default:
            guard !accepts(value) else { return }
            if case .enumeration = self, value.isString, violations.passesUnknownName() { return }
            violations.invalid(path, name, reason(for: value))
        }
    }

    /// Values of a map are strings; a map has no absent values.
    private static func checkEntries(of map: JSONValue, at path: String, _ violations: inout ProtoViolations) {
        for (position, member) in map.members.enumerated() {
            let path = "\(path)[\(position)].value"
            if member.value.isNull {
                violations.invalid(path, "Map", "Map value cannot be null")
            } else if member.value.isArray {
                violations.unexpectedList(at: path)
            } else {
                ProtoType.string.check(member.value, at: path, &violations)
            }
            if violations.isFull { return }
        }
    }

    /// `value`: neither an object, a list nor null.
    private func accepts(_ value: JSONValue) -> Bool {
        switch self {
        case .string: value.isString
        case .bool: value.bool != nil || value.equals("true") || value.equals("false")
        case .int32: (value.integer ?? value.string.flatMap { Int64($0) }).map { Int32(exactly: $0) != nil } ?? false
        case .double: value.double != nil || value.string.flatMap { Double($0) } != nil
        case .duration: value.string.map { ProtoDuration($0) != nil } ?? false
        case .timestamp: value.utf8.map { Timestamp(iso8601: $0) != nil } ?? false
        case .enumeration(_, let names):
            value.string.map { names.contains($0.uppercased()) } ?? (value.integer != nil)
        case .message, .map, .structure, .repeated: false
        }
    }

    /// The end of the error text: the value as sent, or the fault of a duration.
    private func reason(for value: JSONValue) -> String {
        guard case .duration = self, value.isString else { return JSONText(value).string }
        return "Illegal duration format; duration must end with 's'"
    }
}

/// A message type: its fields by name.
struct ProtoMessage: Sendable {
    /// The full name of the type, such as `google.firebase.fcm.v1.Message`.
    let name: String
    /// By both spellings of their names.
    private let fields: [String: ProtoType]
    /// Names of fields that exclude each other, and the name of the group.
    private let oneOf: (group: String, fields: [String])

    /// `fields`: in snake case; requests may spell them in camel case too. `oneOf`: fields that exclude each other: at
    /// most one may be set.
    init(_ name: String, oneOf: (group: String, fields: [String]) = ("", []), _ fields: [String: ProtoType]) {
        (self.name, self.oneOf) = (name, oneOf)
        var spelled = fields
        for (name, type) in fields { spelled[Self.camelCase(name)] = type }
        self.fields = spelled
    }

    /// Records every mistake of an object. Unknown fields are mistakes. Stops when the limit of ``ProtoViolations`` is
    /// reached.
    func check(_ object: JSONValue, at path: String, _ violations: inout ProtoViolations) {
        var chosen: String?
        for (key, value) in object.members {
            let key = String(decoding: key, as: UTF8.self)
            guard let type = fields[key] else {
                violations.unknown(key, at: path)
                continue
            }
            if oneOf.fields.contains(key), !value.isNull {
                if let chosen, chosen != key { violations.repeated(key, of: oneOf.group, at: path) }
                chosen = key
            }
            type.check(value, at: path.isEmpty ? key : "\(path).\(key)", &violations)
            if violations.isFull { return }
        }
    }

    /// `body_loc_key` is `bodyLocKey`.
    private static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        return String(words[0]) + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}

/// The mistakes of a request, up to a limit.
struct ProtoViolations {
    private static let most = 16
    /// Values in texts are cut to this length.
    private static let longestValue = 200

    /// In the order of the members in the request.
    private(set) var all: [GoogleError.Violation] = []
    /// Whether names of fields and of enumerated values that this schema does not have are passed.
    private let passesUnknownNames: Bool
    /// Whether such a name was passed.
    private(set) var hasUnknownName = false

    /// `passingUnknownNames`: true for a message that Google decides on.
    init(passingUnknownNames: Bool = false) { passesUnknownNames = passingUnknownNames }

    /// Returns whether an unknown name is passed, and records that there is one.
    mutating func passesUnknownName() -> Bool {
        hasUnknownName = hasUnknownName || passesUnknownNames
        return passesUnknownNames
    }

    /// Further mistakes are dropped; checks stop then.
    var isFull: Bool { all.count >= Self.most }

    /// A value that its type does not accept. `type`: its name. `reason`: cut to ``longestValue``.
    mutating func invalid(_ path: String, _ type: String, _ reason: String) {
        record("Invalid value at '\(path)' (\(type)), \(reason.prefix(Self.longestValue))", at: path)
    }

    /// A second field of a group in which one field may be set.
    mutating func repeated(_ field: String, of group: String, at path: String) {
        record(
            "Invalid value at '\(path)' (oneof), oneof field '\(group)' is already set. Cannot set '\(field)'",
            at: path)
    }

    /// A field that the type does not have. Records no mistake if unknown names are passed.
    mutating func unknown(_ field: String, at path: String) {
        guard !passesUnknownName() else { return }
        record("\(Self.unknown(field, path)): Cannot find field.", at: path)
    }

    /// `path`: the path of a field that is not a list.
    mutating func unexpectedList(at path: String) {
        let dot = path.lastIndex(of: ".")
        let parent = dot.map { String(path[..<$0]) } ?? ""
        let field = dot.map { String(path[path.index(after: $0)...]) } ?? path
        record("\(Self.unknown(field, parent)): Proto field is not repeating, cannot start list.", at: parent)
    }

    private static func unknown(_ field: String, _ path: String) -> String {
        let place = path.isEmpty ? "" : " at '\(path)'"
        return "Invalid JSON payload received. Unknown name \"\(field.prefix(longestValue))\"\(place)"
    }

    /// An empty path is the whole request, and its violation has no field.
    private mutating func record(_ description: String, at path: String) {
        guard !isFull else { return }
        all.append(.init(field: path.isEmpty ? nil : path, description: description))
    }
}

/// A duration in ProtoJSON: seconds with up to nine decimals and the suffix `s`.
struct ProtoDuration: Equatable, Sendable {
    /// Rounded towards zero; negative only if ``isNegative`` is true.
    let seconds: Int64
    /// Whether it has a fraction.
    let hasFraction: Bool
    /// Less than zero; `-0s` is not.
    let isNegative: Bool

    /// Nil for other text, and for more than 315,576,000,000 seconds, the bound of `google.protobuf.Duration`.
    init?(_ text: String) {
        guard text.last == "s" else { return nil }
        let hasSign = text.first == "-"
        let parts = text.dropFirst(hasSign ? 1 : 0).dropLast().split(
            separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let isNumber = parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard isNumber, parts.count == 1 || parts[1].utf8.count <= 9, let seconds = Int64(parts[0]),
            seconds <= 315_576_000_000
        else { return nil }
        self.seconds = hasSign ? -seconds : seconds
        hasFraction = parts.count == 2 && parts[1].contains { $0 != "0" }
        isNegative = hasSign && (seconds > 0 || hasFraction)
    }
}
