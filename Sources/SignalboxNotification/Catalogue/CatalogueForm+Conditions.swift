import SignalboxJSON

/// Conditions of markers, kinds, buttons and ignored fields all have this form.
extension CatalogueForm {
    /// The conditions of a list; leaves out those with a mistake. A value that is not a list is a mistake.
    mutating func conditions(_ value: JSONValue) -> [CatalogueCondition] { list(value).compactMap { condition($0) } }

    /// The conditions under a key; empty without the key.
    mutating func conditions(_ key: StaticString, of object: JSONValue) -> [CatalogueCondition] {
        object[key].map { conditions($0) } ?? []
    }

    /// One condition: a path or key prefix, and at most one test. Records a mistake of any other form. `besides`:
    /// keys of the object that do not belong to the condition. Unknown keys are mistakes; the message has the known
    /// keys.
    mutating func condition(_ value: JSONValue, besides others: [String] = []) -> CatalogueCondition? {
        let tests = [
            "is", "equals", "equalsIgnoringCase", "among", "notAmong", "startsWith", "host", "moreThan", "form",
        ]
        guard isObject(value, keys: others + ["at", "keyPrefix", "length"] + tests) else { return nil }
        let given = tests.filter { value.member($0) != nil }
        if given.count > 1 { record(value, "this asks for several things at once; write one of \(Self.names(given))") }
        guard let subject = subject(value), let test = test(value) else { return nil }
        return CatalogueCondition(subject: subject, test: test)
    }

    /// The path or key prefix; records a mistake unless there is exactly one.
    private mutating func subject(_ value: JSONValue) -> CatalogueCondition.Subject? {
        switch (value["at"], value["keyPrefix"]) {
        case (let at?, nil): return path(at).map { .path($0) }
        case (nil, let prefix?): return keyPrefix(prefix)
        default:
            record(value, "a condition has either \"at\", a path such as \"/acme/id\", or \"keyPrefix\"")
            return nil
        }
    }

    /// With an optional scope, as in `fcm:acme_`. Any other text before a colon is a part of the prefix.
    private mutating func keyPrefix(_ value: JSONValue) -> CatalogueCondition.Subject? {
        guard let text = text(value) else { return nil }
        for scope in [CataloguePath.Scope.apns, .fcm] where text.hasPrefix(scope.rawValue + ":") {
            let prefix = Array(text.utf8.dropFirst(scope.rawValue.utf8.count + 1))
            guard !prefix.isEmpty else { break }
            return .keyPrefix(prefix, scope)
        }
        return .keyPrefix(Array(text.utf8), .anywhere)
    }

    /// The words of `is`.
    private static let words: [String: CatalogueCondition.Test] = [
        "present": .present, "absent": .absent, "unset": .unset, "blank": .blank, "filled": .filled, "text": .text,
        "object": .object, "filledObject": .filledObject, "list": .list, "true": .isTrue, "scalar": .scalar,
        "integer": .integer,
    ]

    /// The test that the object names; `present` if it names none. Several tests in one condition are a mistake that
    /// the caller has recorded; the first in the order of this function counts.
    private mutating func test(_ value: JSONValue) -> CatalogueCondition.Test? {
        if let length = value["length"], value["form"] == nil {
            record(length, "\"length\" needs a \"form\" next to it")
        }
        if value["is"] != nil { return word("is", of: value, among: Self.words) }
        if let expected = value["equals"] {
            if let text = expected.scalarText { return .equals(text) }
            record(expected, "this must be a text that is not empty, a number or a boolean")
            return nil
        }
        if let limit = value["moreThan"] {
            if !limit.isString, let number = limit.double { return .moreThan(number) }
            record(limit, "this must be a number")
            return nil
        }
        if value["form"] != nil {
            let forms = Dictionary(uniqueKeysWithValues: TextForm.allCases.map { ($0.rawValue, $0) })
            guard let form = word("form", of: value, among: forms) else { return nil }
            return .form(form, length: whole("length", of: value, in: 1...256))
        }
        if let list = value["among"] {
            let words = self.list(list).compactMap { text($0) }
            if list.isEmptyContainer { record(list, "there is no text here; name at least one") }
            return words.isEmpty ? nil : .among(words)
        }
        if let expected = value["equalsIgnoringCase"] { return text(expected).map { .equalsIgnoringCase($0) } }
        if let expected = value["startsWith"] { return text(expected).map { .startsWith($0) } }
        if let expected = value["host"] { return text(expected).map { .host($0) } }
        if let list = value["notAmong"] {
            if list.isEmptyContainer { record(list, "there is no text here; name at least one") }
            return .notAmong(self.list(list).compactMap { text($0) })
        }
        return .present
    }
}
