package import SignalboxJSON

extension Pattern {
    /// True when the event has all that the pattern asks for.
    package func matches(_ event: JSONValue) -> Bool { ways.contains { $0.matches(event) } }

    /// The first field that keeps an event from matching, as a JSON Pointer, with the value found there; nil when the
    /// event matches. Where there are several ways to match, the field is of the one that most fields speak for.
    package func mismatch(in event: JSONValue) -> (pointer: String, found: JSONValue?)? {
        guard !matches(event) else { return nil }
        var nearest: (way: Way, matching: Int)?
        for way in ways {
            let matching = way.fields.count { $0.matches(event) }
            if matching > nearest?.matching ?? -1 { nearest = (way, matching) }
        }
        return nearest.flatMap { $0.way.root.mismatch(in: event, at: "") }
    }

    /// Calls `body` with the values under these keys, in whichever elements of arrays on the way, until it says true;
    /// says whether it did. Objects are no values.
    @discardableResult
    static func anyValue(at path: ArraySlice<[UInt8]>, in value: JSONValue, _ body: (JSONValue) -> Bool) -> Bool {
        if value.isArray { return value.elements.contains { anyValue(at: path, in: $0, body) } }
        guard let key = path.first else { return !value.isObject && body(value) }
        guard let member = key.withUnsafeBufferPointer({ value.member($0) }) else { return false }
        return anyValue(at: path.dropFirst(), in: member, body)
    }
}

extension Pattern.Way {
    func matches(_ event: JSONValue) -> Bool { event.isObject && root.matches(event) }
}

extension Pattern.Field {
    /// Whether it matches for itself, whatever the other fields ask for.
    fileprivate func matches(_ event: JSONValue) -> Bool {
        if isAbsence { return !Pattern.anyValue(at: path[...], in: event) { _ in true } }
        return Pattern.anyValue(at: path[...], in: event) { value in conditions.contains { $0.matches(value) } }
    }
}

extension Pattern.Node {
    /// An array in the event matches when one of its elements does; an empty one is as good as none. That several fields
    /// match in one element is what Ruler's array consistency comes to (`ArrayMembership.checkArrayConsistency`).
    fileprivate func matches(_ value: JSONValue) -> Bool {
        if value.isArray { return value.elements.contains { matches($0) } }
        switch self {
        case .value(let conditions): return !value.isObject && conditions.contains { $0.matches(value) }
        case .object(let tests): return tests.allSatisfy { $0.holds(in: value) }
        }
    }

    fileprivate func mismatch(in value: JSONValue?, at pointer: String) -> (pointer: String, found: JSONValue?)? {
        guard case .object(let tests) = self, !(value?.isArray ?? false) else { return (pointer, value) }
        for test in tests where !(value.map { test.holds(in: $0) } ?? false) {
            switch test {
            case .member(let key, let node):
                let member = value.flatMap { value in key.withUnsafeBufferPointer { value.member($0) } }
                return node.mismatch(in: member, at: pointer + "/" + Self.token(key))
            case .absence(let path): return Self.obstacle(at: path[...], in: value, pointer)
            }
        }
        return nil
    }

    /// What stands under these keys, or the first array on the way.
    private static func obstacle(
        at path: ArraySlice<[UInt8]>, in value: JSONValue?, _ pointer: String
    ) -> (pointer: String, found: JSONValue?) {
        guard let key = path.first, let value, !value.isArray else { return (pointer, value) }
        let member = key.withUnsafeBufferPointer { value.member($0) }
        return obstacle(at: path.dropFirst(), in: member, pointer + "/" + token(key))
    }

    private static func token(_ key: [UInt8]) -> String { JSONPointer.escape(String(decoding: key, as: UTF8.self)) }
}

extension Pattern.Node.Test {
    /// `value`: no array.
    fileprivate func holds(in value: JSONValue) -> Bool {
        switch self {
        case .member(let key, let node):
            key.withUnsafeBufferPointer { value.member($0) }.map { node.matches($0) } ?? false
        case .absence(let path): !Pattern.anyValue(at: path[...], in: value) { _ in true }
        }
    }
}
