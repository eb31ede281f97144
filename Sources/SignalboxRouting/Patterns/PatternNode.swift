import SignalboxJSON

/// The requirements that one alternative of a pattern has at a path of the event. It is a tree, because the fields
/// below an array must match within one element. A node may require both a value and fields below it, because an array
/// can hold both. Built once for each alternative, and immutable afterwards.
struct PatternNode: Sendable, Equatable {
    /// One must match a value here; empty if no value is required.
    private(set) var conditions: [Pattern.Condition] = []
    /// Paths below this one that must have no value in the object or element that the members match in.
    private(set) var absences: [[[UInt8]]] = []
    /// Members that must all match in one object: in one element, if this is an array.
    private(set) var members: [Member] = []
    /// Paths below this one that must have no value where the value for `conditions` was found.
    private(set) var absencesAtValue: [[[UInt8]]] = []

    /// A key of an object, with the requirements on its value.
    struct Member: Sendable, Equatable {
        /// Unique among the members of a node.
        let key: [UInt8]
        fileprivate(set) var node: PatternNode
    }

    /// Whether it requires both a value and something below it.
    var isMixed: Bool { !conditions.isEmpty && !(members.isEmpty && absences.isEmpty && absencesAtValue.isEmpty) }

    private init() {}
}

// MARK: Construction

extension PatternNode {
    /// The tree of the fields of one alternative.
    ///
    /// `exists: false` is checked in the element of an array that earlier fields match in, otherwise in all elements.
    /// A field is earlier if its path, with its keys joined by dots, sorts before the other one in UTF-16: the order in
    /// which Ruler takes them (`GenericMachine.addPatternRule`, `NameState.getNameTransitions`). `fields`: those of one
    /// alternative, each path once.
    init(of fields: [Pattern.Field]) {
        let hasAbsence = fields.contains(where: \.isAbsence)
        let names = hasAbsence ? fields.map { Self.name($0.path) } : []
        for (position, field) in fields.enumerated() {
            guard field.isAbsence else {
                update(at: field.path[...]) { $0.conditions = field.conditions }
                continue
            }
            let earlier = fields.indices.filter {
                let isBefore = names[$0].lexicographicallyPrecedes(names[position])
                return !fields[$0].isAbsence && (isBefore || names[$0] == names[position] && $0 < position)
            }
            let (depth, isAtValue) = Self.binding(of: field.path, to: earlier.map { fields[$0].path })
            let rest = Array(field.path[depth...])
            update(at: field.path[..<depth]) {
                if isAtValue { $0.absencesAtValue.append(rest) } else { $0.absences.append(rest) }
            }
        }
    }

    /// The sort key of Ruler for a path, in UTF-16 code units. Ruler compares Java strings, hence UTF-16.
    private static func name(_ path: [[UInt8]]) -> [UInt16] {
        Array(path.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".").utf16)
    }

    /// The longest prefix that a path shares with one of the other paths, in keys. Down to this depth, earlier fields
    /// have chosen the elements of arrays. `isAtValue`: the other path ends there. At equal depth a sibling of this
    /// field decides, because it chooses the whole element.
    private static func binding(of path: [[UInt8]], to others: [[[UInt8]]]) -> (depth: Int, isAtValue: Bool) {
        var deepest = (depth: 0, isAtValue: false)
        for other in others {
            let common = zip(other, path).prefix { $0 == $1 }.count
            let isAtValue = common == other.count
            if common > deepest.depth || (common == deepest.depth && !isAtValue) { deepest = (common, isAtValue) }
        }
        return deepest
    }

    /// Changes the node at a path; makes it and those on the way as needed. Recursion is bounded by the depth of the
    /// config's JSON.
    private mutating func update(at path: ArraySlice<[UInt8]>, _ change: (inout Self) -> Void) {
        guard let key = path.first else { return change(&self) }
        let position = members.firstIndex { $0.key == key } ?? members.count
        if position == members.count { members.append(Member(key: key, node: PatternNode())) }
        members[position].node.update(at: path.dropFirst(), change)
    }
}

// MARK: Matching

extension PatternNode {
    /// An array matches if one of its elements does; an empty one never does. That all fields match within one
    /// element is Ruler's array consistency (`ArrayMembership.checkArrayConsistency`). Recursion is bounded by the
    /// nesting of the event, which the parser limits. The result is invalid once the work exceeds its limit.
    func matches(_ value: JSONValue, _ work: inout MatchWork) -> Bool {
        work.spend(1)
        guard !isMixed else { return matchesMixed(value, &work) }
        if value.isArray {
            for element in value.elements where !work.isExceeded {
                if matches(element, &work) { return true }
            }
            return false
        }
        return conditions.isEmpty ? membersMatch(in: value, &work) : hasMatch(value, &work)
    }

    /// A value that is itself an element does not bind other fields to an element: Ruler's `Event.traverseArray`
    /// records the array only for objects and arrays in it. So `[x, {"b": y}]` has both the value and the field below
    /// it.
    private func matchesMixed(_ value: JSONValue, _ work: inout MatchWork) -> Bool {
        guard value.isArray else { return members.isEmpty && absences.isEmpty && hasMatch(value, &work) }
        var hasValue = false
        for element in value.elements where !work.isExceeded {
            if element.isArray {
                if matches(element, &work) { return true }
            } else {
                hasValue = hasValue || hasMatch(element, &work)
            }
        }
        return hasValue && Self.lacks(absencesAtValue, in: value, &work) && membersMatchInOne(of: value, &work)
    }

    /// Whether one element of nested arrays has all members. A value that is not an array is the only candidate.
    private func membersMatchInOne(of value: JSONValue, _ work: inout MatchWork) -> Bool {
        guard value.isArray, !(members.isEmpty && absences.isEmpty) else { return membersMatch(in: value, &work) }
        for element in value.elements where !work.isExceeded {
            if membersMatchInOne(of: element, &work) { return true }
        }
        return false
    }

    /// `value`: not an array, unless nothing is required of members.
    private func membersMatch(in value: JSONValue, _ work: inout MatchWork) -> Bool {
        // By index, because iterating would copy each member.
        Self.lacks(absences, in: value, &work) && members.indices.allSatisfy { members[$0].matches(in: value, &work) }
    }

    /// Whether none of the paths has a value. A scalar has a value at the empty path only.
    private static func lacks(_ paths: [[[UInt8]]], in value: JSONValue, _ work: inout MatchWork) -> Bool {
        paths.allSatisfy { !Pattern.anyValue(at: $0[...], in: value, &work) { _, _ in true } }
    }

    /// Whether a value meets one of the conditions; objects do not. Arrays do not reach this function; their elements
    /// do.
    private func hasMatch(_ value: JSONValue, _ work: inout MatchWork) -> Bool {
        !value.isObject && conditions.contains { $0.matches(value, &work) }
    }

    // MARK: Explanation

    /// The first requirement that a value does not meet, if this node does not match it: where it is, and the value
    /// there. Called only after ``matches(_:_:)`` was false, for one alternative. The pointer leads into the event;
    /// an array ends it, because no single element is to blame.
    func mismatch(
        in value: JSONValue?, at pointer: String, _ work: inout MatchWork
    ) -> (pointer: String, found: JSONValue?)? {
        guard conditions.isEmpty, !(value?.isArray ?? false) else { return (pointer, value) }
        // A missing value satisfies an absence, but does not match this node. The loop stops there nevertheless, and
        // `obstacle` returns the pointer of this node.
        for path in absences where !(value.map { Self.lacks([path], in: $0, &work) } ?? false) {
            return Self.obstacle(at: path[...], in: value, pointer, &work)
        }
        for member in members where !(value.map { member.matches(in: $0, &work) } ?? false) {
            let found = value.flatMap { Pattern.member(member.key, of: $0, &work) }
            return member.node.mismatch(in: found, at: pointer + "/" + Self.token(member.key), &work)
        }
        return nil
    }

    /// The value at a path that must have none, or the first array on the way.
    private static func obstacle(
        at path: ArraySlice<[UInt8]>, in value: JSONValue?, _ pointer: String, _ work: inout MatchWork
    ) -> (pointer: String, found: JSONValue?) {
        guard let key = path.first, let value, !value.isArray else { return (pointer, value) }
        let member = Pattern.member(key, of: value, &work)
        return obstacle(at: path.dropFirst(), in: member, pointer + "/" + token(key), &work)
    }

    /// A key as a part of a JSON Pointer (RFC 6901).
    private static func token(_ key: [UInt8]) -> String { JSONPointer.escape(String(decoding: key, as: UTF8.self)) }
}

extension PatternNode.Member {
    /// `value`: not an array.
    @inline(__always)
    fileprivate func matches(in value: JSONValue, _ work: inout MatchWork) -> Bool {
        Pattern.member(key, of: value, &work).map { node.matches($0, &work) } ?? false
    }
}
