import SignalboxJSON
import SignalboxNotification

/// The subset of JSON Schema that describes the arguments of an action.
extension ArgumentSchema {
    /// The schema of any argument; recursive, and so a definition.
    static var definition: JSONNode {
        ["type": "object", "required": ["type"], "oneOf": .array(Kind.allCases.map { section($0).schema })]
    }

    /// The schema of all arguments together: its outermost type is `object`.
    static let objectType = OptionType<ArgumentSchema>(
        TypeInfo("JSON Schema of an object", section(.object).schema)
    ) { value, reader in
        let schema = type.read(value, &reader)
        if let schema, schema.kind != .object {
            reader.note(value["type"] ?? value, "an action's arguments are an object; write \"type\": \"object\"")
        }
        return schema
    }

    /// Reads the keywords of the type that the schema names. Without a known type, no other keyword is read.
    private static let type = OptionType<ArgumentSchema>(TypeInfo("JSON Schema", ["$ref": "#/$defs/argument"])) {
        value, reader in
        guard value.isObject else {
            return reader.refuse(value, "a schema must be an object, such as {\"type\": \"string\"}")
        }
        guard let word = value["type"] else {
            let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            return reader.refuse(value, "a schema needs a \"type\": " + kinds)
        }
        return OptionType<Kind>.choice("type").read(word, &reader).flatMap { sections[$0]?.read(value, &reader) }
    }

    /// One for each type, made once.
    private static let sections = Dictionary(uniqueKeysWithValues: Kind.allCases.map { ($0, section($0)) })

    /// The keywords of one type. Each type has its own keywords; others are errors. Rejects bounds that no value
    /// satisfies.
    private static func section(_ kind: Kind) -> Section<ArgumentSchema> {
        let common = [
            Option<ArgumentSchema>(
                "type", \.kind, OptionType<Kind>.choice("type").schema(["const": .string(kind.rawValue)]),
                required: "", "The type."),
            Option<ArgumentSchema>(ignoring: "description", "For readers. Has no effect."),
        ]
        return Section(ArgumentSchema(kind), options: common + keywords(kind)) { schema, value, reader in
            if let minimum = schema.minimum, let maximum = schema.maximum, minimum > maximum {
                reader.note(value["maximum"] ?? value, "this is less than \"minimum\"")
            }
            if let least = schema.minLength, let most = schema.maxLength, least > most {
                reader.note(value["maxLength"] ?? value, "this is less than \"minLength\"")
            }
        }
    }

    /// The keywords in addition to `type` and `description`. The limits keep checks of payloads cheap.
    private static func keywords(_ kind: Kind) -> [Option<ArgumentSchema>] {
        let choices = Option<ArgumentSchema>(
            "enum", \.allowed,
            choice(kind).list(
                of: "values", 1...ConfigBounds.entries,
                orElse: "this allows nothing; name what the argument may be"), "All accepted values.")
        switch kind {
        case .object:
            return [
                Option("properties", \.properties, type.dictionary(by: names) { $0 }, "The schema of each member."),
                Option("required", \.required, OptionType<String>.text.list(of: "names"), "Required members."),
            ]
        case .array: return [Option("items", \.items, type.map { [$0] }, "The schema of each element.")]
        case .string:
            return [
                choices, Option("minLength", \.minLength, .whole(0...65_536), "Fewest characters."),
                Option("maxLength", \.maxLength, .whole(0...65_536), "Most characters."),
            ]
        case .number, .integer:
            return [
                choices, Option("minimum", \.minimum, .number, "Smallest value."),
                Option("maximum", \.maximum, .number, "Largest value."),
            ]
        case .boolean: return [choices]
        }
    }

    /// The number of arguments is bounded by the size of the config only.
    private static let names = KeyRule(entries: "a schema for each argument", plural: "arguments", most: .max)

    /// A value of the type, as a string: an argument that is a string may spell a number.
    private static func choice(_ kind: Kind) -> OptionType<String> {
        .value(
            TypeInfo(kind.rawValue, ["type": .string(kind.rawValue)]),
            expected: "this must be of the type \(kind.rawValue), as the schema says"
        ) { value in
            switch kind {
            case .string: value.string
            case .boolean: value.bool.map { "\($0)" }
            case .integer: value.integer.map { "\($0)" }
            default: value.integer.map { "\($0)" } ?? value.double?.description
            }
        }
    }
}
