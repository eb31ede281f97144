internal import CSimdjson

/// A line and column in a text, both from 1, columns counted in characters of UTF-8, of which a byte order mark is none.
package struct TextPosition: Sendable, Equatable {
    package let line: Int
    package let column: Int

    /// A position that somebody else has found.
    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// The position of a byte offset.
    package init(offset: Int, in text: [UInt8]) {
        let before = text[..<min(max(offset, 0), text.count)]
        line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let isMarked = lineStart == 0 && before.starts(with: [0xEF, 0xBB, 0xBF])
        column = before[lineStart...].count { $0 & 0xC0 != 0x80 } + (isMarked ? 0 : 1)
    }

    /// The position of the value that a JSON Pointer names; where there is none, of the nearest value around it.
    package init?(of pointer: String, in text: [UInt8]) {
        guard let offset = Self.offset(of: pointer, in: text) else { return nil }
        self.init(offset: offset, in: text)
    }

    /// Where that value begins, in bytes.
    static func offset(of pointer: String, in text: [UInt8]) -> Int? {
        var pointer = pointer
        while true {
            var searched = pointer
            let offset = searched.withUTF8 { name in
                name.withMemoryRebound(to: CChar.self) {
                    sb_json_value_offset(text, text.count, $0.baseAddress, $0.count)
                }
            }
            if offset >= 0 { return offset }
            guard let slash = pointer.lastIndex(of: "/") else { return nil }
            pointer = String(pointer[..<slash])
        }
    }
}
