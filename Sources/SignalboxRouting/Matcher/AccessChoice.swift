/// By which of its fields a rule is found: the one for which the fewest rules are looked at in vain.
struct AccessChoice {
    private struct Key: Hashable {
        let path: [[UInt8]]
        let condition: Pattern.Condition
    }

    /// How many rules have a condition, and how many different texts or numbers are asked for of a field.
    private var uses: [Key: Int] = [:]
    private var kinds: [[[UInt8]]: Int] = [:]

    init(of rules: [Pattern.Way]) {
        for rule in rules {
            for field in rule.fields {
                for condition in field.conditions {
                    let key = Key(path: field.path, condition: condition)
                    if uses[key] == nil { kinds[field.path, default: 0] += 1 }
                    uses[key, default: 0] += 1
                }
            }
        }
    }

    /// The place of the field among the rule's; nil when it asks for no value at all.
    func field(of rule: Pattern.Way) -> Int? {
        let costs = rule.fields.map { field in
            field.isAbsence ? .infinity : field.conditions.reduce(0) { $0 + cost($1, of: field) }
        }
        return costs.indices.filter { costs[$0] < .infinity }.min { costs[$0] < costs[$1] }
    }

    /// About how many rules are looked at, for an average event, when this condition leads to all that have it.
    private func cost(_ condition: Pattern.Condition, of field: Pattern.Field) -> Double {
        let uses = Double(uses[Key(path: field.path, condition: condition)] ?? 1)
        return uses * share(condition, of: field)
    }

    /// The share of events that have a value for it: a guess, by what other values rules ask for.
    private func share(_ condition: Pattern.Condition, of field: Pattern.Field) -> Double {
        switch condition {
        case .anythingBut, .exists: 1
        case .bool, .range: 0.5
        case .wildcard(let wildcard) where wildcard.pieces.allSatisfy(\.isEmpty): 1
        default: 1 / Double(1 + (kinds[field.path] ?? 1))
        }
    }
}
