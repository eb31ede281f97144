package import SignalboxJSON

/// An event pattern in Amazon EventBridge's language: a JSON object of the event's structure, with arrays of
/// conditions in place of values. All fields must match, each by one of its conditions.
///
/// If EventBridge's documentation (docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html)
/// differs from AWS's open-source implementation, Event Ruler (github.com/aws/event-ruler), or is silent, Event Ruler
/// is the reference; docs/decisions/0020-event-patterns-as-ruler-decides-them.md lists these cases. Immutable, so tasks
/// and configs share it.
package struct Pattern: Sendable, Equatable {
    /// One must match: the pattern with its `$or`s and `exists: false`s multiplied out.
    let alternatives: [Alternative]

    /// Fields that must all match.
    struct Alternative: Sendable, Equatable {
        /// As written.
        let fields: [Field]
        /// The same fields, as they are matched.
        let root: PatternNode

        /// `fields`: each path once.
        init(_ fields: [Field]) {
            self.fields = fields
            root = PatternNode(of: fields)
        }

        /// Whether it has a condition on the event's `type`.
        var namesType: Bool { fields.contains { $0.path.first == Array("type".utf8) } }

        /// Throws nothing; the caller checks the work. False for an event that is not an object.
        func matches(_ event: JSONValue, _ work: inout MatchWork) -> Bool {
            event.isObject && root.matches(event, &work)
        }
    }

    /// A path with its conditions; `path` holds the keys as UTF-8, from the outermost. A path never ends in an array
    /// index: arrays are looked into, not named.
    struct Field: Sendable, Hashable {
        /// Compared with the keys of an event byte by byte.
        let path: [[UInt8]]
        /// One must match a value at the path. If there are none, the path must have no value.
        let conditions: [Condition]

        /// True for `exists: false`.
        var isAbsence: Bool { conditions.isEmpty }

        /// Whether the field matches by itself: in any element of arrays, whether or not other fields match there.
        fileprivate func matches(_ event: JSONValue, _ work: inout MatchWork) -> Bool {
            let hasValue = Pattern.anyValue(at: path[...], in: event, &work) { value, work in
                isAbsence || conditions.contains { $0.matches(value, &work) }
            }
            return hasValue != isAbsence
        }
    }

    /// Matches every event. A route without `match` has it, and so has the pattern `{}`.
    package static let everything = Pattern(alternatives: [Alternative([])])
}

/// Evaluation without an index, for single patterns and explanations.
extension Pattern {
    /// Whether the event matches. Throws if that exceeds the limit of work for one event. Evaluates the alternatives
    /// one after the other. ``RouteMatcher`` is faster for many patterns. For filters of commands. An event that is
    /// not an object never matches.
    package func matches(_ event: JSONValue) throws(RoutingTooCostly) -> Bool {
        var work = MatchWork()
        return try matches(event, work: &work)
    }

    /// Whether an event matches. `work`: adds to other work for the same event. The caller shares one budget between
    /// all patterns that it tries on an event.
    package func matches(_ event: JSONValue, work: inout MatchWork) throws(RoutingTooCostly) -> Bool {
        let matches = alternatives.contains { $0.matches(event, &work) }
        try work.check()
        return matches
    }

    /// Whether an alternative that matches the event has a condition on its `type`. `work`: as of ``matches(_:work:)``.
    func namesType(of event: JSONValue, work: inout MatchWork) throws(RoutingTooCostly) -> Bool {
        let names = alternatives.contains { $0.namesType && $0.matches(event, &work) }
        try work.check()
        return names
    }

    /// The first field that keeps an event from matching, as a JSON Pointer, with the value found there; nil if the
    /// event matches. Explains the alternative with the most matching fields. Takes more work than
    /// ``matches(_:work:)``, so only commands and the console call it. The value is nil if the event has none there.
    /// Valid as long as the event's parser is not reset.
    package func mismatch(
        in event: JSONValue, work: inout MatchWork
    ) throws(RoutingTooCostly) -> (pointer: String, found: JSONValue?)? {
        guard try !matches(event, work: &work) else { return nil }
        var nearest: (alternative: Alternative, matching: Int)?
        for alternative in alternatives {
            let matching = alternative.fields.count { $0.matches(event, &work) }
            if matching > nearest?.matching ?? -1 { nearest = (alternative, matching) }
        }
        let mismatch = nearest.flatMap { $0.alternative.root.mismatch(in: event, at: "", &work) }
        try work.check()
        return mismatch
    }

    /// Calls `body` with the values at a path, in every element of arrays on the path, until it returns true; returns
    /// whether it did. Objects are not values. Stops early once the work exceeds its limit. `path`: the rest of the
    /// path, from `value` on. An empty path means the value itself.
    @discardableResult
    static func anyValue(
        at path: ArraySlice<[UInt8]>, in value: JSONValue, _ work: inout MatchWork,
        _ body: (JSONValue, inout MatchWork) -> Bool
    ) -> Bool {
        work.spend(1)
        if value.isArray {
            for element in value.elements where !work.isExceeded {
                if anyValue(at: path, in: element, &work, body) { return true }
            }
            return false
        }
        guard let key = path.first else { return !value.isObject && body(value, &work) }
        guard let member = member(key, of: value, &work) else { return false }
        return anyValue(at: path.dropFirst(), in: member, &work, body)
    }

    /// The last member with this key; nil for a value that is not an object. A repeated key is valid JSON; the last
    /// one counts, as in the matcher's search.
    @inline(__always)
    static func member(_ key: [UInt8], of value: JSONValue, _ work: inout MatchWork) -> JSONValue? {
        var found: JSONValue?
        var visited = 0
        key.withUnsafeBufferPointer { key in
            for (name, member) in value.members {
                visited += 1
                if name.equals(key) { found = member }
            }
        }
        work.spend(visited)
        return found
    }
}
