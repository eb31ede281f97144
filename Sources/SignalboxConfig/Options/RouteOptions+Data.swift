import SignalboxJSON

// The options of a route that change the data of events.

extension RouteOptions.Redaction {
    /// The most pointers of one route.
    private static let most = 100

    /// An array drops each value that it names; an object names an action for each pointer.
    static var type: OptionType<[RouteOptions.Redaction]> {
        let pointer: JSONNode = ["type": "string", "pattern": "^/data/([^~]|~[01])*$"]
        let actions = RedactionAction.allCases.map(\.rawValue)
        let info = TypeInfo(
            "array of JSON Pointers, or object", limits: "1 to \(most)",
            [
                "anyOf": [
                    ["type": "array", "minItems": 1, "maxItems": .integer(most), "items": pointer],
                    [
                        "type": "object", "minProperties": 1, "maxProperties": .integer(most), "propertyNames": pointer,
                        "additionalProperties": ["enum": .strings(actions)],
                    ],
                ]
            ])
        return OptionType<[RouteOptions.Redaction]>(info, read: read)
    }

    /// The error for an unknown word suggests the nearest one.
    private static let action = OptionType<RedactionAction>.string("action") { word in
        let known = RedactionAction.allCases.map(\.rawValue)
        return "unknown redaction \"\(word)\"" + ConfigReader.suggestion(for: word, among: known)
    } _: {
        RedactionAction(rawValue: $0)
    }

    /// The redactions without errors; nil for a value of another type or with too many pointers.
    @Sendable private static func read(_ value: JSONValue, _ reader: inout ConfigReader) -> [RouteOptions.Redaction]? {
        guard value.isObject || value.isArray else {
            reader.note(
                value, "this must be an array of JSON Pointers to drop, or an object such as {\"/data/tag\": \"mask\"}")
            return nil
        }
        let elements = Array(value.elements.prefix(most + 1))
        let members = Array(value.members.prefix(most + 1))
        guard (1...most).contains(elements.count + members.count) else {
            return reader.refuse(value, "this must name 1 to \(most) JSON Pointers")
        }
        var redactions: [RouteOptions.Redaction] = []
        for element in elements {
            guard let text = reader.text(element) else { continue }
            if let problem = add(.drop, text, to: &redactions) { reader.note(element, problem) }
        }
        for (key, member) in members {
            guard let action = action.read(member, &reader) else { continue }
            if let problem = add(action, String(decoding: key, as: UTF8.self), to: &redactions) {
                reader.note(keyOf: member, problem)
            }
        }
        return redactions
    }

    /// Adds a redaction, or returns the error about its pointer. Rejects the envelope, the data as a whole, and a
    /// pointer that overlaps an earlier one.
    private static func add(
        _ action: RedactionAction, _ text: String, to redactions: inout [RouteOptions.Redaction]
    ) -> String? {
        guard let pointer = ConfigReader.boundedPointer(text), pointer.tokens.count > 1, pointer.tokens[0] == "data"
        else {
            return "this must be a JSON Pointer into the data, such as \"/data/custom/email\""
                + "; attributes outside of data cannot be redacted"
        }
        guard !redactions.contains(where: { $0.pointer.overlaps(pointer) }) else {
            return "another pointer here names the same value, a part of it, or a value around it; keep one of them"
        }
        redactions.append(RouteOptions.Redaction(pointer: pointer, action: action))
        return nil
    }
}

extension JSONPointer {
    /// Whether both lead to one value or one leads into the other. `*` is every element of an array. Prevents
    /// redactions whose result would depend on their order.
    fileprivate func overlaps(_ other: JSONPointer) -> Bool {
        func isPosition(_ token: String) -> Bool { token.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        for (left, right) in zip(tokens, other.tokens) where left != right {
            return left == "*" && isPosition(right) || right == "*" && isPosition(left)
        }
        return true
    }
}

extension RouteOptions.Transform {
    /// A template or a map, never both. Templates are compiled later, by SignalboxRouting.
    static let type = OptionType<RouteOptions.Transform>(
        TypeInfo("object", options.schema, members: options.infos)
    ) { value, reader in
        let problem = "the data are made either by a \"template\" or by a \"map\"; write one of them"
        guard reader.hasEither(["template", "map"], in: value, orElse: problem) else { return nil }
        return options.read(value, &reader).flatMap { draft in
            draft.template.map { .template(TemplateSource(body: $0)) } ?? draft.fields.map { .map($0) }
        }
    }

    /// Both members while they are read; one of them is nil afterwards.
    private struct Draft: Sendable {
        var template: String?
        var fields: [DataField]?
    }

    /// For the schema and the reference page as well.
    private static let options = Section(Draft(), rules: ["minProperties": 1, "maxProperties": 1]) {
        Option("template", \.template, .text, "A Mustache template that writes JSON.")
        Option(
            "map", \.fields, DataField.type, "A JSON Pointer into the event for each name, or an object of such names.")
    }
}

extension DataField {
    /// Names of a whole map, and levels of its objects.
    private static let (most, deepest) = (200, 16)

    /// The schema of a map; recursive, and so a definition.
    static let definition: JSONNode = [
        "type": "object", "minProperties": 1,
        "additionalProperties": ["anyOf": [OptionType<JSONPointer>.pointer.info.schema, ["$ref": "#/$defs/map"]]],
    ]

    /// Fields keep the order of the config.
    fileprivate static let type = OptionType<[DataField]>(
        TypeInfo("object", limits: "at most \(most) names", ["$ref": "#/$defs/map"])
    ) { value, reader in
        var left = most
        let fields = fields(value, depth: 1, left: &left, &reader)
        if left < 0 { reader.note(value, "a map can have at most \(most) names; make it shorter, or write a template") }
        return fields
    }

    /// `left`: names that the whole map may still have; below 0 once there are too many. A name that occurs twice in an
    /// object is an error.
    private static func fields(
        _ value: JSONValue, depth: Int, left: inout Int, _ reader: inout ConfigReader
    ) -> [DataField] {
        guard value.isObject, !value.isEmptyContainer else {
            reader.note(
                value,
                "this must be an object with a JSON Pointer for each name, such as {\"user\": \"/data/custom/id\"}")
            return []
        }
        let names = KeyRule(entries: "a JSON Pointer for each name", plural: "names", most: .max)
        var fields: [DataField] = []
        for (name, member) in reader.entries(of: value, by: names) ?? [] {
            left -= 1
            guard left >= 0 else { return fields }
            if !member.isObject {
                guard let pointer = OptionType<JSONPointer>.pointer.read(member, &reader) else { continue }
                fields.append(DataField(name: name, source: .pointer(pointer)))
            } else if depth < deepest {
                let inner = Self.fields(member, depth: depth + 1, left: &left, &reader)
                fields.append(DataField(name: name, source: .object(inner)))
            } else {
                reader.note(member, "this is nested more than \(deepest) levels deep")
            }
        }
        return fields
    }
}
