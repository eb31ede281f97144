import SignalboxJSON

/// A condition on a payload: a test of the value at a path, or of the presence of a key with a prefix. A class although
/// it is immutable, like ``CataloguePath``.
final class CatalogueCondition: Sendable, Equatable {
    /// The tested part of a payload.
    enum Subject: Sendable, Equatable {
        /// The first value at a path.
        case path(CataloguePath)
        /// The member with such a key in the first object that has one; of several, the first in byte order.
        case keyPrefix([UInt8], CataloguePath.Scope)
    }

    /// The expected value. An entry names it by the word under `is`, or by a key of its own such as `equals`.
    enum Test: Sendable, Equatable {
        /// Any value except null.
        case present
        /// No value, or null. The condition's scope must still exist in the payload.
        case absent
        /// Absent, null or an empty string.
        case unset
        /// Absent, null or a string of white space only.
        case blank
        /// A non-empty string, list or object; any number or boolean.
        case filled
        /// A non-empty string, or any number or boolean.
        case scalar
        /// A whole number, or a string with one.
        case integer
        /// A non-empty string.
        case text
        /// An object, or the JSON text of one.
        case object
        /// An object with a member, or the JSON text of one.
        case filledObject
        /// A list, or the JSON text of one.
        case list
        /// A flag as Apple's `boolValue` reads it.
        case isTrue
        /// A string, number or boolean with this text.
        case equals(String)
        /// The same in any case, by Unicode's rules.
        case equalsIgnoringCase(String)
        /// A string, number or boolean with one of these texts.
        case among([String])
        /// A string that begins with these bytes.
        case startsWith(String)
        /// Any value except a string, number or boolean with one of these texts; objects and lists too.
        case notAmong([String])
        /// An `http` or `https` URL on this host or a subdomain of it. Compares bytes: scheme and host in lower case
        /// only.
        case host(String)
        /// A larger number, or a string with one.
        case moreThan(Double)
        /// A string of a form that few texts have; `length`: in bytes, nil for any.
        case form(TextForm, length: Int?)
    }

    /// The tested part.
    let subject: Subject
    /// The expectation of that part.
    let test: Test
    /// The objects of the payload that the condition searches.
    let scope: CataloguePath.Scope
    /// Nil for a key prefix.
    let path: CataloguePath?
    /// The key without which the condition does not hold; the empty set if it may hold without any key.
    let neededKey: JSONKeyFilter

    /// `subject`: the tested part. `test`: the expectation of that part.
    init(subject: Subject, test: Test) {
        (self.subject, self.test) = (subject, test)
        switch subject {
        case .path(let path): (self.path, scope) = (path, path.scope)
        case .keyPrefix(_, let scope): (path, self.scope) = (nil, scope)
        }
        var neededKey = JSONKeyFilter()
        if scope != .payload, !test.acceptsAbsence, let key = path?.firstKey { neededKey.insert(JSONKeyHead(key)) }
        self.neededKey = neededKey
    }

    static func == (left: CatalogueCondition, right: CatalogueCondition) -> Bool {
        left === right || (left.subject == right.subject && left.test == right.test)
    }

    /// The second key of the path; nil if the path has another token there, and for a test of absence.
    var innerKey: JSONKeyHead? {
        guard let path, test != .absent, path.tokens.count > 1, case .key(let key) = path.tokens[1] else { return nil }
        return JSONKeyHead(key)
    }

    /// False if the payload has no object in the condition's scope, even for a test of absence. Takes time that grows
    /// with the path and the objects on it. A string on the path that holds JSON text is parsed.
    func holds(in payload: borrowing PlatformPayload) -> Bool {
        guard payload.fields.mayContain(all: neededKey), payload.has(scope) else { return false }
        guard let value = value(in: payload) else { return test.acceptsAbsence }
        return test.holds(of: value, in: payload.parser)
    }

    /// The same for an element of a list; `find` returns the value at a path below it. A key prefix never holds for
    /// an element.
    func holds(_ find: (CataloguePath) -> JSONValue?) -> Bool {
        guard let path else { return false }
        guard let value = find(path) else { return test.acceptsAbsence }
        return test.holds(of: value)
    }

    /// The value that the condition tests. Nil if there is none, for example for a test of absence that holds.
    func value(in payload: borrowing PlatformPayload) -> JSONValue? {
        if let path { return payload.value(at: path) }
        guard case .keyPrefix(let prefix, let scope) = subject else { return nil }
        return payload.member(withPrefix: prefix, in: scope)
    }
}

/// The evaluation of tests, without access to a payload.
extension CatalogueCondition.Test {
    /// True when the test determines the value, so that the event need not keep it.
    var determinesValue: Bool {
        switch self {
        case .isTrue, .equals, .equalsIgnoringCase: true
        default: false
        }
    }

    /// True when an absent value satisfies the test.
    var acceptsAbsence: Bool {
        switch self {
        case .absent, .unset, .blank: true
        default: false
        }
    }

    /// `parser`: parses JSON texts in strings; nil to compare strings only.
    func holds(of value: JSONValue, in parser: JSONParser? = nil) -> Bool {
        switch self {
        case .present: true
        case .absent: false
        case .unset: value.utf8?.isEmpty == true
        case .blank: value.string?.allSatisfy(\.isWhitespace) == true
        case .filled: value.hasScalarText || (value.isObject || value.isArray) && !value.isEmptyContainer
        case .scalar: value.hasScalarText
        case .integer: value.number != nil
        case .text: value.hasText
        case .object: (parser?.container(value) ?? value).isObject
        case .filledObject:
            (parser?.container(value) ?? value).isObject && !(parser?.container(value) ?? value).isEmptyContainer
        case .list: (parser?.container(value) ?? value).isArray
        case .isTrue: value.appleFlag
        case .equals(let text): value.isScalar(withText: text)
        case .equalsIgnoringCase(let text): value.scalarText?.lowercased() == text.lowercased()
        case .among(let words): value.scalarText.map { words.contains($0) } ?? false
        case .moreThan(let limit): value.decimal.map { $0 > limit } ?? false
        case .notAmong(let words): value.scalarText.map { !words.contains($0) } ?? true
        case .host(let host): value.utf8.map { $0.isURL(below: host) } ?? false
        case .startsWith(let text): value.utf8?.starts(with: text.utf8) == true
        case .form(let form, let length):
            value.utf8.map { form.matches($0) && (length == nil || length == $0.count) } ?? false
        }
    }
}

/// One piece of evidence for a vendor: all of its conditions hold.
struct CatalogueMarker: Sendable {
    /// The certainty of the evidence if all conditions hold.
    let strength: Detection.Strength
    /// At least one. The index finds the marker by the first key of the first condition.
    let conditions: [CatalogueCondition]

    /// True if all conditions hold. Appends the recognised values in the order of the conditions, also before a
    /// condition that does not hold. A condition that requires absence contributes no value.
    func holds(in payload: borrowing PlatformPayload, recognising values: inout [JSONValue]) -> Bool {
        for condition in conditions {
            guard payload.has(condition.scope) else { return false }
            if let value = condition.value(in: payload) {
                guard condition.test.holds(of: value, in: payload.parser) else { return false }
                values.append(value)
            } else if !condition.test.acceptsAbsence {
                return false
            }
        }
        return true
    }

    /// The first condition that does not hold. Nil if the marker matches.
    func failing(in payload: borrowing PlatformPayload) -> CatalogueCondition? {
        for condition in conditions where !condition.holds(in: payload) { return condition }
        return nil
    }
}
