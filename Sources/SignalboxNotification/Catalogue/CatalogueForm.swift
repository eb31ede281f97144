import SignalboxJSON

/// Reads entries of a catalogue from JSON and notes what is wrong, so that one run shows every mistake. The form is
/// described by the schema `detector-1.json`.
struct CatalogueForm {
    let parser: JSONParser
    /// Names that an entry may not take.
    var reserved: Set<String> = []
    private(set) var mistakes: [CatalogueMistake] = []

    init(parser: JSONParser, reserved: Set<String> = []) {
        self.parser = parser
        self.reserved = reserved
    }

    /// After this many mistakes the rest is not recorded, because locating each takes time.
    private static let mostMistakes = 100

    mutating func note(_ value: JSONValue, _ message: @autoclosure () -> String) {
        guard mistakes.count < Self.mostMistakes else { return }
        mistakes.append(CatalogueMistake(pointer: parser.pointer(to: value), message: message()))
    }

    mutating func entries(_ value: JSONValue) -> [CatalogueEntry] {
        var entries: [CatalogueEntry] = []
        var vendors: Set<VendorID> = []
        for element in list(value) {
            guard let entry = entry(element) else { continue }
            if !vendors.insert(entry.vendor).inserted {
                note(element, "there are two entries for \"\(entry.vendor)\"; put their markers into one")
            }
            entries.append(entry)
        }
        return entries
    }

    private mutating func entry(_ value: JSONValue) -> CatalogueEntry? {
        let keys = ["vendor", "name", "source", "confidence", "markers", "fields"]
        guard isObject(value, keys: keys) else { return nil }
        let vendor = required("vendor", of: value, "a short name for events, such as \"acme\"")
        if let vendor, let place = value["vendor"] { check(vendor, at: place) }
        let markers = value["markers"].map { self.markers($0) }
        if markers == nil { note(value, "\"markers\" is missing; it says by what the vendor is recognised") }
        let fields = value["fields"].map { self.fields($0) } ?? CatalogueFields()
        return CatalogueEntry(
            vendor: VendorID(vendor ?? ""), name: optionalText("name", of: value) ?? vendor ?? "",
            source: optionalText("source", of: value) ?? "", confidence: optionalText("confidence", of: value) ?? "",
            markers: markers ?? [], fields: fields)
    }

    private mutating func check(_ vendor: String, at place: JSONValue) {
        if !NameRule.allows(vendor) { note(place, "\"\(vendor)\" is no name: " + NameRule.words) }
        if reserved.contains(vendor) {
            note(place, "\"\(vendor)\" is the name of a detector that is built in; take another")
        }
    }

    private mutating func optionalText(_ key: StaticString, of value: JSONValue) -> String? {
        value[key].flatMap { text($0) }
    }

    mutating func required(_ key: StaticString, of value: JSONValue, _ what: String) -> String? {
        if let member = value[key] { return text(member) }
        note(value, "\"\(key)\" is missing: \(what)")
        return nil
    }

    // MARK: Markers

    private mutating func markers(_ value: JSONValue) -> [CatalogueMarker] {
        if value.isEmptyContainer, !reserved.isEmpty {
            note(value, "there is no marker here; without one nothing is recognised")
        }
        return list(value).compactMap { marker($0) }
    }

    private mutating func marker(_ value: JSONValue) -> CatalogueMarker? {
        guard value.isObject else {
            note(value, "a marker must be an object, such as {\"strength\": \"signature\", \"at\": \"/acme\"}")
            return nil
        }
        let strengths: [String: Detection.Strength] = ["hint": .hint, "signature": .signature, "proof": .proof]
        let strength = word("strength", of: value, among: strengths)
        if value["strength"] == nil {
            note(value, "\"strength\" is missing; write \"proof\", \"signature\" or \"hint\"")
        }
        var conditions: [CatalogueCondition] = []
        if let all = value["all"] {
            _ = isObject(value, keys: ["strength", "all"])
            conditions = list(all).compactMap { condition($0) }
            if all.isEmptyContainer { note(all, "there is no condition here; name at least one") }
        } else if let single = condition(value, besides: ["strength"]) {
            conditions = [single]
        }
        if let first = conditions.first { checkBeginning(first, of: value) }
        return conditions.isEmpty ? nil : CatalogueMarker(strength: strength ?? .hint, conditions: conditions)
    }

    /// A marker is found by the key with which its first condition begins.
    private mutating func checkBeginning(_ condition: CatalogueCondition, of value: JSONValue) {
        if condition.test.holdsOfNothing {
            note(value, "the first condition of a marker says what is there; put \"absent\" behind it")
        }
        if case .path(let path) = condition.subject, path.firstKey == nil {
            note(value, "a marker's first path begins with a key, not with * or {i}")
        }
    }

    // MARK: Conditions

    mutating func conditions(_ value: JSONValue) -> [CatalogueCondition] { list(value).compactMap { condition($0) } }

    /// `besides`: keys that the object may have for others.
    mutating func condition(_ value: JSONValue, besides others: [String] = []) -> CatalogueCondition? {
        let tests = [
            "is", "equals", "equalsIgnoringCase", "among", "notAmong", "startsWith", "host", "moreThan", "form",
        ]
        guard isObject(value, keys: others + ["at", "keyPrefix", "length"] + tests) else { return nil }
        let given = tests.filter { value.member($0) != nil }
        if given.count > 1 { note(value, "this asks for several things at once; write one of \(Self.names(given))") }
        guard let subject = subject(value), let test = test(value) else { return nil }
        return CatalogueCondition(subject: subject, test: test)
    }

    private mutating func subject(_ value: JSONValue) -> CatalogueCondition.Subject? {
        switch (value["at"], value["keyPrefix"]) {
        case (let at?, nil): return path(at).map { .path($0) }
        case (nil, let prefix?): return keyPrefix(prefix)
        default:
            note(value, "a condition has either \"at\", a path such as \"/acme/id\", or \"keyPrefix\"")
            return nil
        }
    }

    /// With or without a place in front, as in `fcm:acme_`.
    private mutating func keyPrefix(_ value: JSONValue) -> CatalogueCondition.Subject? {
        guard let text = text(value) else { return nil }
        for place in [CataloguePath.Place.apns, .fcm] where text.hasPrefix(place.rawValue + ":") {
            let prefix = Array(text.utf8.dropFirst(place.rawValue.utf8.count + 1))
            guard !prefix.isEmpty else { break }
            return .keyPrefix(prefix, place)
        }
        return .keyPrefix(Array(text.utf8), .anywhere)
    }

    private mutating func test(_ value: JSONValue) -> CatalogueCondition.Test? {
        let words: [String: CatalogueCondition.Test] = [
            "present": .present, "absent": .absent, "unset": .unset, "filled": .filled, "text": .text,
            "object": .object,
            "filledObject": .filledObject, "list": .list, "true": .isTrue, "scalar": .scalar, "integer": .integer,
        ]
        if let length = value["length"], value["form"] == nil {
            note(length, "\"length\" needs a \"form\" next to it")
        }
        if value["is"] != nil { return word("is", of: value, among: words) }
        if let wanted = value["equals"] {
            guard let text = wanted.spelled else {
                note(wanted, "this must be a text that is not empty, a number or a boolean")
                return nil
            }
            return .equals(text)
        }
        if let limit = value["moreThan"] {
            if !limit.isString, let number = limit.double { return .moreThan(number) }
            note(limit, "this must be a number")
            return nil
        }
        if value["form"] != nil { return form(value) }
        if let words = value["among"] { return among(words) }
        if let wanted = value["equalsIgnoringCase"] { return text(wanted).map { .equalsIgnoringCase($0) } }
        if let wanted = value["startsWith"] { return text(wanted).map { .startsWith($0) } }
        if let wanted = value["host"] { return text(wanted).map { .host($0) } }
        if let words = value["notAmong"] { return .notAmong(list(words).compactMap { text($0) }) }
        return .present
    }

    private mutating func among(_ value: JSONValue) -> CatalogueCondition.Test? {
        let words = list(value).compactMap { text($0) }
        if value.isEmptyContainer { note(value, "there is no text here; name at least one") }
        return words.isEmpty ? nil : .among(words)
    }

    private mutating func form(_ value: JSONValue) -> CatalogueCondition.Test? {
        let forms = Dictionary(uniqueKeysWithValues: TextForm.allCases.map { ($0.rawValue, $0) })
        guard let form = word("form", of: value, among: forms) else { return nil }
        return .form(form, length: whole("length", of: value, in: 1...256))
    }
}
