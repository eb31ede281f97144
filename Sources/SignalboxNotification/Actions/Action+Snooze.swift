import SignalboxJSON

extension Action {
    /// In minutes: a week.
    package static let longestSnooze = 10_080

    /// For how many minutes a snooze puts its notification off, 1 to ``longestSnooze``; nil when that is not said, or
    /// not so. A number or its text, under `value` or, as Android has it, under `time`; in decimal digits, with `.0` behind
    /// them where somebody's JSON has no whole numbers.
    package var snoozeMinutes: Int? {
        let text =
            value
            ?? arguments.flatMap { arguments in
                arguments.withValue { $0["time"]?.spelled }
            }
        guard let text else { return nil }
        let digits = text.hasSuffix(".0") ? text.dropLast(2) : text[...]
        guard digits.utf8.allSatisfy(isDigit), let minutes = Int(digits),
            (1...Self.longestSnooze).contains(minutes)
        else { return nil }
        return minutes
    }
}
