/// JSON Pointers as RFC 6901 writes them.
package enum JSONPointer {
    /// One reference token, with `~` and `/` escaped.
    package static func escape(_ token: String) -> String {
        guard token.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return token }
        // By scalars: a combining mark may follow a `/`, with which it makes one character.
        var escaped = String.UnicodeScalarView()
        for scalar in token.unicodeScalars {
            escaped.append(contentsOf: scalar == "~" ? ["~", "0"] : scalar == "/" ? ["~", "1"] : [scalar])
        }
        return String(escaped)
    }
}
