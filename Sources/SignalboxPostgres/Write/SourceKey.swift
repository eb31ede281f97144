import SignalboxNotification

/// A key that senders choose, of a source. Keys are compared by their bytes, as in the database: a text that only looks
/// the same is another key, and all nodes lock rows in one order.
struct SourceKey: Hashable, Comparable {
    private let source: ExactText
    private let key: ExactText

    /// `source`: its name, or a text that no source has as its name.
    init(source: String, key: String) { (self.source, self.key) = (ExactText(source), ExactText(key)) }

    /// The first two columns of a row. Throws for NULL.
    init(_ row: PostgresRow) throws { self.init(source: try row.text(0), key: try row.text(1)) }

    static func < (first: Self, second: Self) -> Bool { (first.source, first.key) < (second.source, second.key) }

    /// Two arrays for a statement, in the order of the keys: the sources and their keys.
    static func columns(of keys: [Self]) -> (sources: PostgresValue, keys: PostgresValue) {
        (.texts(keys.map(\.source.text)), .texts(keys.map(\.key.text)))
    }
}
