package import SignalboxJSON

extension Pattern {
    /// True when the event matches the pattern. Throws when that takes more work than one event may take.
    package func matches(_ event: JSONValue) throws(RoutingTooCostly) -> Bool {
        var work = MatchWork()
        return try matches(event, work: &work)
    }

    /// The same, adding to other work for the same event.
    package func matches(_ event: JSONValue, work: inout MatchWork) throws(RoutingTooCostly) -> Bool {
        let matches = ways.contains { $0.matches(event, &work) }
        try work.check()
        return matches
    }

    /// The first field that keeps an event from matching, as a JSON Pointer, with the value found there; nil when the
    /// event matches. Of several ways to match, the one with the most matching fields decides.
    package func mismatch(
        in event: JSONValue, work: inout MatchWork
    ) throws(RoutingTooCostly) -> (pointer: String, found: JSONValue?)? {
        guard try !matches(event, work: &work) else { return nil }
        var nearest: (way: Way, matching: Int)?
        for way in ways {
            let matching = way.fields.count { $0.matches(event, &work) }
            if matching > nearest?.matching ?? -1 { nearest = (way, matching) }
        }
        let mismatch = nearest.flatMap { $0.way.root.mismatch(in: event, at: "", &work) }
        try work.check()
        return mismatch
    }

    /// Calls `body` with the values under these keys, in any element of arrays on the path, until it returns true;
    /// returns whether it did. Objects are not values. Stops early once the work is exceeded.
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

    /// The last member with this key; nil for anything but an object.
    fileprivate static func member(_ key: [UInt8], of value: JSONValue, _ work: inout MatchWork) -> JSONValue? {
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

extension Pattern.Way {
    func matches(_ event: JSONValue, _ work: inout MatchWork) -> Bool { event.isObject && root.matches(event, &work) }
}

extension Pattern.Field {
    /// Whether it matches for itself, whatever the other fields ask for.
    fileprivate func matches(_ event: JSONValue, _ work: inout MatchWork) -> Bool {
        if isAbsence { return !Pattern.anyValue(at: path[...], in: event, &work) { _, _ in true } }
        return Pattern.anyValue(at: path[...], in: event, &work) { value, work in
            conditions.contains { $0.matches(value, &work) }
        }
    }
}

extension Pattern.Node {
    /// An array in the event matches when one of its elements does; an empty one is as good as none. That several fields
    /// match in one element is what Ruler's array consistency comes to (`ArrayMembership.checkArrayConsistency`).
    fileprivate func matches(_ value: JSONValue, _ work: inout MatchWork) -> Bool {
        work.spend(1)
        guard !isMixed else { return matchesMixed(value, &work) }
        if value.isArray {
            for element in value.elements where !work.isExceeded {
                if matches(element, &work) { return true }
            }
            return false
        }
        return conditions.isEmpty ? testsHold(in: value, &work) : isValue(value, &work)
    }

    /// A value that is itself an element of an array does not bind other fields to an element: Ruler's
    /// `Event.traverseArray` records the array only for objects and arrays in it. So `[x, {"b": y}]` has both the
    /// value and the field below it.
    private func matchesMixed(_ value: JSONValue, _ work: inout MatchWork) -> Bool {
        guard value.isArray else { return tests.isEmpty && isValue(value, &work) }
        var hasValue = false
        for element in value.elements where !work.isExceeded {
            if element.isArray {
                if matches(element, &work) { return true }
            } else {
                hasValue = hasValue || isValue(element, &work)
            }
        }
        return hasValue
            && absences.allSatisfy { path in
                !Pattern.anyValue(at: path[...], in: value, &work) { _, _ in true }
            } && testsHoldOfOne(in: value, &work)
    }

    private func testsHoldOfOne(in value: JSONValue, _ work: inout MatchWork) -> Bool {
        guard !tests.isEmpty, value.isArray else { return testsHold(in: value, &work) }
        for element in value.elements where !work.isExceeded {
            if testsHoldOfOne(in: element, &work) { return true }
        }
        return false
    }

    /// `value`: not an array, unless there are no tests.
    private func testsHold(in value: JSONValue, _ work: inout MatchWork) -> Bool {
        tests.allSatisfy { $0.holds(in: value, &work) }
    }

    private func isValue(_ value: JSONValue, _ work: inout MatchWork) -> Bool {
        !value.isObject && conditions.contains { $0.matches(value, &work) }
    }

    fileprivate func mismatch(
        in value: JSONValue?, at pointer: String, _ work: inout MatchWork
    ) -> (pointer: String, found: JSONValue?)? {
        guard conditions.isEmpty, !(value?.isArray ?? false) else { return (pointer, value) }
        for test in tests where !(value.map { test.holds(in: $0, &work) } ?? false) {
            switch test {
            case .member(let key, let node):
                let member = value.flatMap { Pattern.member(key, of: $0, &work) }
                return node.mismatch(in: member, at: pointer + "/" + Self.token(key), &work)
            case .absence(let path): return Self.obstacle(at: path[...], in: value, pointer, &work)
            }
        }
        return nil
    }

    /// What stands under these keys, or the first array on the way.
    private static func obstacle(
        at path: ArraySlice<[UInt8]>, in value: JSONValue?, _ pointer: String, _ work: inout MatchWork
    ) -> (pointer: String, found: JSONValue?) {
        guard let key = path.first, let value, !value.isArray else { return (pointer, value) }
        let member = Pattern.member(key, of: value, &work)
        return obstacle(at: path.dropFirst(), in: member, pointer + "/" + token(key), &work)
    }

    private static func token(_ key: [UInt8]) -> String { JSONPointer.escape(String(decoding: key, as: UTF8.self)) }
}

extension Pattern.Node.Test {
    /// `value`: no array.
    fileprivate func holds(in value: JSONValue, _ work: inout MatchWork) -> Bool {
        switch self {
        case .member(let key, let node):
            Pattern.member(key, of: value, &work).map { node.matches($0, &work) } ?? false
        case .absence(let path): !Pattern.anyValue(at: path[...], in: value, &work) { _, _ in true }
        }
    }
}
