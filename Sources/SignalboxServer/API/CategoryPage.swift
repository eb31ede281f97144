import SignalboxNotification

/// One page of the declared categories and those that payloads defined, in the byte order of their identifiers.
struct CategoryPage {
    /// At most the requested number.
    let records: [CategoryRecord]
    /// The cursor of the next page; nil on the last one.
    let next: String?

    /// `dynamic`: the categories of payloads after `identifier`, at most `limit` + 1. A declared category replaces one
    /// of payloads with the same identifier. The page ends before it exceeds `bytes`, but has at least one category.
    init(statics: [CategoryRecord], dynamic: [CategoryRecord], after identifier: String?, limit: Int, bytes: Int) {
        let declared = ExactTextSet(statics.map(\.identifier))
        let following = statics.filter { record in
            identifier.map { Self.isOrdered($0, record.identifier) } ?? true
        }
        let all = (following + dynamic.filter { !declared.contains($0.identifier) })
            .sorted { Self.isOrdered($0.identifier, $1.identifier) }
        var left = bytes
        let count = all.prefix(limit).prefix { record in
            left -= record.definition.count
            return left >= 0
        }.count
        records = Array(all.prefix(max(1, count)))
        next =
            records.count < all.count
            ? records.last.map { PageCursor.text($0.identifier, in: CategoriesAPI.list) } : nil
    }

    /// Compares as SQLite orders text. True if the first identifier precedes the second. The order must equal that of
    /// the query, or pages would skip categories.
    private static func isOrdered(_ first: String, _ second: String) -> Bool {
        first.utf8.lexicographicallyPrecedes(second.utf8)
    }
}
