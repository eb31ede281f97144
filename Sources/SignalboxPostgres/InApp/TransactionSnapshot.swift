import SignalboxStore

/// The transactions whose rows a statement could see: those that had ended before it began.
struct TransactionSnapshot {
    /// As the server writes it: the oldest open transaction, the next one, and the open ones, such as `10:20:10,14`.
    let text: String
    /// The first transaction after all that had ended. It and later ones are not in the snapshot.
    let next: Int64
    /// Earlier transactions that had not ended.
    let open: [Int64]

    /// Contains no transaction.
    static let empty = TransactionSnapshot(text: "1:1:", next: 0, open: [])

    private init(text: String, next: Int64, open: [Int64]) { (self.text, self.next, self.open) = (text, next, open) }

    /// Reads the text of a `pg_snapshot`. Throws ``DamagedValue`` for another text.
    init(_ text: String) throws {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let next = Int64(parts[1]) else { throw DamagedValue("not a snapshot: \(text)") }
        self.init(text: text, next: next, open: parts[2].split(separator: ",").compactMap { Int64($0) })
    }
}
