/// The range of a `range` header (RFC 9110, 14): one range of bytes. Never fails: a field that a server may ignore
/// means ``whole``.
enum ByteRange: Equatable {
    /// Everything: there is no header, or one that a server may ignore.
    case whole
    /// Positions of the first and the last byte, both included.
    case part(ClosedRange<Int>)
    /// The file has no such bytes.
    case unsatisfiable

    /// `length`: the length of the file. Several ranges, other units and malformed ranges are ignored. The unit is
    /// compared without case. A last position beyond the end means the end (RFC 9110, 14.1.2); a suffix longer than the
    /// file means the whole file, as a part.
    init(_ header: String?, of length: Int) {
        self = .whole
        guard let header, header.lowercased().hasPrefix("bytes=") else { return }
        let parts = header.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.trimmingBlanks }
        guard parts.count == 2, let first = Self.number(parts[0]), let last = Self.number(parts[1]) else { return }
        switch (first, last) {
        case (nil, nil): return
        case (nil, let suffix?):
            self = suffix == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - suffix)...(length - 1))
        case (let first?, let last):
            if let last, last < first { return }
            self = first >= length ? .unsatisfiable : .part(first...min(last ?? length - 1, length - 1))
        }
    }

    /// `.some(nil)` for empty text, nil for text that is not a number. Numbers beyond all files count as the largest.
    /// Only digits count: a sign or a space inside makes the header malformed.
    private static func number(_ text: Substring) -> Int?? {
        if text.isEmpty { return .some(nil) }
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return .some(Int(text) ?? .max)
    }
}

/// HTTP's optional whitespace; Foundation's would include more characters.
extension Substring {
    /// Removes spaces and tabs at both ends, the optional whitespace of HTTP (RFC 9110, 5.6.3).
    fileprivate var trimmingBlanks: Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
    }
}
