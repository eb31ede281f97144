import Foundation

/// The position after a page of a list, as clients see it. Opaque to them: base64url, which needs no escapes in a URL
/// (RFC 4648, 5). It has no state on the server, so it stays valid across restarts and reloads.
enum PageCursor {
    /// The position in text. `list`: one letter, which tells cursors of different lists and filters apart.
    static func text(_ position: String, in list: StaticString) -> String {
        Data("\(list)\(position)".utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// The position of a cursor of this list; nil for any other text. Accepts base64url with and without padding.
    static func position(of cursor: String, in list: StaticString) -> String? {
        let padding = String(repeating: "=", count: (4 - cursor.utf8.count % 4) % 4)
        let base64 = cursor.replacing("-", with: "+").replacing("_", with: "/") + padding
        let text = Data(base64Encoded: base64).flatMap { String(bytes: $0, encoding: .utf8) }
        // By bytes: a position may begin with a mark that combines with the letter.
        let prefix = "\(list)".utf8
        guard let text, text.utf8.starts(with: prefix) else { return nil }
        return String(Substring(text.utf8.dropFirst(prefix.count)))
    }
}

extension Call {
    /// The position after the former page; nil on the first one. Throws ``Problem/badQuery(_:)`` for a cursor of
    /// another list.
    func position(in list: StaticString) throws(Problem) -> String? {
        guard let cursor = query("cursor") else { return nil }
        guard let position = PageCursor.position(of: cursor, in: list) else { throw .badCursor }
        return position
    }

    /// The same for lists whose positions are numbers. Throws for 0 and for negative numbers too.
    func number(in list: StaticString) throws(Problem) -> Int64? {
        guard let text = try position(in: list) else { return nil }
        guard let number = Int64(text), number > 0 else { throw .badCursor }
        return number
    }
}

extension Problem {
    /// For a cursor that no list made, or another one.
    static let badCursor = badQuery("The cursor is not valid: use `next` of the former page of this list.")
}
