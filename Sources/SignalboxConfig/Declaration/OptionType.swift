import SignalboxJSON
import SignalboxNotification

/// The description of a type of values, for the schema and the reference page. A value without code: the schema and
/// the reference page read it, the reader does not.
struct TypeInfo: Sendable {
    /// In the reference: `duration`, `array of references`.
    var kind: String
    /// In the reference: the accepted values, such as `1ms to 1d`; empty if the kind says all.
    var limits: String
    /// The JSON Schema of a value.
    var schema: JSONNode
    /// The options of the value, or of each of its entries.
    var members: [OptionInfo]
    /// In the reference: the path from the value to its members, `[]` or `.NAME`.
    var entry = ""

    /// `schema`: the schema of a valid value, without description and default.
    init(_ kind: String, limits: String = "", _ schema: JSONNode, members: [OptionInfo] = []) {
        (self.kind, self.limits, self.schema, self.members) = (kind, limits, schema, members)
    }

    /// Whether the schema permits this default. An empty array or string that it does not permit stands for an absent
    /// option, and is not documented as a default.
    func permits(_ value: JSONNode) -> Bool {
        let bounds = schema.members.map(\.key)
        if value == .array([]) { return !bounds.contains("minItems") }
        return value != .string("") || !bounds.contains("minLength")
    }
}

/// A type of values: its reading and its description. Reading never throws. A value of a wrong type leads to nil and
/// one error.
struct OptionType<Value: Sendable>: Sendable {
    /// Called with a value of any kind.
    typealias Reading = @Sendable (_ value: JSONValue, _ reader: inout ConfigReader) -> Value?

    /// For the schema and the reference page only; changing it does not change the reading.
    var info: TypeInfo
    /// A default as JSON; nil for one that the reference does not show.
    var write: @Sendable (Value) -> JSONNode?
    /// True if the value or a part of it refers to a secret: an operator may paste the secret there.
    let hasSecret: Bool
    /// Returns nil for a value that is not of this type, and records why.
    let read: Reading

    /// `write`: shows no default unless the type says how. `read` must record an error for each nil.
    init(
        _ info: TypeInfo, hasSecret: Bool = false, write: @escaping @Sendable (Value) -> JSONNode? = { _ in nil },
        read: @escaping Reading
    ) { (self.info, self.write, self.hasSecret, self.read) = (info, write, hasSecret, read) }

    /// An object with options of its own. The reference page lists the options of the section below this one. A value
    /// that is not an object leads to nil and one error.
    static func section(_ section: Section<Value>) -> OptionType {
        let info = TypeInfo("object", section.schema, members: section.infos)
        return OptionType(info, hasSecret: section.hasSecret) { section.read($0, &$1) }
    }

    /// The same type, converted. `write`: the inverse of `transform`, for defaults. `transform` must accept every
    /// value of this type.
    func map<New>(
        write: @escaping @Sendable (New) -> Value? = { _ in nil }, _ transform: @escaping @Sendable (Value) -> New
    ) -> OptionType<New> {
        OptionType<New>(info, hasSecret: hasSecret, write: { write($0).flatMap(self.write) }) {
            read($0, &$1).map(transform)
        }
    }

    /// The same type with another schema. For types whose generated schema is too strict or too large for editors.
    func schema(_ schema: JSONNode) -> OptionType {
        var type = self
        type.info.schema = schema
        return type
    }

    /// The same type, whose reference shows entries in this form, such as `[]`.
    func entry(_ entry: String) -> OptionType {
        var type = self
        type.info.entry = entry
        return type
    }

    /// An array of such values, in order. `orElse`: the error for another number of entries, unless it is beyond
    /// ``ConfigBounds/entries``. Entries that cannot be read are left out, each with an error.
    func list(
        of plural: String, _ count: ClosedRange<Int> = 0...ConfigBounds.entries, orElse problem: String = ""
    ) -> OptionType<[Value]> {
        var array: JSONNode = ["type": "array"]
        if count.lowerBound > 0 { array = array.adding(["minItems": .integer(count.lowerBound)]) }
        if count.upperBound < ConfigBounds.entries { array = array.adding(["maxItems": .integer(count.upperBound)]) }
        var info = TypeInfo("array of \(plural)", array.adding(["items": info.schema]), members: info.members)
        info.entry = "[]" + self.info.entry
        return OptionType<[Value]>(info, hasSecret: hasSecret, write: { $0.isEmpty ? .array([]) : nil }) {
            value, reader in
            reader.entries(value, count, orElse: problem, isOfSecret: hasSecret)?.compactMap { read($0, &reader) }
        }
    }

    /// One such value, or an array of 1 to `most` of them. `orElse`: the error for too many elements or none. A single
    /// value is read as an array with one element. An array must have at least one entry.
    func oneOrMore(of plural: String, upTo most: Int, orElse problem: String) -> OptionType<[Value]> {
        let several = list(of: plural, 1...most, orElse: problem)
        let kind = "\(info.kind), or array of 1 to \(most)"
        let either = TypeInfo(kind, ["anyOf": [info.schema, several.info.schema]])
        return OptionType<[Value]>(either, hasSecret: hasSecret) { value, reader in
            value.isArray ? several.read(value, &reader) : read(value, &reader).map { [$0] }
        }
    }

    /// An object that has such a value for each key of its own. Keeps the order of the keys. Entries that cannot be
    /// read are left out. Keys and values are checked independently, so one run reports the mistakes of both.
    func keyed(by rule: KeyRule) -> OptionType<[(key: String, value: Value)]> {
        var object: JSONNode = ["type": "object"]
        if !rule.schema.members.isEmpty { object = object.adding(["propertyNames": rule.schema]) }
        var info = TypeInfo("object", object.adding(["additionalProperties": info.schema]), members: info.members)
        info.entry = ".\(rule.placeholder)" + self.info.entry
        return OptionType<[(key: String, value: Value)]>(info, write: { $0.isEmpty ? .object([]) : nil }) {
            value, reader in
            reader.entries(of: value, by: rule)?.compactMap { key, member in read(member, &reader).map { (key, $0) } }
        }
    }

    /// As ``keyed(by:)``. The first of several equal keys counts. Without the order of the keys.
    func dictionary<Key: Hashable & Sendable>(
        by rule: KeyRule, _ key: @escaping @Sendable (String) -> Key
    ) -> OptionType<[Key: Value]> {
        keyed(by: rule).map { entries in
            Dictionary(entries.map { (key($0.key), $0.value) }) { first, _ in first }
        }
    }
}

extension OptionType where Value: Hashable {
    /// An array of such values that are all different. `repeated`: the error for an equal one. The repeated value
    /// stays in the result: the config has an error anyway.
    func set(
        of plural: String, _ count: ClosedRange<Int> = 0...ConfigBounds.entries, orElse problem: String = "",
        repeated: @escaping @Sendable (Value) -> String
    ) -> OptionType<[Value]> {
        let list = list(of: plural, count, orElse: problem)
        var info = list.info
        info.schema = info.schema.adding(["uniqueItems": true])
        return OptionType<[Value]>(info, write: list.write) { value, reader in
            var seen: Set<Value> = []
            return reader.entries(value, count, orElse: problem)?.compactMap { entry in
                guard let read = read(entry, &reader) else { return nil }
                if !seen.insert(read).inserted { reader.note(entry, repeated(read)) }
                return read
            }
        }
    }
}

/// The keys of an object that has entries instead of options. Applies to every key of the object; the values have
/// their own type.
struct KeyRule: Sendable {
    /// The object's entries, after "an object, in braces, with".
    let entries: String
    /// For errors and for keys that files share.
    let plural: String
    /// The most entries of the object, or of all files if it is shared.
    let most: Int
    /// The placeholder of a key in the reference.
    var placeholder = "NAME"
    /// Keywords for the keys in the schema, such as a pattern.
    var schema: JSONNode = [:]
    /// True if all files of a config declare entries of one object.
    var isShared = false
    /// True if keys that differ in case only are repeats.
    var isCaseInsensitive = false
    /// True if keys must be fit for one line of a log.
    var isLine = false
    /// The error for an invalid key. The key is in lower case if ``isCaseInsensitive``. Nil for a valid name.
    var problem: @Sendable (String) -> String? = { _ in nil }

    /// A name by ``NameRule``, unique over all files. Names become labels of metrics and parts of URLs, hence the
    /// rule.
    static func names(_ plural: String, upTo most: Int) -> KeyRule {
        KeyRule(
            entries: "a name for each entry", plural: plural, most: most, schema: OptionType<String>.name.info.schema,
            isShared: true
        ) { NameRule.allows($0) ? nil : "\"\($0)\" is not a name: \(NameRule.words)" }
    }
}
