import SignalboxJSON

/// Values of one kind each: read, or noted as a mistake.
extension CatalogueForm {
    /// True for an object; keys that are not among those given are mistakes, as are repeated ones.
    mutating func isObject(_ value: JSONValue, keys: [String]) -> Bool {
        guard value.isObject else {
            note(value, "this must be an object, in braces")
            return false
        }
        var seen: Set<String> = []
        for (name, member) in value.members {
            let key = String(decoding: name, as: UTF8.self)
            if !keys.contains(key) { note(member, "there is no \"\(key)\" here; known here: \(Self.names(keys))") }
            if !seen.insert(key).inserted { note(member, "\"\(key)\" stands here twice; remove one") }
        }
        return true
    }

    static func names(_ words: [String]) -> String { words.joined(separator: ", ") }

    mutating func list(_ value: JSONValue) -> [JSONValue] {
        guard value.isArray else {
            note(value, "this must be an array, in brackets")
            return []
        }
        return Array(value.elements)
    }

    mutating func text(_ value: JSONValue) -> String? {
        if let text = value.text { return text }
        note(value, "this must be a string that is not empty")
        return nil
    }

    /// The meaning of a word; nil when the key is not there.
    mutating func word<T>(_ key: StaticString, of object: JSONValue, among words: [String: T]) -> T? {
        guard let value = object[key] else { return nil }
        if let meaning = value.text.flatMap({ words[$0] }) { return meaning }
        note(value, "this must be one of \(Self.names(words.keys.sorted().map { "\"\($0)\"" }))")
        return nil
    }

    mutating func whole(_ key: StaticString, of object: JSONValue, in range: ClosedRange<Int>) -> Int? {
        guard let value = object[key] else { return nil }
        if let number = value.integer.flatMap({ Int(exactly: $0) }), range.contains(number) { return number }
        note(value, "this must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    mutating func path(_ value: JSONValue) -> CataloguePath? {
        guard let text = text(value) else { return nil }
        guard let path = CataloguePath(text) else {
            note(
                value,
                "\"\(text)\" is no path; write it like \"/acme/id\", with \"apns:\", \"fcm:\" or \"payload:\" in front where it holds only there"
            )
            return nil
        }
        if path.tokens.count(where: { $0 == .each }) > 1 { note(value, "a path may have one * only") }
        return path
    }

    /// One path, or a list of alternatives; none when the key is not there.
    mutating func paths(_ key: StaticString, of object: JSONValue) -> CataloguePaths {
        guard let value = object[key] else { return [] }
        guard value.isArray else { return path(value).map { [$0] } ?? [] }
        return value.elements.compactMap { path($0) }
    }

    /// One object, or a list of them; none when the key is not there.
    mutating func objects(_ key: StaticString, of object: JSONValue) -> [JSONValue] {
        guard let value = object[key] else { return [] }
        return value.isArray ? Array(value.elements) : [value]
    }
}
