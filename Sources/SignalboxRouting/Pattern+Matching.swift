package import SignalboxJSON

extension Pattern {
    /// True when the event has all that the pattern asks for.
    package func matches(_ event: JSONValue) -> Bool {
        fields.allSatisfy { $0.matches(in: event, of: event) }
    }

    /// The first field that keeps an event from matching, as a JSON Pointer, with the value found there; nil when the
    /// event matches.
    package func mismatch(in event: JSONValue) -> (pointer: String, found: JSONValue?)? {
        Self.mismatch(of: fields, in: event, at: "", of: event)
    }

    private static func mismatch(
        of fields: [Field], in object: JSONValue?, at pointer: String, of event: JSONValue
    ) -> (pointer: String, found: JSONValue?)? {
        for field in fields where !field.matches(in: object, of: event) {
            let value = object.flatMap { field.value(in: $0) }
            let place = pointer + "/" + JSONPointer.escape(String(decoding: field.key, as: UTF8.self))
            guard case .object(let inner) = field.test, value.map({ !$0.isArray }) ?? true else {
                return (place, value)
            }
            return mismatch(of: inner, in: value, at: place, of: event) ?? (place, value)
        }
        return nil
    }
}

extension Pattern.Field {
    fileprivate func value(in object: JSONValue) -> JSONValue? {
        key.withUnsafeBufferPointer { object.member($0) }
    }

    fileprivate func matches(in object: JSONValue?, of event: JSONValue) -> Bool {
        test.matches(object.flatMap { value(in: $0) }, of: event)
    }
}

extension Pattern.Test {
    /// An array in the event matches when one of its elements does; an empty one is as good as none.
    fileprivate func matches(_ value: JSONValue?, of event: JSONValue) -> Bool {
        if let value, value.isArray, !value.isEmptyContainer {
            return value.elements.contains { matches($0, of: event) }
        }
        let value = value.flatMap { $0.isArray ? nil : $0 }
        switch self {
        case .object(let fields): return fields.allSatisfy { $0.matches(in: value, of: event) }
        case .anyOf(let conditions): return conditions.contains { $0.matches(value, of: event) }
        }
    }
}

extension Pattern.Condition {
    /// `value`: no array, and nil where the event has nothing. Only leaves are compared: an object is none.
    fileprivate func matches(_ value: JSONValue?, of event: JSONValue) -> Bool {
        if case .absent(let path) = self { return !Self.hasLeaf(at: path[...], in: event) }
        guard let value, !value.isObject else { return false }
        switch self {
        case .exists: return true
        case .absent: return false
        case .anythingBut(let unwanted): return !unwanted.contains { $0.matches(value, of: event) }
        case .string(let text): return text.withUnsafeBufferPointer { value.utf8?.equals($0) ?? false }
        case .prefix(let text): return value.utf8?.starts(with: text) ?? false
        case .suffix(let text): return value.utf8?.reversed().starts(with: text.reversed()) ?? false
        case .integer(let number): return value.integer == number
        case .number(let number): return value.double == number
        case .bool(let flag): return value.bool == flag
        case .null: return value.isNull
        }
    }

    /// Whether there is a value that is no object under these keys, in whichever elements of arrays on the way.
    private static func hasLeaf(at path: ArraySlice<[UInt8]>, in value: JSONValue) -> Bool {
        if value.isArray { return value.elements.contains { hasLeaf(at: path, in: $0) } }
        guard let key = path.first else { return !value.isObject }
        return key.withUnsafeBufferPointer { value.member($0) }.map { hasLeaf(at: path.dropFirst(), in: $0) } ?? false
    }
}
