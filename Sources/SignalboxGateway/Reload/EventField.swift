import SignalboxConfig
import SignalboxJSON
import SignalboxRouting

/// A field that events can have, with the fields below it, as the schemas of events describe them. The elements of an
/// array count as its value, as in patterns.
struct EventField: Sendable {
    /// The fields of an object, by key.
    private(set) var members: [String: EventField] = [:]
    /// The values that it can have; nil for any. A field without one has only objects, which patterns never compare.
    private(set) var kinds: Set<PatternEntry.Kind>?
    /// The only strings that it can have; nil for any.
    var words: Set<String>?
    /// True if anything may be below it: data of vendors, arguments, custom data.
    private(set) var isFree = false

    /// Schemas are at most this deep.
    private static let deepest = 16

    /// A field of any value, or an object of these members.
    private init(_ members: [String: EventField] = [:]) {
        self.members = members
        kinds = members.isEmpty ? nil : []
    }

    /// True for a field of objects only.
    var isObject: Bool { kinds?.isEmpty == true }

    /// The field that a schema describes. `root`: the whole schema, for its definitions.
    private static func field(of schema: JSONNode, in root: JSONNode, depth: Int = 0) -> EventField {
        var field = EventField()
        guard depth < deepest else { return field }
        if case .string(let reference)? = schema["$ref"] {
            let name = String(reference.dropFirst("#/$defs/".count))
            return self.field(of: root["$defs"]?[name] ?? .object([]), in: root, depth: depth + 1)
        }
        if let items = schema["items"] { return self.field(of: items, in: root, depth: depth + 1) }
        field.kinds = schema.kinds
        if let properties = schema["properties"] {
            field.kinds = []
            for member in properties.members {
                field.members[member.key] = self.field(of: member.value, in: root, depth: depth + 1)
            }
        } else if let words = schema.words {
            (field.words, field.kinds) = (words, [.text])
        } else {
            field.isFree = schema["type"] == nil || schema["type"] == .string("object")
        }
        return field
    }

    /// Every field and every word of both.
    private func merging(_ other: EventField) -> EventField {
        var merged = self
        merged.members.merge(other.members) { $0.merging($1) }
        merged.words = words.flatMap { words in other.words.map { words.union($0) } }
        merged.kinds = kinds.flatMap { kinds in other.kinds.map { kinds.union($0) } }
        merged.isFree = isFree || other.isFree
        return merged
    }

    // MARK: Events

    /// The events of every type, by type.
    static let byType: [String: EventField] = {
        var fields: [String: EventField] = [:]
        for name in EventSchema.names where name != "inapp" {
            guard let text = EventSchema.text(named: name), let node = JSONParser.read(text, { JSONNode($0) }) else {
                preconditionFailure("The schema \(name) is not JSON.")
            }
            let event = field(of: node, in: node)
            for type in event.members["type"]?.words ?? [] { fields[type] = event }
        }
        // The envelope is that of every event; the data has no schema.
        var dead = fields["io.signalbox.push.answered"] ?? EventField()
        dead.members["data"] = EventField(
            Dictionary(uniqueKeysWithValues: DeadLetterEvents.members.map { ($0, EventField()) }))
        dead.members["dataschema"] = EventField()
        dead.members["type"]?.words = [OperationalEvent.EventType.deliveryDead.rawValue]
        fields[OperationalEvent.EventType.deliveryDead.rawValue] = dead
        return fields
    }()

    private static let ofEveryType = merged(Array(byType.values))

    private static func merged(_ fields: [EventField]) -> EventField {
        fields.dropFirst().reduce(fields.first ?? EventField()) { $0.merging($1) }
    }

    /// The events of these types together; those of all types for an unknown one or none. `vendors`: the names that
    /// `data.vendor` can have, unless only in-app events are meant, which may have others. `warnings`: the codes of
    /// warnings; nil for any.
    static func events(of types: [String], vendors: Set<String>, warnings: Set<String>? = nil) -> EventField {
        let chosen = types.compactMap { byType[$0] }
        var event = chosen.isEmpty || chosen.count < types.count ? ofEveryType : merged(chosen)
        let isInApp = !types.isEmpty && types.allSatisfy { $0.hasPrefix("io.signalbox.inapp.") }
        if !isInApp { event.members["data"]?.members["vendor"]?.words = vendors }
        event.members["data"]?.members["warnings"]?.members["code"]?.words = warnings
        return event
    }

    // MARK: Lookup

    /// The field below this one; nil if no event has it. A field of free data has every field.
    func member(_ key: String) -> EventField? {
        if let member = members[key] { return member }
        guard isFree else { return nil }
        var free = EventField()
        free.isFree = true
        return free
    }

    /// The first part of a pointer that no event has, with the fields next to it; nil if the field exists. `*` and
    /// indexes select elements of arrays.
    func missing(_ pointer: JSONPointer) -> (key: String, known: [String])? {
        var field = self
        for key in pointer.tokens {
            if let next = field.member(key) {
                field = next
            } else if key != "*", key.isEmpty || !key.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
                return (key, field.members.keys.sorted())
            }
        }
        return nil
    }
}

extension JSONNode {
    /// The value of a key; nil for another value than an object.
    fileprivate subscript(key: String) -> JSONNode? { members.first { $0.key == key }?.value }

    /// The strings of `enum` or `const`; nil without them.
    fileprivate var words: Set<String>? {
        if case .array(let elements)? = self["enum"] { return Set(elements.compactMap(\.text)) }
        return self["const"]?.text.map { [$0] }
    }

    /// The kinds of values of `type`; empty for objects, nil without a type.
    fileprivate var kinds: Set<PatternEntry.Kind>? {
        switch self["type"]?.text {
        case "string": [.text]
        case "integer", "number": [.number]
        case "boolean": [.boolean]
        case "null": [.null]
        case "object": []
        default: nil
        }
    }

    private var text: String? { if case .string(let text) = self { text } else { nil } }
}
