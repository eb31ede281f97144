import SignalboxJSON

// The rest of an object after reading: unknown keys and values of wrong types, under the same path. Elements of a
// list are under their index.

extension KeySchema {
    /// Writes the members of the rest into an open object. `consumed`: values that a reading by paths consumed.
    func writeRest(
        of object: JSONValue, in parser: JSONParser, without consumed: ConsumedValues? = nil,
        into json: inout JSONWriter
    ) {
        object.forEachMember { key, value in
            let expected = self[key] ?? .unread
            guard expected.leavesRest(of: value, in: parser, without: consumed) else { return }
            json.key(utf8: key)
            expected.writeRest(of: value, in: parser, without: consumed, into: &json)
        }
    }

    /// Calls `found` for every value of a wrong type in an object.
    func forEachWrongType(
        in object: JSONValue, _ parser: JSONParser, _ found: (JSONValue, _ expected: Value) -> Void
    ) {
        if acceptsAnything { return }
        object.forEachMember { key, value in self[key]?.forEachWrongType(in: value, parser, found) }
    }
}

extension KeySchema.Value {
    private var element: Self { .object(schema) }

    /// True when the event must keep a part of a value. A null counts as absent if the schema names its key.
    func leavesRest(of value: JSONValue, in parser: JSONParser, without consumed: ConsumedValues? = nil) -> Bool {
        guard isType(of: value, in: parser) else { return consumed?.leavesRest(of: value, in: parser) ?? true }
        if let consumed, consumed.isReplaced(value) { return true }
        switch kind {
        case .object, .objectOrText, .objectOrString:
            guard !schema.isWhole, !schema.acceptsAnything, let object = object(value, in: parser) else { return false }
            return object.members.contains {
                (schema[$0] ?? .unread).leavesRest(of: $1, in: parser, without: consumed)
            }
        case .list:
            return value.elements.enumerated().contains {
                $0 >= longestList || !$1.isObject || element.leavesRest(of: $1, in: parser, without: consumed)
            }
        case .map: return value.members.contains { element.leavesRest(of: $1, in: parser, without: consumed) }
        default:
            guard !covers(value, in: parser) else { return false }
            return consumed?.leavesRest(of: value, in: parser) ?? true
        }
    }

    /// Writes the rest of a value, for which ``leavesRest(of:in:without:)`` must be true.
    func writeRest(
        of value: JSONValue, in parser: JSONParser, without consumed: ConsumedValues? = nil, into json: inout JSONWriter
    ) {
        switch kind {
        case .object, .objectOrText, .objectOrString:
            guard let object = object(value, in: parser) else { break }
            json.beginObject()
            schema.writeRest(of: object, in: parser, without: consumed, into: &json)
            return json.endObject()
        case .list where value.isArray: return writeElements(of: value, in: parser, without: consumed, into: &json)
        case .map where value.isObject:
            json.beginObject()
            value.forEachMember { key, member in
                guard element.leavesRest(of: member, in: parser, without: consumed) else { return }
                json.key(utf8: key)
                element.writeRest(of: member, in: parser, without: consumed, into: &json)
            }
            return json.endObject()
        case .strings:
            if let list = parser.argumentList(value) { return writeArguments(of: list, into: &json) }
        default: break
        }
        if let consumed { consumed.writeRest(of: value, in: parser, into: &json) } else { json.value(value) }
    }

    /// Writes the rest of a list. Elements after the last one that readers read are kept whole.
    private func writeElements(
        of list: JSONValue, in parser: JSONParser, without consumed: ConsumedValues?, into json: inout JSONWriter
    ) {
        json.beginObject()
        for (position, value) in list.elements.enumerated() {
            if position >= longestList || !value.isObject {
                json.key(String(position))
                json.value(value)
            } else if element.leavesRest(of: value, in: parser, without: consumed) {
                json.key(String(position))
                element.writeRest(of: value, in: parser, without: consumed, into: &json)
            }
        }
        json.endObject()
    }

    /// Writes the elements of a list of arguments that have no text, and those after the last one that readers read.
    private func writeArguments(of list: JSONValue, into json: inout JSONWriter) {
        json.beginObject()
        for (position, value) in list.elements.enumerated() where position >= longestList || !value.isArgument {
            json.key(String(position))
            json.value(value)
        }
        json.endObject()
    }

    /// Calls `found` for this value, or for its members, if they are of a wrong type.
    func forEachWrongType(
        in value: JSONValue, _ parser: JSONParser, _ found: (JSONValue, _ expected: KeySchema.Value) -> Void
    ) {
        guard isType(of: value, in: parser) else {
            if !isUnchecked { found(value, self) }
            return
        }
        switch kind {
        case .object, .objectOrText, .objectOrString:
            if let object = object(value, in: parser) { schema.forEachWrongType(in: object, parser, found) }
        case .list:
            for value in value.elements.prefix(longestList) where !isUnchecked || value.isObject {
                element.forEachWrongType(in: value, parser, found)
            }
        case .map:
            for (_, member) in value.members { element.forEachWrongType(in: member, parser, found) }
        case .strings:
            guard !isUnchecked, let list = parser.argumentList(value) else { break }
            for value in list.elements.prefix(longestList) where !value.isArgument { found(value, .scalar) }
        default: break
        }
    }
}
