import SignalboxJSON
import SignalboxModel

/// Values of one kind each: read, or noted as a mistake.
extension ConfigReader {
    static func repeated(_ key: String) -> String { "\"\(key)\" stands here twice; remove one" }

    /// True for an object; keys that are not among those given are mistakes, as are repeated ones.
    mutating func isObject(_ value: JSONValue, keys: [String]) -> Bool {
        guard value.isObject else {
            note(value, "this must be an object, in braces")
            return false
        }
        ask(keys, of: value)
        var seen: Set<String> = []
        for (name, member) in value.members {
            let key = String(decoding: name, as: UTF8.self)
            if !keys.contains(key) {
                note(keyOf: member, "there is no setting \"\(key)\" here" + Self.suggestion(for: key, among: keys))
            }
            if !seen.insert(key).inserted { note(keyOf: member, Self.repeated(key)) }
        }
        return true
    }

    /// The members of objects, one of each file at most, whose keys are names.
    mutating func namedObjects(_ objects: [JSONValue]) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        var first: [String: (object: Int, member: JSONValue)] = [:]
        for (position, object) in objects.enumerated() {
            guard object.isObject else {
                note(object, "this must be an object, in braces, with a name for each entry")
                continue
            }
            for (name, member) in object.members {
                let key = String(decoding: name, as: UTF8.self)
                if !NameRule.allows(key) { note(keyOf: member, "\"\(key)\" is no name: " + NameRule.words) }
                if let earlier = first[key] {
                    repeats(key, member, of: earlier.object == position ? nil : earlier.member)
                } else {
                    first[key] = (position, member)
                }
                members.append((key, member))
            }
        }
        return members
    }

    /// `other`: where it stands in another file.
    private mutating func repeats(_ key: String, _ member: JSONValue, of other: JSONValue?) {
        guard let other else {
            note(keyOf: member, Self.repeated(key))
            return
        }
        note(
            keyOf: member, "\"\(key)\" is declared in two files; rename one, or remove it",
            also: [(place(of: other, isKey: true), "the first one is here")])
    }

    mutating func list(_ value: JSONValue) -> [JSONValue] {
        guard value.isArray else {
            note(value, "this must be an array, in brackets")
            return []
        }
        return Array(value.elements)
    }

    mutating func text(_ value: JSONValue) -> String? {
        guard let text = value.string, !text.isEmpty else {
            note(value, "this must be a string that is not empty")
            return nil
        }
        return text
    }

    mutating func flag(_ value: JSONValue) -> Bool {
        guard let flag = value.bool else {
            note(value, "this must be true or false")
            return false
        }
        return flag
    }

    mutating func whole(_ value: JSONValue, in range: ClosedRange<Int>) -> Int? {
        guard let number = value.integer.flatMap({ Int(exactly: $0) }), range.contains(number) else {
            note(value, "this must be a whole number from \(range.lowerBound) to \(range.upperBound)")
            return nil
        }
        return number
    }

    mutating func duration(_ value: JSONValue, in range: ClosedRange<Duration>, example: String) -> Duration? {
        guard let duration = value.string.flatMap({ Duration(text: $0) }), range.contains(duration) else {
            let bounds = "from \(range.lowerBound.text) to \(range.upperBound.text)"
            note(value, "this must be a duration such as \"\(example)\", with ms, s, m, h or d, \(bounds)")
            return nil
        }
        return duration
    }

    mutating func pointer(_ value: JSONValue) -> JSONPointer? {
        guard let text = text(value) else { return nil }
        guard let pointer = JSONPointer(text) else {
            note(value, "\"\(text)\" is no JSON Pointer; write it like \"/data/campaign/id\"")
            return nil
        }
        return pointer
    }

    mutating func secret(_ value: JSONValue) -> SecretReference? {
        guard let reference = value.string.flatMap({ SecretReference($0) }) else {
            note(
                secret: value,
                "this must be a reference such as \"env:NAME\" or \"file:/path\"; the secret itself does not belong in the config"
            )
            return nil
        }
        return reference
    }

    /// One reference, or an array of up to five, all of which count.
    mutating func secrets(_ value: JSONValue) -> [SecretReference] {
        guard value.isArray else { return secret(value).map { [$0] } ?? [] }
        let entries = Array(value.elements.prefix(6))
        if entries.isEmpty || entries.count > 5 {
            note(value, "this must be one reference, or an array of 1 to 5 of them while a secret is being replaced")
        }
        return entries.compactMap { secret($0) }
    }

    mutating func webAddress(_ value: JSONValue) -> String? {
        guard let text = text(value) else { return nil }
        guard Self.isWebAddress(text) else {
            note(
                url: value, text,
                "this must be an http or https URL with a host, and without blanks, user name or fragment")
            return nil
        }
        return text
    }

    /// Records a mistake in a URL, which is not shown when a password may be in it.
    mutating func note(url value: JSONValue, _ text: String, _ message: String) {
        if text.contains("@") { note(secret: value, message) } else { note(value, message) }
    }

    /// The nearest valid word, when one is near.
    static func suggestion(for word: String, among known: [String]) -> String {
        let near = known.map { (word: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
        guard let near, near.distance <= (word.count < 4 ? 1 : max(2, word.count / 3)) else {
            return "; known here: " + known.filter { $0 != "$schema" }.joined(separator: ", ")
        }
        return "; did you mean \"\(near.word)\"?"
    }

    /// Levenshtein's distance, letter case aside.
    private static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.lowercased())
        let right = Array(right.lowercased())
        var row = Array(0...right.count)
        for (i, a) in left.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, b) in right.enumerated() {
                let substituted = diagonal + (a == b ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substituted, diagonal + 1, row[j] + 1)
            }
        }
        return row[right.count]
    }
}
