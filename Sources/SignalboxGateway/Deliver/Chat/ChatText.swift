/// Escaped text of a limited length, for services that reject a message with longer text.
enum ChatText {
    /// Replaces characters by `escape`, which returns nil for characters that stay as they are. Ends with `…` before
    /// the result has more than `limit` UTF-16 units. Escape sequences and graphemes stay whole.
    static func escaped(
        _ text: String, upTo limit: Int, _ escape: (_ scalar: Unicode.Scalar, _ atLineStart: Bool) -> String?
    ) -> String {
        var (result, length, fitting, atLineStart) = ("", 0, 0, true)
        for character in text {
            var piece = ""
            for scalar in character.unicodeScalars {
                piece += escape(scalar, atLineStart) ?? String(scalar)
                atLineStart = scalar == "\n" || (atLineStart && scalar.properties.isWhitespace)
            }
            length += piece.utf16.count
            // The last bytes may become the ellipsis.
            guard length <= limit else { return String(decoding: result.utf8.prefix(fitting), as: UTF8.self) + "…" }
            result += piece
            if length < limit { fitting = result.utf8.count }
        }
        return result
    }

    /// Shortens a text that its service shows literally.
    static func plain(_ text: String, upTo limit: Int) -> String { escaped(text, upTo: limit) { _, _ in nil } }
}
