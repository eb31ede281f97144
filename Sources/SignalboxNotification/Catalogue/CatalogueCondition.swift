import SignalboxJSON

/// Something that holds of a payload or does not: a value at a path, or a key with a prefix.
struct CatalogueCondition: Sendable, Equatable {
    enum Subject: Sendable, Equatable {
        case path(CataloguePath)
        case keyPrefix([UInt8], CataloguePath.Place)
    }

    enum Test: Sendable, Equatable {
        /// Anything but null.
        case present
        case absent
        /// Absent, null or an empty text.
        case unset
        /// A text, list or object that is not empty; any number or boolean.
        case filled
        /// A non-empty text, or any number or boolean.
        case scalar
        /// A whole number, or the text of one.
        case integer
        case text
        /// An object, or the JSON text of one.
        case object
        case filledObject
        case list
        /// A flag as Apple's `boolValue` reads it.
        case isTrue
        /// Text, or a number or boolean whose text is this.
        case equals(String)
        case equalsIgnoringCase(String)
        /// Text, or a number or boolean whose text is one of these.
        case among([String])
        case startsWith(String)
        /// A text or number other than these words.
        case notAmong([String])
        /// An `http` or `https` address on this host or on one below it.
        case host(String)
        /// A number above this, or its text.
        case moreThan(Double)
        /// A text of a form that few texts have; `length`: in bytes, if given.
        case form(TextForm, length: Int?)
    }

    let subject: Subject
    let test: Test

    var place: CataloguePath.Place {
        switch subject {
        case .path(let path): path.place
        case .keyPrefix(_, let place): place
        }
    }

    func holds(in payload: borrowing PlatformPayload) -> Bool {
        guard payload.has(place) else { return false }
        guard let value = value(in: payload) else { return test.holdsOfNothing }
        return test.holds(of: value, in: payload.parser)
    }

    /// As above, of an element of a list, in which `find` follows a path.
    func holds(_ find: (CataloguePath) -> JSONValue?) -> Bool {
        guard case .path(let path) = subject else { return false }
        guard let value = find(path) else { return test.holdsOfNothing }
        return test.holds(of: value)
    }

    /// Where it looks; nil when it looks at keys.
    var path: CataloguePath? {
        if case .path(let path) = subject { path } else { nil }
    }

    /// The value that it speaks of.
    func value(in payload: borrowing PlatformPayload) -> JSONValue? {
        switch subject {
        case .path(let path): payload.value(at: path)
        case .keyPrefix(let prefix, let place): payload.member(withPrefix: prefix, in: place)
        }
    }
}

extension CatalogueCondition.Test {
    /// True when whoever knows that this holds knows the value too.
    var saysAll: Bool {
        switch self {
        case .isTrue, .equals, .equalsIgnoringCase: true
        case .present, .absent, .unset, .filled, .scalar, .integer, .text, .object, .filledObject, .list: false
        case .among, .notAmong, .host, .startsWith, .moreThan, .form: false
        }
    }

    /// True when a missing value satisfies it.
    var holdsOfNothing: Bool { self == .absent || self == .unset }

    func holds(of value: JSONValue, in parser: JSONParser? = nil) -> Bool {
        switch self {
        case .present: true
        case .absent: false
        case .unset: value.utf8?.isEmpty == true
        case .filled: value.isSpelled || (value.isObject || value.isArray) && !value.isEmptyContainer
        case .scalar: value.isSpelled
        case .integer: value.number != nil
        case .text: value.hasText
        case .object: (parser?.container(value) ?? value).isObject
        case .filledObject:
            (parser?.container(value) ?? value).isObject && !(parser?.container(value) ?? value).isEmptyContainer
        case .list: (parser?.container(value) ?? value).isArray
        case .isTrue: value.appleFlag
        case .equals(let text): value.spelled == text
        case .equalsIgnoringCase(let text): value.spelled?.lowercased() == text.lowercased()
        case .among(let words): value.spelled.map { words.contains($0) } ?? false
        case .moreThan(let limit): value.decimal.map { $0 > limit } ?? false
        case .notAmong(let words): value.spelled.map { !words.contains($0) } ?? true
        case .host(let host): value.utf8.map { $0.isURL(below: host) } ?? false
        case .startsWith(let text): value.utf8?.starts(with: text.utf8) == true
        case .form(let form, let length):
            value.utf8.map { form.matches($0) && (length == nil || length == $0.count) } ?? false
        }
    }

    /// What a value must be, in words.
    var words: String {
        switch self {
        case .present: "any value"
        case .absent: "nothing"
        case .unset: "nothing or an empty text"
        case .filled: "a value that is not empty"
        case .scalar: "a text or a number"
        case .integer: "a whole number"
        case .text: "a text"
        case .object: "an object"
        case .filledObject: "an object that is not empty"
        case .list: "a list"
        case .isTrue: "true"
        case .equals(let text): "\"\(text)\""
        case .equalsIgnoringCase(let text): "\"\(text)\" in any case"
        case .among(let words): "one of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
        case .moreThan(let limit): "more than \(limit)"
        case .notAmong(let words): "none of \(words.map { "\"\($0)\"" }.joined(separator: ", "))"
        case .host(let host): "an address on the host \(host) or below it"
        case .startsWith(let text): "a text that begins with \"\(text)\""
        case .form(let form, nil): form.words
        case .form(let form, let length?): "\(form.words), \(length) characters long"
        }
    }
}

/// Something by which a vendor is known: all conditions hold.
struct CatalogueMarker: Sendable {
    let strength: Detection.Strength
    /// At least one; by the first a payload's keys lead here.
    let conditions: [CatalogueCondition]

    /// The values that were recognised; nil when a condition does not hold.
    func evidence(in payload: borrowing PlatformPayload) -> [JSONValue]? {
        for condition in conditions where !condition.holds(in: payload) { return nil }
        var values: [JSONValue] = []
        for condition in conditions {
            if let value = condition.value(in: payload) { values.append(value) }
        }
        return values
    }
}
