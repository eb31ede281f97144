import SignalboxModel

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
    private var taken: [String: Int] = [:]

    mutating func next(for action: Action, title: String?) -> String {
        let short = action.identifier
        if take(short) { return short }
        let long = short + ":" + (title ?? "")
        if take(long) { return long }
        return long + "#" + String(taken[long, default: 1])
    }

    private mutating func take(_ identifier: String) -> Bool {
        taken[identifier, default: 0] += 1
        return taken[identifier] == 1
    }
}
