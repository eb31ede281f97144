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
            self[key]?.forEachWrongType(in: value, parser, found)
        }
    }
}

extension Shape.Value {
    private var element: Self { .object(shape) }

    /// True when something of a value has to be kept.
    func leavesRest(of value: JSONValue, in parser: JSONParser) -> Bool {
        guard !value.isNull else { return false }
        guard isType(of: value, in: parser) else { return true }
        switch kind {
        case .object, .objectOrText, .objectOrString:
            guard !shape.isWhole, let object = object(value, in: parser) else { return false }
            return object.members.contains { shape[$0]?.leavesRest(of: $1, in: parser) ?? true }
        case .list:
            return value.elements.enumerated().contains {
                $0 >= longestList || !$1.isObject || element.leavesRest(of: $1, in: parser)
            }
        case .map: return value.members.contains { element.leavesRest(of: $1, in: parser) }
        default: return !covers(value, in: parser)
        }
    }

    /// Writes what is left of a value that leaves something.
    func writeRest(of value: JSONValue, in parser: JSONParser, into json: inout JSONWriter) {
        guard isType(of: value, in: parser), !value.isNull else { return json.value(value) }
        switch kind {
        case .object, .objectOrText, .objectOrString:
            json.beginObject()
            if let object = object(value, in: parser) { shape.writeRest(of: object, in: parser, into: &json) }
            json.endObject()
        case .list: writeElements(of: value, in: parser, into: &json)
        case .map:
            json.beginObject()
            value.forEachMember { key, member in
                guard element.leavesRest(of: member, in: parser) else { return }
                json.key(utf8: key)
                element.writeRest(of: member, in: parser, into: &json)
            }
            json.endObject()
        default: json.value(value)
        }
    }

    /// Elements behind the last that is read are kept whole.
    private func writeElements(of list: JSONValue, in parser: JSONParser, into json: inout JSONWriter) {
        json.beginObject()
        for (position, value) in list.elements.enumerated() {
            if position >= longestList || !value.isObject {
                json.key(String(position))
                json.value(value)
            } else if element.leavesRest(of: value, in: parser) {
                json.key(String(position))
                element.writeRest(of: value, in: parser, into: &json)
            }
        }
        json.endObject()
    }

    /// Calls `found` for this value, or for those within it, where they are of a wrong type.
    func forEachWrongType(
        in value: JSONValue, _ parser: JSONParser, _ found: (JSONValue, _ expected: Shape.Value) -> Void
    ) {
        guard isType(of: value, in: parser) else {
            if !isUnchecked { found(value, self) }
            return
        }
        switch kind {
        case .object, .objectOrText, .objectOrString:
            if let object = object(value, in: parser) { shape.forEachWrongType(in: object, parser, found) }
        case .list:
            for value in value.elements.prefix(longestList) where !isUnchecked || value.isObject {
                element.forEachWrongType(in: value, parser, found)
            }
        case .map:
            for (_, member) in value.members { element.forEachWrongType(in: member, parser, found) }
        default: break
        }
    }
}
