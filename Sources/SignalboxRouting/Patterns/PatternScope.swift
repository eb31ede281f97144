/// Compares what patterns require: whether one matches everything that another matches, and whether both may match the
/// same event. Proofs are sufficient, not complete.
///
/// Comparisons share a budget, because the patterns of a config may be many and have many alternatives each. For
/// warnings only: no decision about an event depends on it.
package struct PatternScope {
    /// Steps left; every comparison spends some.
    private var budget: Int

    /// `budget`: after this many steps, all answers are false.
    package init(budget: Int = 5_000_000) { self.budget = budget }

    /// Returns true only if every event that matches `narrow` matches `wide`. That includes the gateway's own events,
    /// which only match by alternatives that name a type. False does not prove the contrary: the proof may be missing
    /// or the budget spent.
    package mutating func covers(_ wide: Pattern, _ narrow: Pattern) -> Bool {
        narrow.alternatives.allSatisfy { alternative in
            wide.alternatives.contains { other in
                (other.namesType || !alternative.namesType) && covers(other.root, alternative.root, absent: [])
            }
        }
    }

    /// Returns true if some event is likely to match both: no field requires two different values, or a value and its
    /// absence. Events with arrays may match both in other cases. False once the budget is spent. Compares only the
    /// fields that both patterns name.
    package mutating func mayOverlap(_ one: Pattern, _ other: Pattern) -> Bool {
        for alternative in one.alternatives {
            let conditions = Dictionary(alternative.fields.map { ($0.path, $0.conditions) }) { $1 }
            for otherAlternative in other.alternatives {
                budget -= 8 + alternative.fields.count + otherAlternative.fields.count
                guard budget > 0 else { return false }
                if otherAlternative.fields.allSatisfy({ Self.mayOverlap($0.conditions, conditions[$0.path]) }) {
                    return true
                }
            }
        }
        return false
    }

    /// `other`: nil if the other pattern does not name the field.
    private static func mayOverlap(_ one: [Pattern.Condition], _ other: [Pattern.Condition]?) -> Bool {
        guard let other else { return true }
        guard !one.isEmpty, !other.isEmpty else { return one.isEmpty == other.isEmpty }
        return !(one + other).allSatisfy(\.isExact) || !Set(one).isDisjoint(with: other)
    }

    /// Whether an object or element that matches `narrow` also matches `wide`. `absent`: paths that are known to have
    /// no value in it, in addition to those that `narrow` names. Recursion is bounded by the depth of `wide`.
    private mutating func covers(_ wide: PatternNode, _ narrow: PatternNode, absent: [ArraySlice<[UInt8]>]) -> Bool {
        budget -= 1 + wide.conditions.count + narrow.conditions.count + wide.members.count * narrow.members.count
        budget -= wide.absences.count * (narrow.absences.count + absent.count)
        guard budget > 0 else { return false }
        // A value and fields below it depend on one another.
        guard !wide.isMixed else { return wide == narrow }
        guard wide.conditions.isEmpty else {
            return !narrow.conditions.isEmpty
                && (wide.conditions.contains(.exists) || Set(wide.conditions).isSuperset(of: narrow.conditions))
        }
        // A path without a value in an object has none in its elements either; the reverse proves nothing.
        let absent = absent + narrow.absences.map { $0[...] }
        return wide.absences.allSatisfy { path in absent.contains { $0.elementsEqual(path) } }
            && wide.members.allSatisfy { member in
                guard let other = narrow.members.first(where: { $0.key == member.key }) else { return false }
                let below = absent.filter { $0.count > 1 && $0.first == member.key }.map { $0.dropFirst() }
                return covers(member.node, other.node, absent: below)
            }
    }
}

/// Only exact conditions can be proven to exclude each other.
extension Pattern.Condition {
    /// Whether exactly one value meets it.
    fileprivate var isExact: Bool {
        switch self {
        case .string, .bool, .null: true
        case .numbers(let keys): keys.lowerBound == keys.upperBound
        default: false
        }
    }
}
