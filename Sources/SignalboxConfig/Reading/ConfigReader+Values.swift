package import SignalboxJSON
import SignalboxNotification

/// Records what is wrong with a value.
extension ConfigReader {
    /// Another value that an error is about, with its own message.
    struct Related {
        let value: JSONValue
        var isKey = false
        let message: String
    }

    package mutating func note(_ value: JSONValue, _ message: @autoclosure () -> String) {
        diagnostics.error(at: listedLocation(of: value), message())
    }

    /// Records an error that concerns other values too.
    mutating func note(
        _ value: JSONValue, isKey: Bool = false, _ message: @autoclosure () -> String, also related: [Related]
    ) {
        let related = related.map { (listedLocation(of: $0.value, isKey: $0.isKey), $0.message) }
        diagnostics.error(at: listedLocation(of: value, isKey: isKey), message(), also: related)
    }

    /// Records an error on a value that may be a secret and must not be shown.
    mutating func note(secret value: JSONValue, _ message: @autoclosure () -> String) {
        diagnostics.error(at: listedLocation(of: value), message(), mayBeSecret: true)
    }

    /// Records an error on a member's key.
    package mutating func note(keyOf member: JSONValue, _ message: @autoclosure () -> String) {
        diagnostics.error(at: listedLocation(of: member, isKey: true), message())
    }

    /// The location, or any once no more findings are listed: to find one takes time.
    private func listedLocation(of value: JSONValue, isKey: Bool = false) -> ConfigLocation {
        diagnostics.isFull ? base : location(of: value, isKey: isKey)
    }

    func location(of value: JSONValue, isKey: Bool = false) -> ConfigLocation {
        ConfigLocation(
            file: base.file + (roots.firstIndex { $0.contains(value) } ?? 0),
            pointer: base.pointer + parser.pointer(to: value), isKey: isKey)
    }

    /// Valid words that a message lists.
    private static let mostListed = 50

    /// The nearest valid word, or the valid words when none is near.
    package static func suggestion(for word: String, among known: [String]) -> String {
        if let near = Spelling.nearest(to: word, among: known) { return "; did you mean \"\(near)\"?" }
        let names = known.filter { $0 != "$schema" }
        let rest = names.count > mostListed ? " and \(names.count - mostListed) more" : ""
        return "; known here: " + names.prefix(mostListed).joined(separator: ", ") + rest
    }

    /// Reports every repeated key of an object and of all objects in it.
    package mutating func checkRepeats(in value: JSONValue, _ message: String) {
        for repeated in value.repeats(upTo: 10) { note(repeated, message) }
        for (_, member) in value.members { checkRepeats(in: member, message) }
        for element in value.elements { checkRepeats(in: element, message) }
    }
}

/// Values of one kind each: read, or noted as a mistake.
extension ConfigReader {
    static func repeated(_ key: String) -> String { "\"\(key)\" stands here twice; remove one" }

    /// True for an object; keys that are not among those given are mistakes, as are repeated ones.
    package mutating func isObject(_ value: JSONValue, keys: [String]) -> Bool {
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

    /// The members of objects, at most one object in each file, whose keys are names. `most`: of this kind, in all
    /// files.
    mutating func namedObjects(
        _ objects: [JSONValue], upTo most: Int, _ kind: String
    ) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        var first: [String: (object: Int, member: JSONValue)] = [:]
        for (position, object) in objects.enumerated() {
            guard object.isObject else {
                note(object, "this must be an object, in braces, with a name for each entry")
                continue
            }
            guard hasAtMost(most - members.count, kind, in: object) else { continue }
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
            member, isKey: true, "\"\(key)\" is declared in two files; rename one, or remove it",
            also: [Related(value: other, isKey: true, message: "the first one is here")])
    }

    package mutating func text(_ value: JSONValue) -> String? {
        guard let text = value.string, !text.isEmpty else {
            note(value, "this must be a string that is not empty")
            return nil
        }
        return text
    }

    package mutating func flag(_ value: JSONValue) -> Bool {
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

    package mutating func pointer(_ value: JSONValue) -> JSONPointer? {
        guard let text = text(value) else { return nil }
        guard let pointer = Self.boundedPointer(text) else {
            note(value, "\"\(text)\" is no JSON Pointer; write it like \"/data/campaign/id\"" + Self.pointerHint(text))
            return nil
        }
        return pointer
    }

    private static func pointerHint(_ text: String) -> String {
        guard JSONPointer(text) != nil else { return "" }
        return ", with at most \(ConfigBounds.pointerBytes) bytes and \(ConfigBounds.pointerKeys) keys"
    }

    mutating func secret(_ value: JSONValue) -> SecretReference? {
        guard let text = value.string, Self.problem(ofLine: text) == nil, let reference = SecretReference(text) else {
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

    /// Records an error in a URL. The value is hidden when it may contain a password.
    mutating func note(url value: JSONValue, _ text: String, _ message: String) {
        if text.contains("@") { note(secret: value, message) } else { note(value, message) }
    }
}
