import SignalboxConfig
import SignalboxJSON

/// Finds the fields of an event pattern that no event has, and conditions that no value meets. The pattern is valid.
/// Recursion is bounded by the nesting of the config, which the parser limits.
struct PatternCheck {
    /// The names that `data.vendor` can have.
    let vendors: Set<String>
    /// Receives the findings.
    var diagnostics: ConfigDiagnostics

    /// Checks a pattern. `location`: of its object in the config.
    mutating func check(_ pattern: JSONText, at location: ConfigLocation) {
        _ = pattern.withValue { value -> Void? in
            let types = value["type"].map { $0.elements.compactMap(\.string) } ?? []
            let isExact = value["type"]?.elements.allSatisfy { $0.string != nil } ?? false
            return check(value, EventField.events(of: isExact ? types : [], vendors: vendors), "", at: location)
        }
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
            } else if let words = member.words {
                for (position, condition) in value.elements.enumerated() {
                    check(condition, words, pointer, at: location.appending(key).appending("\(position)"))
                }
            }
        }
    }

    /// Checks a condition on a field that has only some words.
    private mutating func check(
        _ condition: JSONValue, _ words: Set<String>, _ pointer: String, at location: ConfigLocation
    ) {
        let excluded = condition["anything-but"]
        for text in [condition, excluded].compactMap({ $0?.string }) + (excluded?.elements.compactMap(\.string) ?? [])
        where !words.contains(text) {
            diagnostics.warning(
                at: location,
                "no event has the value \"\(text)\" at \(pointer)" + Self.advice(for: text, among: words.sorted()))
        }
        let comparisons: [(StaticString, (String, String) -> Bool)] = [
            ("prefix", { $0.hasPrefix($1) }), ("suffix", { $0.hasSuffix($1) }),
            ("equals-ignore-case", { $0.lowercased() == $1.lowercased() }),
        ]
        for (name, matches) in comparisons {
            guard let text = condition[name]?.string, !words.contains(where: { matches($0, text) }) else { continue }
            diagnostics.warning(
                at: location,
                "no value at \(pointer) meets this condition" + Self.advice(for: text, among: words.sorted()))
        }
    }

    /// The remedy: the nearest word, or the words that there are.
    static func advice(for word: String, among known: [String]) -> String {
        known.isEmpty ? "; nothing is below it, remove this" : ConfigReader.suggestion(for: word, among: known)
    }
}
