import Foundation
import SignalboxNotification

/// One page of the declared categories and those that payloads defined, in the byte order of their identifiers.
struct CategoryPage {
    /// At most the requested number.
    let records: [CategoryRecord]
    /// The cursor of the next page; nil on the last one.
    let next: String?

    /// `dynamic`: the categories of payloads after `identifier`, at most `limit` + 1. A declared category replaces one
    /// of payloads with the same identifier. The page ends before it exceeds `bytes`, but has at least one category.
    init(
        statics: [CategoryRecord], dynamic: [CategoryRecord], after identifier: String?, limit: Int, bytes: Int
    ) {
        let declared = Set(statics.map(\.identifier))
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
        next = records.count < all.count ? records.last.map { Self.cursor(after: $0.identifier) } : nil
    }

    /// Compares as SQLite orders text. True if the first identifier precedes the second. The order must equal that of
    /// the query, or pages would skip categories.
    private static func isOrdered(_ first: String, _ second: String) -> Bool {
        first.utf8.lexicographicallyPrecedes(second.utf8)
    }

    /// Identifiers are arbitrary text; base64url needs no escapes in a URL (RFC 4648, 5). The cursor has no state on
    /// the server, so it stays valid across restarts and reloads.
    static func cursor(after identifier: String) -> String {
        Data(identifier.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// The identifier encoded in a cursor; nil for an invalid cursor. Accepts base64url with and without padding.
    static func identifier(of cursor: String) -> String? {
        let padding = String(repeating: "=", count: (4 - cursor.utf8.count % 4) % 4)
        let base64 = cursor.replacing("-", with: "+").replacing("_", with: "/") + padding
        return Data(base64Encoded: base64).flatMap { String(bytes: $0, encoding: .utf8) }
    }
}
