package import SignalboxJSON
package import SignalboxNotification

/// Bounds on a config and its parts, so that reading it and matching with it take limited time and memory. A config
/// beyond a bound is rejected with an error, never cut.
package enum ConfigBounds {
    /// Bytes of all files together.
    package static let bytes = 16 << 20
    /// Routes of all files together.
    package static let routes = 100_000
    /// Destinations of all files together.
    static let destinations = 10_000
    /// Sources of all files together.
    static let sources = 10_000
    /// Declared categories.
    static let categories = 10_000
    /// Declared types of actions.
    static let actionTypes = 1_000
    /// Entries of an array, unless another bound applies.
    package static let entries = 1_000
    /// Bytes and keys of a JSON Pointer.
    static let (pointerBytes, pointerKeys) = (1_024, 32)
    /// Characters of a single-line string.
    static let lineCharacters = 1_024
}

/// Reads values by their declarations and records what is wrong, so that one run shows every mistake. A reader never
/// throws: a value with an error leads to nil or to a default, and ``diagnostics`` has the error. One reader reads all
/// files of a config.
package struct ConfigReader {
    /// Owns the memory of all values that the reader sees.
    let parser: JSONParser
    /// The value of each file, the config's own first.
    let roots: [JSONValue]
    /// The location of the first root within the config, when the text is a part of it.
    private let base: ConfigLocation
    /// The findings so far, in the order of reading.
    package var diagnostics = ConfigDiagnostics()
    /// The declared destinations, including those with mistakes.
    let destinations: KnownDestinations
    /// The files of templates, as the config names them.
    var templateFiles: [String] = []
    /// The known keys that are misspelled, or whose value has an error, in the object whose check runs. Such an error
    /// explains an absence and a default, which cause no other error.
    var mistaken: Set<String> = []
    /// The first entry of each key of objects that all files share, by the plural of their entries.
    private var shared: [String: [String: JSONValue]] = [:]

    /// `roots`: of this parser. `base`: the location of the first root when the text is a part of a config. The
    /// reader keeps the parser, and with it the values, alive.
    package init(parser: JSONParser, roots: [JSONValue], base: ConfigLocation = ConfigLocation(pointer: "")) {
        (self.parser, self.roots, self.base) = (parser, roots, base)
        // A part of a config has no declarations.
        destinations = KnownDestinations(in: base.pointer.isEmpty ? roots : [])
    }

    // MARK: Errors

    /// Records an error on a value. The message is computed only if it is listed.
    package mutating func note(_ value: JSONValue, _ message: @autoclosure () -> String) {
        diagnostics.error(at: location(of: value), message())
    }

    /// Notes a mistake in a value that cannot be used: nil.
    package mutating func refuse<Value>(_ value: JSONValue, _ message: @autoclosure () -> String) -> Value? {
        note(value, message())
        return nil
    }

    /// Records an error on a member's key.
    package mutating func note(keyOf member: JSONValue, _ message: @autoclosure () -> String) {
        diagnostics.error(at: location(of: member, isKey: true), message())
    }

    /// Records an error on a value that may be a secret and must not be shown.
    mutating func note(secret value: JSONValue, _ message: @autoclosure () -> String) {
        diagnostics.error(at: location(of: value), message(), mayBeSecret: true)
    }

    /// Records an error on a value of a wrong type. `isOfSecret`: the option has a secret, so the value may be one;
    /// only a reference to a secret is shown.
    private mutating func note(mistyped value: JSONValue, _ message: @autoclosure () -> String, isOfSecret: Bool) {
        let mayBeSecret = isOfSecret && value.string.flatMap { SecretReference($0) } == nil
        diagnostics.error(at: location(of: value), message(), mayBeSecret: mayBeSecret)
    }

    /// Records an error on a URL, which is hidden when it may contain a password.
    mutating func note(url value: JSONValue, _ message: @autoclosure () -> String) {
        diagnostics.error(at: location(of: value), message(), mayBeSecret: value.string?.contains("@") ?? false)
    }

    /// The location, or any once further findings are only counted: to find one takes time.
    private func location(of value: JSONValue, isKey: Bool = false) -> ConfigLocation {
        guard !diagnostics.isFull else { return base }
        var location = ConfigLocation(
            file: base.file + file(of: value), pointer: base.pointer + parser.pointer(to: value), isKey: isKey)
        location.path = ConfigPath(start: base.pointer, positions: parser.positions(to: value))
        return location
    }

    /// The index of the file that has a value. Counted from 0, in the order of ``roots``. Linear in the number of
    /// files. 0 for a value of no root.
    func file(of value: JSONValue) -> Int { roots.firstIndex { $0.contains(value) } ?? 0 }

    /// Valid words that a message lists.
    private static let mostListed = 60

    /// The nearest valid word, or the valid words when none is near. Begins with a semicolon: it continues the error.
    /// Lists at most 60 words.
    package static func suggestion(for word: String, among known: [String]) -> String {
        suggestion(of: Spelling.nearest(to: word, among: known), among: known)
    }

    /// `near`: the nearest of the valid words, if one is near.
    private static func suggestion(of near: String?, among known: [String]) -> String {
        if let near { return "; did you mean \"\(near)\"?" }
        let names = known.filter { !$0.hasPrefix("$") }
        let rest = names.count > mostListed ? " and \(names.count - mostListed) more" : ""
        return "; known here: " + names.prefix(mostListed).joined(separator: ", ") + rest
    }

    // MARK: Values

    /// True for an object; unknown and repeated keys are errors. Records one error for each such key, and returns true
    /// then too: the valid members are still read. `isOfSecret`: a member is a secret, so another value in place of the
    /// object may be one too.
    package mutating func isObject(_ value: JSONValue, keys: [String], isOfSecret: Bool = false) -> Bool {
        guard value.isObject else {
            let mayBeSecret = isOfSecret && !value.elements.contains { $0.isObject }
            note(mistyped: value, "this must be an object, in braces", isOfSecret: mayBeSecret)
            return false
        }
        var seen: Set<String> = []
        mistaken = []
        for (name, member) in value.members {
            let key = String(decoding: name, as: UTF8.self)
            if !keys.contains(key), let near = note(unknown: key, of: member, among: keys) { mistaken.insert(near) }
            if !seen.insert(key).inserted { note(keyOf: member, Self.repeated(key)) }
        }
        return true
    }

    /// Records an unknown key, and returns the nearest known one, if one is near. Its value is hidden if the key is a
    /// misspelled name of a secret, or could be one.
    private mutating func note(unknown key: String, of member: JSONValue, among keys: [String]) -> String? {
        // Both take time, and have no use for an error that is only counted.
        let near = diagnostics.isFull ? nil : Spelling.nearest(to: key, among: keys)
        let mayBeSecret = !diagnostics.isFull && (near.map { [$0] } ?? keys).contains { SecretScan.isSecret(key: $0) }
        diagnostics.error(
            at: location(of: member, isKey: true),
            "there is no setting \"\(key)\" here" + Self.suggestion(of: near, among: keys), mayBeSecret: mayBeSecret)
        return near
    }

    /// True if an object has neither a key nor a misspelling of it. `value`: the object of the check that runs.
    func lacks(_ key: String, in value: JSONValue) -> Bool { value.member(key) == nil && !mistaken.contains(key) }

    /// For a key of one object or of the same file.
    private static func repeated(_ key: String) -> String { "\"\(key)\" is listed twice; remove one" }

    /// The entries of an object with keys of its own; nil for another value or for too many entries. Includes entries
    /// with invalid or repeated keys, so that their values are checked too. `rule`: bounds, form and uniqueness of
    /// the keys. A shared rule counts the entries of all files read so far.
    mutating func entries(of value: JSONValue, by rule: KeyRule) -> [(String, JSONValue)]? {
        guard value.isObject else { return refuse(value, "this must be an object, in braces, with \(rule.entries)") }
        var first = rule.isShared ? shared[rule.plural, default: [:]] : [:]
        guard value.members.dropFirst(rule.most - first.count).first(where: { _ in true }) == nil else {
            return refuse(value, "these are more than \(rule.most) \(rule.plural); remove some")
        }
        var entries: [(String, JSONValue)] = []
        for (name, member) in value.members {
            var key = String(decoding: name, as: UTF8.self)
            if rule.isCaseInsensitive { key = key.lowercased() }
            if let problem = rule.problem(key) {
                if rule.isShared { note(keyOf: member, problem) } else { note(member, problem) }
            } else if rule.isLine, let problem = Self.problem(ofLine: key) {
                note(keyOf: member, problem)
            }
            if let earlier = first[key] {
                noteRepeat(of: key, member, earlier)
            } else {
                first[key] = member
            }
            entries.append((key, member))
        }
        if rule.isShared { shared[rule.plural] = first }
        return entries
    }

    /// Names both locations when they are in different files.
    private mutating func noteRepeat(of key: String, _ member: JSONValue, _ earlier: JSONValue) {
        guard file(of: member) != file(of: earlier) else {
            note(keyOf: member, Self.repeated(key))
            return
        }
        diagnostics.error(
            at: location(of: member, isKey: true), "\"\(key)\" is declared in two files; rename one, or remove it",
            also: [(location(of: earlier, isKey: true), "the first one is here")])
    }

    /// False, with an error, for an object with both or none of the first two keys. `keys`: every allowed key. An
    /// object with none of them and an unknown key counts as valid: the key explains the absence, and ``isObject``
    /// reports it.
    mutating func hasEither(_ keys: [String], in value: JSONValue, orElse problem: String) -> Bool {
        let (first, second) = (value.member(keys[0]) != nil, value.member(keys[1]) != nil)
        guard value.isObject, first == second else { return true }
        let isMisspelled = value.members.contains { !keys.contains(String(decoding: $0.0, as: UTF8.self)) }
        guard first || !isMisspelled, isObject(value, keys: keys) else { return true }
        note(value, problem)
        return false
    }

    /// Reports every repeated key of an object and of all objects in it. Lists at most 10 repeats of each object.
    /// Recursive: the parser limits the depth.
    package mutating func checkRepeats(in value: JSONValue, _ message: String) {
        let repeats = value.repeats(upTo: 10)
        for (_, member) in value.members {
            if repeats.contains(where: { $0.isSamePlace(as: member) }) { note(member, message) }
            checkRepeats(in: member, message)
        }
        for element in value.elements { checkRepeats(in: element, message) }
    }

    /// The entries of an array; nil, with an error, for another value or another number of entries. `problem`: the
    /// error for fewer entries, and for more if the bound is below ``ConfigBounds/entries``. `isOfSecret`: the entries
    /// are secrets, so another value in place of the array may be one too.
    mutating func entries(
        _ value: JSONValue, _ count: ClosedRange<Int>, orElse problem: String, isOfSecret: Bool = false
    ) -> [JSONValue]? {
        let most = count.upperBound
        guard value.isArray else {
            note(mistyped: value, "this must be an array, in brackets", isOfSecret: isOfSecret)
            return nil
        }
        let entries = Array(value.elements.prefix(most + 1))
        if count.contains(entries.count) { return entries }
        let isBeyondBounds = entries.count > most && most >= ConfigBounds.entries
        return refuse(value, isBeyondBounds ? "this has more than \(most) entries; remove some" : problem)
    }

    /// The entries of an array, at most this many; none, with an error, for anything else.
    package mutating func list(_ value: JSONValue, upTo most: Int = ConfigBounds.entries) -> [JSONValue] {
        entries(value, 0...most, orElse: "this has more than \(most) entries; remove some") ?? []
    }

    /// A string that is not empty; nil, with an error, for any other value.
    package mutating func text(_ value: JSONValue) -> String? {
        if let text = value.string, !text.isEmpty { return text }
        return refuse(value, "this must be a string that is not empty")
    }

    /// A string that logs and terminals show on one line. Nil, with an error, for any other value, and for more than
    /// ``ConfigBounds/lineCharacters`` characters.
    package mutating func line(_ value: JSONValue) -> String? {
        guard let text = text(value) else { return nil }
        guard let problem = Self.problem(ofLine: text) else { return text }
        return refuse(value, problem)
    }

    /// A boolean; nil, with an error, for any other value.
    package mutating func flag(_ value: JSONValue) -> Bool? { OptionType<Bool>.flag.read(value, &self) }

    /// An RFC 3339 time; nil, with an error, for any other value.
    package mutating func instant(_ value: JSONValue) -> Timestamp? { OptionType<Timestamp>.instant.read(value, &self) }

    /// Returns the error for a text that is too long or has a control character; nil for a valid text.
    static func problem(ofLine text: String) -> String? {
        guard text.utf8.count <= 4 * ConfigBounds.lineCharacters, text.count <= ConfigBounds.lineCharacters else {
            return "this has more than \(ConfigBounds.lineCharacters) characters; shorten it"
        }
        guard text.unicodeScalars.contains(where: isControl) else { return nil }
        return "this has a control character, which would change how logs and terminals show it; remove it"
    }

    /// Control characters, line separators, and characters that change the writing direction (Unicode Standard Annex
    /// 9, 2). Also used for URLs, and for keys that logs show.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format:
            switch scalar.value {
            case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
            default: false
            }
        default: false
        }
    }

    /// A JSON Pointer within the bounds; nil for anything else. The bounds limit the work of each lookup.
    static func boundedPointer(_ text: String) -> JSONPointer? {
        guard text.utf8.count <= ConfigBounds.pointerBytes, let pointer = JSONPointer(text),
            pointer.tokens.count <= ConfigBounds.pointerKeys
        else { return nil }
        return pointer
    }
}
