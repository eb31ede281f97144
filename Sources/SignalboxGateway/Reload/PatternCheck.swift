import SignalboxConfig
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting

/// Finds the fields of an event pattern that no event has, and conditions that no value meets. The pattern is valid.
/// Recursion is bounded by the nesting of the config, which the parser limits.
struct PatternCheck {
    /// The names that `data.vendor` can have.
    private let vendors: Set<String>
    /// The codes that `data.warnings.code` can have.
    private let warnings: Set<String>
    /// Owns the values of the current pattern.
    private var parser = JSONParser()
    /// Receives the findings.
    var diagnostics: ConfigDiagnostics

    /// `vendors`: those that events can name.
    init(vendors: Set<String>, diagnostics: ConfigDiagnostics) {
        (self.vendors, self.diagnostics) = (vendors, diagnostics)
        warnings = WarningDescription.codes(of: vendors)
    }

    /// Checks a pattern. `location`: of its object in the config.
    mutating func check(_ pattern: JSONText, at location: ConfigLocation) {
        parser = JSONParser()
        // The config's own parser has read it, so this one can.
        guard let value = try? parser.parse(pattern.bytes) else { return }
        let types = value["type"].map { $0.elements.compactMap(\.string) } ?? []
        let isExact = value["type"]?.elements.allSatisfy { $0.string != nil } ?? false
        let event = EventField.events(of: isExact ? types : [], vendors: vendors, warnings: warnings)
        check(value, event, "", at: location)
    }

    /// Checks the fields of an object. `path`: JSON Pointer into the event. `location`: of the object.
    private mutating func check(_ object: JSONValue, _ field: EventField, _ path: String, at location: ConfigLocation) {
        for (key, value) in object.members {
            let key = String(decoding: key, as: UTF8.self)
            if key == "$or", value.isArray, value.elements.allSatisfy(\.isObject) {
                for (position, element) in value.elements.enumerated() {
                    check(element, field, path, at: location.appending(key).appending("\(position)"))
                }
                continue
            }
            let pointer = path + "/" + JSONPointer.escape(key)
            guard let member = field.member(key) else {
                let known = field.members.keys.sorted()
                diagnostics.warning(
                    at: location.appending(key, isKey: true),
                    "no event has the field \(pointer)" + Self.advice(for: key, among: known))
                continue
            }
            if value.isObject {
                check(value, member, pointer, at: location.appending(key))
            } else {
                check(conditions: value, member, pointer, at: location.appending(key))
            }
        }
    }

    // MARK: Conditions

    /// Checks the array of a field. A condition on an object is never met, and `{"exists": false}` always.
    private mutating func check(
        conditions: JSONValue, _ field: EventField, _ pointer: String, at location: ConfigLocation
    ) {
        guard !field.isObject else {
            let known = field.members.keys.sorted().joined(separator: ", ")
            diagnostics.warning(
                at: location,
                "\(pointer) is an object, which conditions do not compare; write them on a field below it"
                    + (known.isEmpty ? "" : ": " + known))
            return
        }
        for (position, condition) in conditions.elements.enumerated() {
            check(condition: condition, field, pointer, at: location.appending("\(position)"))
        }
    }

    /// Checks a condition, or each that an `anything-but` excludes.
    private mutating func check(
        condition: JSONValue, _ field: EventField, _ pointer: String, at location: ConfigLocation
    ) {
        if let excluded = condition["anything-but"] {
            for condition in excluded.isArray ? Array(excluded.elements) : [excluded] {
                check(condition: condition, field, pointer, at: location)
            }
            return
        }
        // Lists of texts within `anything-but` are not checked: outside of it they have no meaning.
        guard let entry = PatternEntry(condition, of: parser), let kind = entry.kind else { return }
        let literal = condition["exactly"] ?? condition
        if let kinds = field.kinds, !kinds.contains(kind) {
            let values = PatternEntry.Kind.allCases.filter(kinds.contains).map(\.plural).joined(separator: " and ")
            diagnostics.warning(at: location, Self.finding(literal, at: pointer) + "; its values are \(values)")
        } else if let words = field.words, kind == .text {
            let text = literal.string
            let isPossible = text.map(words.contains) ?? words.contains { entry.matches($0) }
            guard !isPossible else { return }
            let operand = condition.members.first { _ in true }?.value
            let near = text ?? operand?.string ?? ""
            diagnostics.warning(
                at: location, Self.finding(literal, at: pointer) + Self.advice(for: near, among: words.sorted()))
        }
    }

    /// A clause about a value or a comparison without effect.
    private static func finding(_ literal: JSONValue, at pointer: String) -> String {
        guard !literal.isObject else { return "no value at \(pointer) meets this condition" }
        return "no event has the value \(String(decoding: JSONText(literal).bytes, as: UTF8.self)) at \(pointer)"
    }

    /// The remedy, as the end of a clause: the nearest word, or the known words.
    static func advice(for word: String, among known: [String]) -> String {
        known.isEmpty ? "; its parent has no fields, remove this" : ConfigReader.suggestion(for: word, among: known)
    }
}

extension PatternEntry.Kind {
    /// In messages.
    fileprivate var plural: String {
        switch self {
        case .text: "strings"
        case .number: "numbers"
        case .boolean: "true and false"
        case .null: "null"
        }
    }
}
