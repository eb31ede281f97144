package import Foundation

/// An instant of the years 0 to 9999, to the millisecond. Events write it as RFC 3339 in UTC.
package struct Timestamp: Sendable, Hashable, Comparable {
    /// Since 1970, UTC.
    package let milliseconds: Int64

    /// The first instant of year 0 to the last of year 9999, the range of four digits.
    private static let calendar: Range<Int64> = -62_167_219_200_000..<253_402_300_800_000

    package static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// Rounds down to the millisecond. Dates outside of the calendar become its first or last instant, NaN becomes
    /// 1970.
    package init(_ date: Date) {
        let exact = (date.timeIntervalSince1970 * 1000).rounded(.down)
        let first = Double(Self.calendar.lowerBound)
        let last = Double(Self.calendar.upperBound - 1)
        milliseconds = exact.isNaN ? 0 : Int64(min(max(exact, first), last))
    }

    /// Seconds since 1970; nil outside of the calendar.
    package init?(seconds: Int64) {
        let (milliseconds, overflows) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflows else { return nil }
        self.init(milliseconds: milliseconds)
    }

    /// Reads `2012-04-23T18:25:43Z`, with any number of decimals and an optional offset instead of the `Z` (RFC 3339),
    /// the letters in either case; nil for any other text and for days that the month does not have. Drops decimals
    /// after the third. Rejects the leap second `:60`, which RFC 3339 allows.
    package init?(iso8601 text: UnsafeBufferPointer<UInt8>) {
        var reader = Reader(text: text)
        guard let year = reader.number(4), reader.accept("-"), let month = reader.number(2), reader.accept("-"),
            let day = reader.number(2), reader.acceptLetter("T"), let hour = reader.number(2), reader.accept(":"),
            let minute = reader.number(2), reader.accept(":"), let second = reader.number(2),
            let fraction = reader.milliseconds(), let offset = reader.offsetInMinutes(), reader.isAtEnd,
            Self.isCivil(year, month, day), hour < 24, minute < 60, second < 60
        else { return nil }
        let minutes = (Self.days(year, month, day) * 24 + hour) * 60 + minute - offset
        self.init(milliseconds: (minutes * 60 + second) * 1000 + fraction)
    }

    /// Milliseconds since 1970; nil outside of the calendar.
    package init?(milliseconds: Int64) {
        guard Self.calendar.contains(milliseconds) else { return nil }
        self.milliseconds = milliseconds
    }

    /// The same instant for Foundation.
    package var date: Date { Date(timeIntervalSince1970: TimeInterval(milliseconds) / 1000) }

    /// `2012-04-23T18:25:43.000Z`: 24 characters, so texts sort as instants do.
    package var text: String {
        let (days, rest) = Self.divide(milliseconds, 86_400_000)
        let (year, month, day) = Self.civil(days)
        return String(unsafeUninitializedCapacity: 24) { bytes in
            var writer = Writer(bytes: bytes)
            writer.number(year, 4, then: "-")
            writer.number(month, 2, then: "-")
            writer.number(day, 2, then: "T")
            writer.number(rest / 3_600_000, 2, then: ":")
            writer.number(rest / 60_000 % 60, 2, then: ":")
            writer.number(rest / 1000 % 60, 2, then: ".")
            writer.number(rest % 1000, 3, then: "Z")
            return 24
        }
    }
}

// MARK: The calendar

extension Timestamp {
    /// True for a day of the proleptic Gregorian calendar.
    private static func isCivil(_ year: Int64, _ month: Int64, _ day: Int64) -> Bool {
        guard (1...12).contains(month), day >= 1 else { return false }
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        let length: Int64 = month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
        return day <= length
    }

    // Both directions after Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March, so
    // that the leap day is the last.
    /// Days from 1970-01-01 to a date; negative before it.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shifted = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = divide(shifted, 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date that lies a number of days after 1970-01-01; the inverse of `days`.
    private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = divide(days + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    /// Division that rounds down, so that the remainder is never negative.
    private static func divide(_ number: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

// MARK: Bytes

extension Timestamp {
    /// Reads ASCII from left to right. A method that fails may have moved the position: the text is rejected then.
    private struct Reader {
        let text: UnsafeBufferPointer<UInt8>
        var position = 0

        /// True past the last byte.
        var isAtEnd: Bool { position == text.count }

        /// Skips a character; false, without moving, if another character follows.
        mutating func accept(_ character: Unicode.Scalar) -> Bool {
            guard position < text.count, text[position] == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        /// In upper or lower case.
        mutating func acceptLetter(_ letter: Unicode.Scalar) -> Bool {
            guard position < text.count, text[position] & ~0x20 == UInt8(ascii: letter) else { return false }
            position += 1
            return true
        }

        mutating func digit() -> Int64? {
            guard position < text.count, text[position].isDigit else { return nil }
            position += 1
            return Int64(text[position - 1] - UInt8(ascii: "0"))
        }

        /// Exactly `length` digits.
        mutating func number(_ length: Int) -> Int64? {
            var number: Int64 = 0
            for _ in 0..<length {
                guard let digit = digit() else { return nil }
                number = number * 10 + digit
            }
            return number
        }

        /// 0 without a decimal point; nil for a point without a digit.
        mutating func milliseconds() -> Int64? {
            guard accept(".") else { return 0 }
            guard let first = digit() else { return nil }
            var milliseconds = first * 100 + (digit() ?? 0) * 10
            milliseconds += digit() ?? 0
            while digit() != nil {}
            return milliseconds
        }

        /// The offset from UTC: 0 for `Z`, at most 23:59 in either direction. Requires one.
        mutating func offsetInMinutes() -> Int64? {
            if acceptLetter("Z") { return 0 }
            let sign: Int64 = accept("+") ? 1 : accept("-") ? -1 : 0
            guard sign != 0, let hours = number(2), accept(":"), let minutes = number(2), hours < 24, minutes < 60
            else {
                return nil
            }
            return sign * (hours * 60 + minutes)
        }
    }

    /// Writes numbers with leading zeros into a buffer that is long enough.
    private struct Writer {
        let bytes: UnsafeMutableBufferPointer<UInt8>
        var position = 0

        mutating func number(_ number: Int64, _ length: Int, then character: Unicode.Scalar) {
            var rest = number
            for index in (position..<position + length).reversed() {
                bytes[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            bytes[position + length] = UInt8(ascii: character)
            position += length + 1
        }
    }
}
