import SignalboxNotification

/// Rows of a table that the audit cannot read: their number, and why the first of them is unreadable.
package struct UnreadableRows {
    private var count = 0
    private var first: String?

    /// No row.
    package init() {}

    /// Counts one row.
    package mutating func add(_ error: DamagedValue) { (count, first) = (count + 1, first ?? error.reason) }

    /// One line of the audit; nil for none. `noun`: one row, in the singular. `table`: follows the noun.
    package func finding(_ noun: String, of table: String? = nil) -> String? {
        first.map { reason in
            let subject = Counted.words(count, noun) + (table.map { " of \($0)" } ?? "")
            return "\(subject) cannot be read, \(count == 1 ? "" : "the first ")because \(reason)"
        }
    }
}
