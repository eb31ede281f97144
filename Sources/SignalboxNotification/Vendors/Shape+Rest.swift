import SignalboxJSON

// What is left of an object when everything was read that can be: unknown keys and values of wrong types, under the
// path where they stood. The elements of a list stand under their index.

extension Shape {
    /// Writes the members that are left over, in an object that the caller opened. `taken`: what was read besides.
    func writeRest(
        of object: JSONValue, in parser: JSONParser, besides taken: CatalogueTaken? = nil, into json: inout JSONWriter
    ) {
        object.forEachMember { key, value in
            let expected = self[key] ?? .unread
            guard expected.leavesRest(of: value, in: parser, besides: taken) else { return }
            json.key(utf8: key)
            expected.writeRest(of: value, in: parser, besides: taken, into: &json)
        }
    }

    /// Calls `found` for every value of a wrong type.
    func forEachWrongType(
        in object: JSONValue, _ parser: JSONParser, _ found: (JSONValue, _ expected: Value) -> Void
    ) {
        if takesAnything { return }
        object.forEachMember { key, value in
            self[key]?.forEachWrongType(in: value, parser, found)
        }
    }
}

extension Shape.Value {
    private var element: Self { .object(shape) }

    /// True when something of a value has to be kept. A null counts as absent where something is expected.
    func leavesRest(of value: JSONValue, in parser: JSONParser, besides taken: CatalogueTaken? = nil) -> Bool {
        guard isType(of: value, in: parser) else { return taken?.leavesRest(of: value, in: parser) ?? true }
        if let taken, taken.isReplaced(value) { return true }
        switch kind {
        case .object, .objectOrText, .objectOrString:
            guard !shape.isWhole, !shape.takesAnything, let object = object(value, in: parser) else { return false }
            return object.members.contains {
                (shape[$0] ?? .unread).leavesRest(of: $1, in: parser, besides: taken)
            }
        case .list:
            return value.elements.enumerated().contains {
                $0 >= longestList || !$1.isObject || element.leavesRest(of: $1, in: parser, besides: taken)
            }
        case .map: return value.members.contains { element.leavesRest(of: $1, in: parser, besides: taken) }
        default:
            guard !covers(value, in: parser) else { return false }
            return taken?.leavesRest(of: value, in: parser) ?? true
        }
    }

    /// Writes what is left of a value that leaves something.
    func writeRest(
        of value: JSONValue, in parser: JSONParser, besides taken: CatalogueTaken? = nil, into json: inout JSONWriter
    ) {
        switch kind {
        case .object, .objectOrText, .objectOrString:
            guard let object = object(value, in: parser) else { break }
            json.beginObject()
            shape.writeRest(of: object, in: parser, besides: taken, into: &json)
            return json.endObject()
        case .list where value.isArray: return writeElements(of: value, in: parser, besides: taken, into: &json)
        case .map where value.isObject:
            json.beginObject()
            value.forEachMember { key, member in
                guard element.leavesRest(of: member, in: parser, besides: taken) else { return }
                json.key(utf8: key)
                element.writeRest(of: member, in: parser, besides: taken, into: &json)
            }
            return json.endObject()
        default: break
        }
        if let taken { taken.writeRest(of: value, in: parser, into: &json) } else { json.value(value) }
    }

    /// Elements behind the last that is read are kept whole.
    private func writeElements(
        of list: JSONValue, in parser: JSONParser, besides taken: CatalogueTaken?, into json: inout JSONWriter
    ) {
        json.beginObject()
        for (position, value) in list.elements.enumerated() {
            if position >= longestList || !value.isObject {
                json.key(String(position))
                json.value(value)
            } else if element.leavesRest(of: value, in: parser, besides: taken) {
                json.key(String(position))
                element.writeRest(of: value, in: parser, besides: taken, into: &json)
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
