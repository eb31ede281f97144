/// A JSON Pointer as RFC 6901 writes it.
package struct JSONPointer: Sendable, Equatable {
    package let text: String
    /// The parts between the slashes, unescaped.
    package let tokens: [String]

    /// Nil for what is no pointer: it is empty, or begins with a slash, and behind a `~` comes `0` or `1`.
    package init?(_ text: String) {
        guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else { return nil }
        self.text = text
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
        var tokens: [String] = []
        for part in parts {
            guard let token = Self.unescape(part) else { return nil }
            tokens.append(token)
        }
        self.tokens = tokens
    }

    /// The value to which this leads from another one; nil when it leads nowhere.
    package func value(in root: JSONValue) -> JSONValue? {
        var value = root
        for token in tokens {
            let next = value.isArray ? element(token, of: value) : value.member(token)
            guard let next else { return nil }
            value = next
        }
        return value
    }

    private func element(_ token: String, of list: JSONValue) -> JSONValue? {
        // No sign, no leading zero (RFC 6901, 4).
        guard let position = Int(token), String(position) == token, position >= 0 else { return nil }
        return list.elements.dropFirst(position).first { _ in true }
    }

    private static func unescape(_ token: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = token[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "~") else {
                bytes.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "0"): bytes.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): bytes.append(UInt8(ascii: "/"))
            default: return nil
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

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
