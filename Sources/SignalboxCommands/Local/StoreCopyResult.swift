import SignalboxGateway
import SignalboxNotification
package import SignalboxStore

/// The result of `signalbox store copy`: the audits of both stores.
package struct StoreCopyResult: Sendable {
    private let source: Audit
    private let target: Audit

    /// Audits of both stores, made after the copy has ended.
    package init(source: Audit, target: Audit) { (self.source, self.target) = (source, target) }

    /// Whether both stores account for the same deliveries.
    package var isEqual: Bool { Self.sorted(source.accounts) == Self.sorted(target.accounts) }

    /// Whether the audits found nothing either.
    package var isRight: Bool { isEqual && source.isRight && target.isRight }

    /// By name, so that accounts of different stores can be compared.
    private static func sorted(_ accounts: [Audit.Account]) -> [Audit.Account] {
        accounts.sorted { $0.destination.name < $1.destination.name }
    }

    /// The sentence for a copy that gateways must not use.
    package var refusal: String {
        "The copy differs from the queue, or the queue changed meanwhile. Drop the tables of the database, and copy again."
    }

    /// The accounts of the copy.
    package var lines: [String] { target.table }

    /// Sentences for standard error; empty if all is right.
    package var findings: [String] {
        var lines = source.findings.map { "In the source: \($0)" } + target.findings.map { "In the copy: \($0)" }
        if !isEqual {
            let accounts = Dictionary(source.accounts.map { ($0.destination, $0) }) { first, _ in first }
            let names = target.accounts.filter { accounts[$0.destination] != $0 }.map(\.destination.name)
            let subject = names.isEmpty ? "destinations" : names.joined(separator: ", ")
            lines.append("The accounts of \(subject) differ between the source and the copy.")
        }
        return lines
    }
}

/// Progress of a copy, a line for each table.
package struct CopyProgress {
    private let write: (String) -> Void
    /// The table in progress and its rows so far; nil after ``end()``.
    private var last: (table: String, rows: Int)?

    /// `isResumed`: the copy continues. `write`: standard error.
    package init(isResumed: Bool, write: @escaping (String) -> Void) {
        self.write = write
        if isResumed { write("Continuing the copy after its last batch.\n") }
    }

    /// `rows`: of the table so far. Also writes a line for each 100,000 rows.
    package mutating func show(_ table: String, _ rows: Int) {
        if let last, last.table != table || rows / 100_000 > last.rows / 100_000 { end() }
        last = (table, rows)
    }

    /// Writes the last line.
    package mutating func end() {
        if let last { write("\(last.table): \(Counted.words(last.rows, "row"))\n") }
        last = nil
    }
}
