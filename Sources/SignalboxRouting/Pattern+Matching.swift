package import SignalboxJSON

extension Pattern {
    /// True when the event has all that the pattern asks for.
    package func matches(_ event: JSONValue) -> Bool {
        fields.allSatisfy { $0.matches(in: event) }
    }

    /// The first field that keeps an event from matching, as a JSON Pointer, with the value found there; nil when the
    /// event matches.
    package func mismatch(in event: JSONValue) -> (pointer: String, found: JSONValue?)? {
        Self.mismatch(of: fields, in: event, at: "")
    }

    private static func mismatch(
        of fields: [Field], in object: JSONValue?, at pointer: String
    ) -> (pointer: String, found: JSONValue?)? {
        for field in fields where !field.matches(in: object) {
            let value = object.flatMap { field.value(in: $0) }
            let place = pointer + "/" + JSONPointer.escape(String(decoding: field.key, as: UTF8.self))
            guard case .object(let inner) = field.test, let value, value.isObject else { return (place, value) }
            return mismatch(of: inner, in: value, at: place) ?? (place, value)
        }
        return nil
    }
}

extension Pattern.Field {
    fileprivate func value(in object: JSONValue) -> JSONValue? {
        key.withUnsafeBufferPointer { object.member($0) }
    }

    fileprivate func matches(in object: JSONValue?) -> Bool {
        test.matches(object.flatMap { value(in: $0) })
    }
}

extension Pattern.Test {
    /// An array in the event matches when one of its elements does.
    fileprivate func matches(_ value: JSONValue?) -> Bool {
        switch self {
        case .object(let fields):
            guard let value else { return fields.allSatisfy { $0.matches(in: nil) } }
            guard value.isArray else { return fields.allSatisfy { $0.matches(in: value) } }
            return value.elements.contains { matches($0) }
        case .anyOf(let conditions):
            guard let value, value.isArray else { return conditions.contains { $0.matches(value) } }
            if value.isEmptyContainer { return conditions.contains(.exists(false)) }
            return value.elements.contains { matches($0) }
        }
    }
}

extension Pattern.Condition {
    fileprivate func matches(_ value: JSONValue?) -> Bool {
        switch self {
        // EventBridge tests presence on leaves only: an object is no leaf.
        case .exists(let wanted): return (value.map { !$0.isObject } ?? false) == wanted
        case .anythingBut(let unwanted):
            guard let value, !value.isObject else { return false }
            return !unwanted.contains { $0.matches(value) }
        case .string(let text): return text.withUnsafeBufferPointer { value?.utf8?.equals($0) ?? false }
        case .prefix(let text): return value?.utf8?.starts(with: text) ?? false
        case .suffix(let text): return value?.utf8?.reversed().starts(with: text.reversed()) ?? false
        case .number(let number): return value?.double == number
        case .bool(let flag): return value?.bool == flag
        case .null: return value?.isNull ?? false
        }
    }
}
