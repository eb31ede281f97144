import SignalboxJSON
import SignalboxNotification

/// What actions there are besides the built-in ones, and what links may lead to.
extension ConfigReader {
    mutating func actions(_ value: JSONValue, destinations: KnownDestinations) -> ActionTypes {
        var types = ActionTypes()
        guard isObject(value, keys: ["types", "schemes"]) else { return types }
        types.schemes = value["schemes"].map { schemes($0) }
        guard let custom = value["types"] else { return types }
        guard custom.isObject else {
            note(custom, "this must be an object, in braces, with the vendor's word for each type")
            return types
        }
        guard hasAtMost(ConfigBounds.actionTypes, "types of actions", in: custom) else { return types }
        for (name, member) in custom.members {
            let word = String(decoding: name, as: UTF8.self)
            checkLine(keyOf: member, word)
            if word.isEmpty { note(member, "a type of actions has a name: what stands under \"type\" in payloads") }
            if types.custom[word] != nil { note(keyOf: member, Self.repeated(word)) }
            types.custom[word] = actionType(member, destinations: destinations)
        }
        return types
    }

    private mutating func actionType(_ value: JSONValue, destinations: KnownDestinations) -> ActionTypes.CustomType {
        var type = ActionTypes.CustomType()
        guard isObject(value, keys: ["arguments", "requiredOptions", "to"]) else { return type }
        if let arguments = value["arguments"] {
            type.arguments = schema(arguments)
            if let schema = type.arguments, schema.kind != .object {
                note(arguments["type"] ?? arguments, "an action's arguments are an object; write \"type\": \"object\"")
            }
        }
        if let options = value["requiredOptions"] { type.requiredOptions = self.options(options) }
        if let to = value["to"] { type.destinations = destinationNames(to, known: destinations) }
        return type
    }

    private mutating func schemes(_ value: JSONValue) -> Set<String> {
        var schemes: Set<String> = []
        let entries = list(value)
        if value.isArray, entries.isEmpty { note(value, "this allows no link at all; name a scheme, or leave it out") }
        for entry in entries {
            guard let text = text(entry)?.lowercased() else { continue }
            let isScheme = text.utf8.enumerated().allSatisfy { position, byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (position > 0 && "0123456789+-.".utf8.contains(byte))
            }
            if !isScheme { note(entry, "\"\(text)\" is no scheme; write it without a colon, like \"https\"") }
            schemes.insert(text)
        }
        return schemes
    }
}

// MARK: Arguments

extension ConfigReader {
    private static let schemaKeys: [ArgumentSchema.Kind: [String]] = [
        .object: ["properties", "required"], .array: ["items"], .string: ["enum", "minLength", "maxLength"],
        .number: ["enum", "minimum", "maximum"], .integer: ["enum", "minimum", "maximum"], .boolean: ["enum"],
    ]

    private mutating func schema(_ value: JSONValue) -> ArgumentSchema? {
        let kinds = ArgumentSchema.Kind.allCases.map(\.rawValue)
        guard value.isObject else {
            note(value, "a schema is an object, such as {\"type\": \"string\"}")
            return nil
        }
        guard let word = value["type"] else {
            note(value, "a schema needs a \"type\": " + kinds.joined(separator: ", "))
            return nil
        }
        guard let text = text(word) else { return nil }
        guard let kind = ArgumentSchema.Kind(rawValue: text) else {
            note(word, "there is no type \"\(text)\"" + Self.suggestion(for: text, among: kinds))
            return nil
        }
        guard isObject(value, keys: ["type", "description"] + (Self.schemaKeys[kind] ?? [])) else { return nil }
        var schema = ArgumentSchema(kind)
        if let properties = value["properties"] { schema.properties = self.properties(properties) }
        if let required = value["required"] { schema.required = list(required).compactMap { self.text($0) } }
        if let items = value["items"] { schema.items = self.schema(items).map { [$0] } ?? [] }
        schema.allowed = value["enum"].map { choices($0, of: kind) }
        readBounds(value, into: &schema)
        return schema
    }

    private mutating func properties(_ value: JSONValue) -> [String: ArgumentSchema] {
        guard value.isObject else {
            note(value, "this must be an object, in braces, with a schema for each argument")
            return [:]
        }
        var properties: [String: ArgumentSchema] = [:]
        for (name, member) in value.members {
            let key = String(decoding: name, as: UTF8.self)
            if properties[key] != nil { note(keyOf: member, Self.repeated(key)) }
            properties[key] = schema(member)
        }
        return properties
    }

    /// As text: an argument that is text may spell a number.
    private mutating func choices(_ value: JSONValue, of kind: ArgumentSchema.Kind) -> [String] {
        let entries = list(value)
        if value.isArray, entries.isEmpty { note(value, "this allows nothing; name what the argument may be") }
        return entries.compactMap { entry in
            let text: String? =
                switch kind {
                case .string: entry.string
                case .boolean: entry.bool.map { "\($0)" }
                default:
                    kind == .integer || entry.integer != nil ? entry.integer.map { "\($0)" } : entry.double?.description
                }
            if text == nil { note(entry, "this must be of the type \(kind.rawValue), as the schema says") }
            return text
        }
    }

    private mutating func readBounds(_ value: JSONValue, into schema: inout ArgumentSchema) {
        schema.minimum = value["minimum"].flatMap { number($0) }
        schema.maximum = value["maximum"].flatMap { number($0) }
        schema.minLength = value["minLength"].flatMap { whole($0, in: 0...65_536) }
        schema.maxLength = value["maxLength"].flatMap { whole($0, in: 0...65_536) }
        if let minimum = schema.minimum, let maximum = schema.maximum, minimum > maximum, let place = value["maximum"] {
            note(place, "this is less than \"minimum\"")
        }
        if let least = schema.minLength, let most = schema.maxLength, least > most, let place = value["maxLength"] {
            note(place, "this is less than \"minLength\"")
        }
    }

    private mutating func number(_ value: JSONValue) -> Double? {
        if value.double == nil { note(value, "this must be a number") }
        return value.double
    }
}
