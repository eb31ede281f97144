/// JSON Pointers as RFC 6901 writes them.
package enum JSONPointer {
    /// One reference token, with `~` and `/` escaped.
    package static func escape(_ token: String) -> String {
        guard token.utf8.contains(where: isEscaped) else { return token }
        // By scalars: a combining mark may follow a `/`, with which it makes one character.
        var escaped = String.UnicodeScalarView()
        for scalar in token.unicodeScalars {
            escaped.append(contentsOf: scalar == "~" ? ["~", "0"] : scalar == "/" ? ["~", "1"] : [scalar])
        }
        return String(escaped)
    }

    /// The reference token of a key, escaped, behind its slash.
    static func token(_ key: UnsafeBufferPointer<UInt8>) -> String {
        guard !key.contains(where: isEscaped) else { return "/" + escape(String(decoding: key, as: UTF8.self)) }
        return String(unsafeUninitializedCapacity: key.count + 1) { token in
            token[0] = UInt8(ascii: "/")
            return token[1...].update(fromContentsOf: key)
        }
    }

    private static func isEscaped(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "~") || byte == UInt8(ascii: "/") }
}
