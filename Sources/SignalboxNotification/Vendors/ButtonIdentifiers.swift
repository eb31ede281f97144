extension Action {
    /// What identifies a button when its vendor gives it no identifier: the type and, when there is one, the value.
    var identifier: String {
        let word = vendorType ?? type.rawValue
        return value.map { word + ":" + $0 } ?? word
    }
}

/// Identifiers for the buttons of one category whose vendor gives none. The same button gets the same identifier
/// wherever it stands and in whichever payload; a name is added, then a number, when two would share one.
struct ButtonIdentifiers {
    private var few: [String] = []
    private var many: [String: Int] = [:]

    mutating func next(for action: Action, title: String?) -> String {
        let short = action.identifier
        if take(short) == 1 { return short }
        let long = short + ":" + (title ?? "")
        let count = take(long)
        return count == 1 ? long : long + "#" + String(count)
    }

    /// How often an identifier was wanted, this time included. A handful is looked through, more are hashed.
    private mutating func take(_ identifier: String) -> Int {
        if few.count < 8 {
            few.append(identifier)
            return few.count { $0 == identifier }
        }
        if many.isEmpty {
            for earlier in few { many[earlier, default: 0] += 1 }
        }
        many[identifier, default: 0] += 1
        return many[identifier, default: 1]
    }
}
