import SignalboxJSON
import SignalboxModel

// What is left of an object when everything was read that can be: unknown keys and values of wrong types, under the
// path where they stood. The elements of a list stand under their index.

extension Shape {
    /// Writes the members that are left over, in an object that the caller opened.
    func writeRest(of object: JSONValue, in parser: JSONParser, into json: inout JSONWriter) {
        object.forEachMember { key, value in
            guard let expected = self[key] else {
                json.key(utf8: key)
                return json.value(value)
            }
            guard expected.leavesRest(of: value, in: parser) else { return }
            json.key(utf8: key)
            expected.writeRest(of: value, in: parser, into: &json)
        }
    }

    /// Calls `found` for every value of a wrong type.
    func forEachWrongType(
        in object: JSONValue, _ parser: JSONParser, _ found: (JSONValue, _ expected: Value) -> Void
    ) {
        object.forEachMember { key, value in
            guard let expected = self[key], !expected.covers(value, in: parser) else { return }
            expected.forEachWrongType(in: value, parser, found)
        }
    }
}

extension Shape.Value {
    /// True when something of a value has to be kept.
    func leavesRest(of value: JSONValue, in parser: JSONParser) -> Bool {
        guard !covers(value, in: parser) else { return false }
        guard isType(of: value, in: parser) else { return true }
        switch self {
        case .unchecked(let type): return type.leavesRest(of: value, in: parser)
        case .object(let shape), .objectOrText(let shape), .objectOrString(let shape):
            guard !shape.isWhole, let object = object(value, in: parser) else { return false }
            return object.members.contains { shape[$0]?.leavesRest(of: $1, in: parser) ?? true }
        case .list(let shape):
            return value.elements.enumerated().contains {
                $0 >= longestList || !$1.isObject || Shape.Value.object(shape).leavesRest(of: $1, in: parser)
            }
        case .map(let shape):
            return value.members.contains { Shape.Value.object(shape).leavesRest(of: $1, in: parser) }
        case .any, .unread, .unreadObject, .text, .scalar, .number, .integer, .strings, .link, .date: return true
        }
    }

    /// Writes what is left of a value that is not covered.
    func writeRest(of value: JSONValue, in parser: JSONParser, into json: inout JSONWriter) {
        guard isType(of: value, in: parser) else { return json.value(value) }
        switch self {
        case .unchecked(let type): type.writeRest(of: value, in: parser, into: &json)
        case .object(let shape), .objectOrText(let shape), .objectOrString(let shape):
            json.beginObject()
            if let object = object(value, in: parser) { shape.writeRest(of: object, in: parser, into: &json) }
            json.endObject()
        case .list(let shape):
            json.beginObject()
            writeElements(of: value, shape, in: parser, into: &json)
            json.endObject()
        case .map(let shape):
            json.beginObject()
            value.forEachMember { key, member in
                let type = Shape.Value.object(shape)
                guard type.leavesRest(of: member, in: parser) else { return }
                json.key(utf8: key)
                type.writeRest(of: member, in: parser, into: &json)
            }
            json.endObject()
        case .any, .unread, .unreadObject, .text, .scalar, .number, .integer, .strings, .link, .date:
            json.value(value)
        }
    }

    /// Elements behind the last that is read are kept whole.
    private func writeElements(
        of list: JSONValue, _ shape: Shape, in parser: JSONParser, into json: inout JSONWriter
    ) {
        for (position, element) in list.elements.enumerated() {
            let type = Shape.Value.object(shape)
            if position >= longestList || !element.isObject {
                json.key(String(position))
                json.value(element)
            } else if type.leavesRest(of: element, in: parser) {
                json.key(String(position))
                type.writeRest(of: element, in: parser, into: &json)
            }
        }
    }

    /// As below, leaving out the value itself and the elements of a list.
    private func forEachWrongTypeWithin(
        _ value: JSONValue, _ parser: JSONParser, _ found: (JSONValue, _ expected: Shape.Value) -> Void
    ) {
        guard isType(of: value, in: parser) else { return }
        guard case .list(let shape) = self else { return forEachWrongType(in: value, parser, found) }
        for element in value.elements.prefix(longestList) where element.isObject {
            shape.forEachWrongType(in: element, parser, found)
        }
    }

    /// Calls `found` for this value, or for those within it, where they are of a wrong type.
    func forEachWrongType(
        in value: JSONValue, _ parser: JSONParser, _ found: (JSONValue, _ expected: Shape.Value) -> Void
    ) {
        if case .unchecked(let type) = self { return type.forEachWrongTypeWithin(value, parser, found) }
        guard isType(of: value, in: parser) else { return found(value, self) }
        switch self {
        case .object(let shape), .objectOrText(let shape), .objectOrString(let shape):
            if let object = object(value, in: parser) { shape.forEachWrongType(in: object, parser, found) }
        case .list(let shape):
            for element in value.elements.prefix(longestList) {
                Shape.Value.object(shape).forEachWrongType(in: element, parser, found)
            }
        case .map(let shape):
            for (_, member) in value.members {
                Shape.Value.object(shape).forEachWrongType(in: member, parser, found)
            }
        case .unchecked, .any, .unread, .unreadObject, .text, .scalar, .number, .integer, .strings, .link, .date: break
        }
    }
}
