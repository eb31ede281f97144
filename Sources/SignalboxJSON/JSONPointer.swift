/// A JSON Pointer (RFC 6901).
package struct JSONPointer: Sendable, Equatable {
    /// As written, for example `/data/media/0`; empty for the root.
    package let text: String
    /// The parts between the slashes, unescaped.
    package let tokens: [String]

    /// Nil unless the text is empty or begins with a slash, and every `~` comes before `0` or `1`.
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

    /// The value that the pointer leads to from another value; nil when there is none. Does not look into JSON texts
    /// inside strings. `-`, the position after an array, leads to no value.
    package func value(in root: JSONValue) -> JSONValue? {
        var value = root
        for token in tokens {
            guard let next = value.isArray ? element(token, of: value) : value.member(token) else { return nil }
            value = next
        }
        return value
    }

    /// The element at a position that is written as RFC 6901 requires. Linear in the position.
    private func element(_ token: String, of list: JSONValue) -> JSONValue? {
        // No sign, no leading zero (RFC 6901, 4).
        guard let position = Int(token), String(position) == token, position >= 0 else { return nil }
        return list.elements.dropFirst(position).first { _ in true }
    }

    /// Replaces `~1` by `/` and `~0` by `~`; nil for any other `~`.
    private static func unescape(_ token: Substring.UTF8View) -> String? {
        let parts = token.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false)
        var bytes = Array(parts.first ?? token)
        for part in parts.dropFirst() {
            guard let code = part.first, code == UInt8(ascii: "0") || code == UInt8(ascii: "1") else { return nil }
            bytes.append(code == UInt8(ascii: "0") ? UInt8(ascii: "~") : UInt8(ascii: "/"))
            bytes += part.dropFirst()
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// One reference token, with `~` and `/` escaped.
    package static func escape(_ token: String) -> String {
        guard token.utf8.contains(where: isEscaped) else { return token }
        // By bytes: a combining mark may follow a `/` and make one character with it.
        let bytes = token.utf8.flatMap { byte in
            isEscaped(byte) ? [UInt8(ascii: "~"), UInt8(ascii: byte == UInt8(ascii: "~") ? "0" : "1")] : [byte]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// One reference token with its slash, before it is escaped.
    enum Token {
        case key(UnsafeBufferPointer<UInt8>)
        case position(Int)

        /// Its length in a pointer, in bytes.
        var length: Int {
            switch self {
            case .key(let key): key.reduce(1 + key.count) { $0 + (isEscaped($1) ? 1 : 0) }
            case .position(let position): 1 + String(position).utf8.count
            }
        }

        /// Writes ``length`` bytes and moves `count` past them.
        func write(into text: UnsafeMutableBufferPointer<UInt8>, at count: inout Int) {
            text[count] = UInt8(ascii: "/")
            count += 1
            switch self {
            case .key(let key):
                for byte in key {
                    text[count] = isEscaped(byte) ? UInt8(ascii: "~") : byte
                    count += 1
                    guard isEscaped(byte) else { continue }
                    text[count] = UInt8(ascii: byte == UInt8(ascii: "~") ? "0" : "1")
                    count += 1
                }
            case .position(let position):
                for byte in String(position).utf8 {
                    text[count] = byte
                    count += 1
                }
            }
        }
    }

    private static func isEscaped(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "~") || byte == UInt8(ascii: "/") }
}
