import SignalboxJSON
package import SignalboxModel

extension Action {
    /// In minutes: a week.
    package static let longestSnooze = 10_080

    /// For how many minutes a snooze puts its notification off, 1 to ``longestSnooze``; nil when that is not said, or
    /// not so. A number or its text, under `value` or, as Android has it, under `time`.
    package var snoozeMinutes: Int? {
        let text =
            value
            ?? arguments.flatMap { arguments in
                arguments.withValue { $0["time"]?.spelled }
            }
        guard let text, let minutes = Int(text) ?? Double(text).flatMap({ Int(exactly: $0) }),
            (1...Self.longestSnooze).contains(minutes)
        else { return nil }
        return minutes
    }
}
