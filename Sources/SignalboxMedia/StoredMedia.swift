/// A file that is kept under the digest of what it holds.
package struct StoredMedia: Sendable, Equatable {
    /// 64 lower-case hexadecimal digits.
    package let sha256: String
    package let bytes: Int
}

/// What a file is, by what it holds: whoever made it is not asked.
package enum MediaKind: Sendable {
    /// iCalendar.
    case calendar
    case other

    /// How many bytes of a file's beginning tell its kind.
    package static let telling = 15

    /// The kind of a file that begins so.
    package init(beginning: [UInt8]) {
        self = beginning.starts(with: "BEGIN:VCALENDAR".utf8) ? .calendar : .other
    }
}
