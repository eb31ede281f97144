import SignalboxInApp
import SignalboxJSON

// A filter in JSON: an array of groups, all of which must hold; a group is an array of conditions, one of which must
// hold: `[[{"property": "total", "greaterThan": 20}]]`.

/// Filters of triggers. Both readers and writers exist, so that the stored form of a message can be read again.
extension Filter {
    /// An array of groups, at most ``Bounds/filterGroups``; a group has at most ``Bounds/conditionsPerGroup``
    /// conditions. Throws the first mistake with its pointer below `pointer`. An empty array always holds, and an
    /// empty group never does; ``Definition`` rejects what cannot be meant.
    static func read(_ value: JSONValue, at pointer: String) throws(FormFault) -> Filter {
        Filter(
            try FormObject.list(value, at: pointer, upTo: Bounds.filterGroups) { (group, pointer) throws(FormFault) in
                try FormObject.list(group, at: pointer, upTo: Bounds.conditionsPerGroup) {
                    (condition, pointer) throws(FormFault) in try Condition.read(condition, at: pointer)
                }
            })
    }
}

/// One condition on a property of the event.
extension Filter.Condition {
    /// Reads `{"property": …, "type": …}` with exactly one comparison. `type` requires the property to have this
    /// type; without it, the comparison alone decides. Throws for a condition without a comparison and for one with
    /// several.
    fileprivate static func read(_ value: JSONValue, at pointer: String) throws(FormFault) -> Filter.Condition {
        let object = try FormObject(value, at: pointer, FormKeys.condition + FormKeys.comparisons)
        let property = try object.required("property", object.text("property"))
        let type = try object.choice("type", [PropertyValue.Kind.boolean, .number, .text, .date, .list])
        let found = FormKeys.comparisons.filter { object[$0] != nil }
        guard let key = found.first, found.count == 1, let value = object[key] else {
            throw FormFault(
                found.isEmpty ? FormFault.Code.missing : InputFault.Code.contradictory.rawValue, pointer,
                "A condition has exactly one comparison; this one has \(found.count).")
        }
        return Filter.Condition(property, try .read(key, value, in: object), type: type)
    }
}

/// The comparisons of the five vendors that the gateway reads, under one set of words.
extension Filter.Comparison {
    fileprivate static func read(
        _ key: StaticString, _ value: JSONValue, in object: FormObject
    ) throws(FormFault) -> Filter.Comparison {
        let pointer = object.pointer(key)
        switch key.description {
        case "equals": return .equals(try PropertyValue.read(value, at: pointer))
        case "notEquals": return .notEquals(try PropertyValue.read(value, at: pointer))
        case "greaterThan": return .greaterThan(try number(value, at: pointer))
        case "atLeast": return .atLeast(try number(value, at: pointer))
        case "lessThan": return .lessThan(try number(value, at: pointer))
        case "atMost": return .atMost(try number(value, at: pointer))
        case "oneOf": return .oneOf(try PropertyValue.list(value, at: pointer))
        case "noneOf": return .noneOf(try PropertyValue.list(value, at: pointer))
        case "containsAll": return .containsAll(try PropertyValue.list(value, at: pointer))
        case "matches": return .matches(try pattern(value, at: pointer))
        case "notMatches": return .notMatches(try pattern(value, at: pointer))
        case "before": return .before(try FormObject.instant(value, at: pointer))
        case "after": return .after(try FormObject.instant(value, at: pointer))
        case "unsupported": return .unsupported(try FormObject.text(value, at: pointer))
        default:
            guard let exists = value.bool else { throw .wrongType(pointer, "true or false") }
            return exists ? .exists : .notExists
        }
    }

    /// Any JSON number. Whole numbers beyond 2^53 lose precision, as they do in the vendors' SDKs.
    private static func number(_ value: JSONValue, at pointer: String) throws(FormFault) -> Double {
        guard let number = value.double else { throw .wrongType(pointer, "a number") }
        return number
    }

    /// Compiles the pattern once, when the message is registered. Throws the reason why it is not valid.
    private static func pattern(_ value: JSONValue, at pointer: String) throws(FormFault) -> TextPattern {
        let source = try FormObject.text(value, at: pointer, upTo: Bounds.textLength)
        do throws(InputFault) {
            return try TextPattern(source)
        } catch {
            throw FormFault(error.code, pointer, "Invalid pattern: \(error.detail).")
        }
    }
}

// MARK: Writing

/// Filters of the stored form of a message.
extension JSONWriter {
    /// Writes a filter as ``Filter/read(_:at:)`` reads it. Order is kept, so equal filters have equal bytes.
    mutating func filter(_ filter: Filter) {
        array(of: filter.groups) { json, group in
            json.array(of: group) { json, condition in
                json.beginObject()
                json.member("property", condition.property)
                json.member("type", condition.type?.rawValue)
                json.comparison(condition.comparison)
                json.endObject()
            }
        }
    }

    /// Writes the only comparison of a condition.
    private mutating func comparison(_ comparison: Filter.Comparison) {
        switch comparison {
        case .equals(let value): member("equals", property: value)
        case .notEquals(let value): member("notEquals", property: value)
        case .greaterThan(let bound): member("greaterThan", property: .number(bound))
        case .atLeast(let bound): member("atLeast", property: .number(bound))
        case .lessThan(let bound): member("lessThan", property: .number(bound))
        case .atMost(let bound): member("atMost", property: .number(bound))
        case .oneOf(let values): member("oneOf", property: .list(values))
        case .noneOf(let values): member("noneOf", property: .list(values))
        case .containsAll(let values): member("containsAll", property: .list(values))
        case .matches(let pattern): member("matches", pattern.source)
        case .notMatches(let pattern): member("notMatches", pattern.source)
        case .exists: member("exists", true)
        case .notExists: member("exists", false)
        case .before(let instant): member("before", at: instant)
        case .after(let instant): member("after", at: instant)
        case .unsupported(let word): member("unsupported", word)
        }
    }

    /// A member whose value is of any type that a property has.
    private mutating func member(_ name: StaticString, property value: PropertyValue) {
        key(name)
        property(value)
    }
}
