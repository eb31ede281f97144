import SignalboxJSON

/// A mistake in an entry of a user's catalogue. The config reports it at the pointer, below `detectors.custom`.
package struct CatalogueMistake: Sendable, Equatable {
    /// JSON Pointer of the mistake.
    package let pointer: String
    /// One sentence without a full stop.
    package let message: String
}

/// Reads entries of a catalogue from JSON and records every mistake, so that one run shows all of them. The schema
/// `detector-1.json` describes the form. Never throws: the caller checks ``mistakes`` afterwards.
struct CatalogueForm {
    /// The owner of the values that are read; finds the pointers of mistakes.
    let parser: JSONParser
    /// Names that an entry must not use; empty for the built-in catalogue.
    var reserved: Set<String> = []
    /// In the order of reading, at most ``mostMistakes``.
    private(set) var mistakes: [CatalogueMistake] = []

    /// Further mistakes are dropped, because finding the pointer of each takes time.
    private static let mostMistakes = 100

    /// Records a mistake of a value; evaluates the message only below the limit.
    mutating func record(_ value: JSONValue, _ message: @autoclosure () -> String) {
        mistakes.append(
            CatalogueMistake(pointer: parser.pointer(to: value), message: message()), upTo: Self.mostMistakes)
    }

    /// The entries of a list. Entries with a mistake are returned as far as they can be read. Two entries of one
    /// vendor are a mistake.
    mutating func entries(_ value: JSONValue) -> [CatalogueEntry] {
        var entries: [CatalogueEntry] = []
        var vendors: Set<VendorID> = []
        for element in list(value) {
            guard let entry = entry(element) else { continue }
            if !vendors.insert(entry.vendor).inserted {
                record(element, "there are two entries for \"\(entry.vendor)\"; put their markers into one")
            }
            entries.append(entry)
        }
        return entries
    }

    /// One entry; nil for a value that is not an object.
    private mutating func entry(_ value: JSONValue) -> CatalogueEntry? {
        let keys = ["vendor", "name", "source", "confidence", "markers", "fields"]
        guard isObject(value, keys: keys) else { return nil }
        let vendor = optionalText("vendor", of: value)
        if value["vendor"] == nil { record(value, "\"vendor\" is missing: a short name for events, such as \"acme\"") }
        if let vendor, let named = value["vendor"] {
            if !NameRule.allows(vendor) { record(named, "\"\(vendor)\" is not a name: " + NameRule.words) }
            if reserved.contains(vendor) {
                record(named, "\"\(vendor)\" is the name of a built-in detector; choose another")
            }
        }
        let markers = value["markers"].map { self.markers($0) }
        if markers == nil { record(value, "\"markers\" is missing; it lists the evidence of the vendor") }
        let fields = value["fields"].map { self.fields($0) } ?? CatalogueFields()
        return CatalogueEntry(
            vendor: VendorID(vendor ?? ""), name: optionalText("name", of: value) ?? vendor ?? "",
            source: optionalText("source", of: value) ?? "", confidence: optionalText("confidence", of: value) ?? "",
            markers: markers ?? [], fields: fields)
    }

    // MARK: Markers

    /// The markers of an entry. Only the built-in catalogue may have an entry without a marker.
    private mutating func markers(_ value: JSONValue) -> [CatalogueMarker] {
        if value.isEmptyContainer, !reserved.isEmpty {
            record(value, "there is no marker here; without one nothing is recognised")
        }
        return list(value).compactMap { marker($0) }
    }

    /// One marker: a single condition, or the conditions under `all`. A missing strength counts as a hint, next to
    /// its mistake.
    private mutating func marker(_ value: JSONValue) -> CatalogueMarker? {
        guard value.isObject else {
            record(value, "a marker must be an object, such as {\"strength\": \"signature\", \"at\": \"/acme\"}")
            return nil
        }
        let strengths: [String: Detection.Strength] = ["hint": .hint, "signature": .signature, "proof": .proof]
        let strength = word("strength", of: value, among: strengths)
        if value["strength"] == nil {
            record(value, "\"strength\" is missing; write \"proof\", \"signature\" or \"hint\"")
        }
        var conditions: [CatalogueCondition] = []
        if let all = value["all"] {
            _ = isObject(value, keys: ["strength", "all"])
            conditions = list(all).compactMap { condition($0) }
            if all.isEmptyContainer { record(all, "there is no condition here; name at least one") }
        } else if let single = condition(value, besides: ["strength"]) {
            conditions = [single]
        }
        guard let first = conditions.first else { return nil }
        // The index finds a marker by the first key of its first condition.
        if first.test.acceptsAbsence {
            record(value, "the first condition of a marker must find a value; put \"absent\" after it")
        }
        if let path = first.path, path.firstKey == nil {
            record(value, "a marker's first path begins with a key, not with * or {i}")
        }
        return CatalogueMarker(strength: strength ?? .hint, conditions: conditions)
    }
}

// MARK: Values

/// Readers of single values, which record a mistake and return nil or an empty list.
extension CatalogueForm {
    /// True for an object; records keys that are not among the given ones, and repeated keys.
    mutating func isObject(_ value: JSONValue, keys: [String]) -> Bool {
        guard value.isObject else {
            record(value, "this must be an object, in braces")
            return false
        }
        var seen: Set<String> = []
        for (name, member) in value.members {
            let key = String(decoding: name, as: UTF8.self)
            if !keys.contains(key) { record(member, "there is no \"\(key)\" here; known here: \(Self.names(keys))") }
            if !seen.insert(key).inserted { record(member, "\"\(key)\" is listed twice; remove one") }
        }
        return true
    }

    /// Words for a message, separated by commas.
    static func names(_ words: [String]) -> String { words.joined(separator: ", ") }

    /// The elements of a list; records a mistake for any other value.
    mutating func list(_ value: JSONValue) -> [JSONValue] {
        if value.isArray { return Array(value.elements) }
        record(value, "this must be an array, in brackets")
        return []
    }

    /// A non-empty string; records a mistake for any other value.
    mutating func text(_ value: JSONValue) -> String? {
        if let text = value.text { return text }
        record(value, "this must be a string that is not empty")
        return nil
    }

    /// A non-empty string; nil without the key, and with a mistake for any other value.
    private mutating func optionalText(_ key: StaticString, of value: JSONValue) -> String? {
        value[key].flatMap { text($0) }
    }

    /// The meaning of a word; nil without the key. The message lists the known words in alphabetical order.
    mutating func word<T>(_ key: StaticString, of object: JSONValue, among words: [String: T]) -> T? {
        guard let value = object[key] else { return nil }
        if let meaning = value.text.flatMap({ words[$0] }) { return meaning }
        record(value, "this must be one of \(Self.names(words.keys.sorted().map { "\"\($0)\"" }))")
        return nil
    }

    /// A whole number in a range; nil without the key, and with a mistake for any other value.
    mutating func whole(_ key: StaticString, of object: JSONValue, in range: ClosedRange<Int>) -> Int? {
        guard let value = object[key] else { return nil }
        if let number = value.integer.flatMap({ Int(exactly: $0) }), range.contains(number) { return number }
        record(value, "this must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    /// A boolean; false without the key, and with a mistake for any other value.
    mutating func flag(_ key: StaticString, of object: JSONValue) -> Bool {
        guard let value = object[key] else { return false }
        if value.bool == nil { record(value, "this must be true or false") }
        return value.bool ?? false
    }

    /// One path; records a mistake for any other value. A path with more than one `*` is recorded as a mistake and
    /// returned.
    mutating func path(_ value: JSONValue) -> CataloguePath? {
        guard let text = text(value) else { return nil }
        guard let path = CataloguePath(text) else {
            record(
                value,
                "\"\(text)\" is not a path; write it like \"/acme/id\", with \"apns:\", \"fcm:\" or \"payload:\" in front to search only there"
            )
            return nil
        }
        if path.tokens.count(where: { $0 == .each }) > 1 { record(value, "a path may have one * only") }
        return path
    }

    /// One path, or a list of alternatives; empty without the key.
    mutating func paths(_ key: StaticString, of object: JSONValue) -> CataloguePaths {
        guard let value = object[key] else { return [] }
        guard value.isArray else { return path(value).map { [$0] } ?? [] }
        return CataloguePaths(value.elements.compactMap { path($0) })
    }

    /// One object, or a list of objects; empty without the key.
    mutating func objects(_ key: StaticString, of object: JSONValue) -> [JSONValue] {
        guard let value = object[key] else { return [] }
        return value.isArray ? Array(value.elements) : [value]
    }
}
