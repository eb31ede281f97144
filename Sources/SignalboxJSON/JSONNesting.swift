/// Finds where a JSON text exceeds a nesting limit; a parser reports only that it does.
package enum JSONNesting {
    /// Byte offset of the first bracket beyond the limit; nil when there is none.
    package static func offset(deeperThan limit: Int, in text: [UInt8]) -> Int? {
        var (depth, isQuoted, isEscaped) = (0, false, false)
        for (offset, byte) in text.enumerated() {
            if isQuoted {
                if byte == UInt8(ascii: "\""), !isEscaped { isQuoted = false }
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isQuoted = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: continue
            }
            if depth > limit { return offset }
        }
        return nil
    }
}
