/// Numbers of things in messages.
package enum Counted {
    /// `1 delivery`, `2 deliveries`. Nouns in `y` after a consonant change to `ies`; all others take an `s`.
    package static func words(_ count: Int, _ noun: String) -> String {
        guard count != 1 else { return "1 \(noun)" }
        let letters = Array(noun)
        let isChanging = letters.last == "y" && letters.count > 1 && !"aeiou".contains(letters[letters.count - 2])
        return "\(count) \(isChanging ? String(noun.dropLast()) + "ies" : noun + "s")"
    }
}
