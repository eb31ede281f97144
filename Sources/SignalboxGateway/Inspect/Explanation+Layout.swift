extension Explanation {
    /// The same JSON with a line for each member and element, indented by two spaces. Everything else is unchanged:
    /// the order of members, keys that differ only in their normalisation, and the digits of numbers. `json`: valid.
    static func indented(_ json: [UInt8]) -> String {
        var layout = JSONLayout()
        for byte in json { layout.append(byte) }
        return String(decoding: layout.text, as: UTF8.self)
    }
}

/// Lays JSON out for a person, byte by byte.
private struct JSONLayout {
    /// UTF-8.
    private(set) var text: [UInt8] = []
    private var depth = 0
    private var isInString = false
    /// Whether a backslash precedes the next byte of a string.
    private var isEscaped = false
    /// Whether the last byte opened a container, which may be empty.
    private var isOpened = false

    /// Must be called with the bytes of one JSON text, in their order.
    mutating func append(_ byte: UInt8) {
        guard !isInString else { return appendInString(byte) }
        let closes = byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D: return
        case _ where closes:
            depth -= 1
            if !isOpened { beginLine() }
        default: if isOpened { beginLine() }
        }
        isOpened = byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[")
        if isOpened { depth += 1 }
        isInString = byte == UInt8(ascii: "\"")
        if byte == UInt8(ascii: ":") {
            text += " : ".utf8
        } else {
            text.append(byte)
        }
        if byte == UInt8(ascii: ",") { beginLine() }
    }

    private mutating func appendInString(_ byte: UInt8) {
        text.append(byte)
        isInString = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
    }

    private mutating func beginLine() {
        text.append(UInt8(ascii: "\n"))
        text += repeatElement(UInt8(ascii: " "), count: 2 * depth)
    }
}
