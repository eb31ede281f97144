/// Conditions on an event's properties: every group must hold, and a group holds if one of its conditions does (Braze,
/// `property_filters`). Values that cannot be compared do not match.
package struct Filter: Sendable, Hashable {
    /// Without a group the filter holds for every event; an empty group never holds.
    package var groups: [[Condition]]

    /// Takes the groups; see ``Filter``.
    package init(_ groups: [[Condition]]) { self.groups = groups }

    /// A comparison with one property.
    package struct Condition: Sendable, Hashable {
        /// Compared byte by byte, case included.
        package var property: String
        /// How the property is compared.
        package var comparison: Comparison
        /// Braze's `property_type`: a value of another type neither exists nor is absent.
        package var type: PropertyValue.Kind?

        /// Any type of value, unless one is given.
        package init(_ property: String, _ comparison: Comparison, type: PropertyValue.Kind? = nil) {
            (self.property, self.comparison, self.type) = (property, comparison, type)
        }
    }

    /// How a property is compared. Numbers compare with numbers only, texts with texts only.
    package enum Comparison: Sendable, Hashable {
        case equals(PropertyValue)
        /// False for an absent value and for one of another type (Braze Roku; OneSignal and CleverTap agree).
        case notEquals(PropertyValue)
        /// Numbers only.
        case greaterThan(Double), atLeast(Double), lessThan(Double), atMost(Double)
        /// `noneOf` is false for a value that has the type of none of them.
        case oneOf([PropertyValue]), noneOf([PropertyValue])
        /// A list that holds each of these values.
        case containsAll([PropertyValue])
        /// Searches, ignoring case (Braze; Android matched whole strings until 8.1.0).
        case matches(TextPattern), notMatches(TextPattern)
        /// Present with any value of the type, or absent.
        case exists, notExists
        /// Dates, and texts that are dates. Equal is neither.
        case before(Instant), after(Instant)
        /// A comparison that the engine does not know, such as Braze's polygons. Never matches.
        case unsupported(String)
    }

    /// The result, with the place of a failure.
    package enum Outcome: Sendable, Hashable {
        case matches, otherEvent
        /// Index of the first group that does not hold.
        case fails(group: Int)
        /// Braze's rule: an event without properties matches no filter.
        case noProperties
    }

    /// `event`: several filters may read it. `strict`: Braze's rule for events without properties.
    func outcome(of event: inout EventReader, strict: Bool) -> Outcome {
        if groups.isEmpty { return .matches }
        if strict && !event.hasProperties { return .noProperties }
        for index in groups.indices where !Self.holds(groups[index], for: &event) { return .fails(group: index) }
        return .matches
    }

    private static func holds(_ group: [Condition], for event: inout EventReader) -> Bool {
        for condition in group where condition.holds(for: event.value(of: condition.property)) { return true }
        return false
    }

    /// See ``Definition/weight``.
    var weight: Int {
        groups.joined().reduce(0) { sum, condition in
            switch condition.comparison {
            case .matches(let pattern), .notMatches(let pattern): sum + 1 + pattern.weight
            case .oneOf(let values), .noneOf(let values), .containsAll(let values): sum + 1 + values.count
            default: sum + 1
            }
        }
    }

    /// Throws the first group or condition beyond a bound.
    func validate(at pointer: String) throws(InputFault) {
        try InputFault.check(count: groups.count, atMost: Bounds.filterGroups, at: pointer)
        for (index, group) in groups.enumerated() {
            try InputFault.check(count: group.count, atMost: Bounds.conditionsPerGroup, at: "\(pointer)/\(index)")
            for (place, condition) in group.enumerated() { try condition.validate(at: "\(pointer)/\(index)/\(place)") }
        }
    }
}

extension Filter.Condition {
    /// Whether the comparison holds; nil is an absent property.
    func holds(for value: PropertyValue?) -> Bool {
        if case .notExists = comparison { return value == nil }
        guard let value, type == nil || type == value.kind || (type == .date && value.instant != nil) else {
            return false
        }
        switch comparison {
        case .exists: return true
        case .notExists, .unsupported: return false
        case .equals(let other): return other.kind == .date ? value.orDate == other : value == other
        case .notEquals(let other):
            let value = other.kind == .date ? value.orDate : value
            return value.kind == other.kind && value != other
        case .oneOf(let list):
            if list.contains(value) { return true }
            return list.hasDate && list.contains(value.orDate)
        case .noneOf(let list):
            let date = list.hasDate ? value.orDate : value
            if list.contains(value) || list.contains(date) { return false }
            return list.isEmpty || list.contains { $0.kind == value.kind || $0.kind == date.kind }
        case .containsAll(let list):
            guard case .list(let elements) = value else { return false }
            let dates = list.hasDate ? elements.map(\.orDate) : []
            return list.allSatisfy { elements.contains($0) || dates.contains($0) }
        case .greaterThan, .atLeast, .lessThan, .atMost: return comparesNumber(value)
        case .matches, .notMatches: return comparesText(value)
        case .before(let time): return value.instant.map { $0 < time } ?? false
        case .after(let time): return value.instant.map { $0 > time } ?? false
        }
    }

    /// Numbers compare with numbers only: the text "5" is not 5 (Braze).
    private func comparesNumber(_ value: PropertyValue) -> Bool {
        guard case .number(let number) = value else { return false }
        return switch comparison {
        case .greaterThan(let bound): number > bound
        case .atLeast(let bound): number >= bound
        case .lessThan(let bound): number < bound
        case .atMost(let bound): number <= bound
        default: false
        }
    }

    /// A pattern is searched for in texts only.
    private func comparesText(_ value: PropertyValue) -> Bool {
        guard case .text(let text) = value else { return false }
        return switch comparison {
        case .matches(let pattern): pattern.isFound(in: text)
        case .notMatches(let pattern): !pattern.isFound(in: text)
        default: false
        }
    }

    func validate(at pointer: String) throws(InputFault) {
        try InputFault.check(property, at: pointer + "/property")
        switch comparison {
        case .equals(let value), .notEquals(let value): try InputFault.check(value, at: pointer)
        case .oneOf(let values), .noneOf(let values), .containsAll(let values):
            try InputFault.check(.list(values), at: pointer)
        default: break
        }
    }
}

extension PropertyValue {
    /// The date of a text that is one, because SDKs send dates as texts; any other value itself.
    fileprivate var orDate: PropertyValue {
        guard case .text = self else { return self }
        return instant.map { .date($0) } ?? self
    }
}

extension [PropertyValue] {
    /// Whether a comparison with these values must read texts as dates.
    fileprivate var hasDate: Bool { contains { $0.kind == .date } }
}
