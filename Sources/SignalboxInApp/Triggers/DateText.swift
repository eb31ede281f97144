extension PropertyValue {
    /// A date, or a text in RFC 3339 with or without a fraction.
    var instant: Instant? {
        switch self {
        case .date(let instant): instant
        case .text(let text): DateText.instant(of: text)
        case .boolean, .number, .list: nil
        }
    }
}

/// Reads texts that are dates, `2026-11-22T12:00:00.250+01:00`, as RFC 3339, section 5.6. Conditions read any text of a
/// device, and Foundation's reader formats a message for each text that is not a date.
enum DateText {
    /// Bytes of the longest text: with 38 digits of a fraction and an offset.
    private static let longest = 64

    /// Nil for any other text. Reads `t` and `z` as `T` and `Z`. Digits of a fraction beyond milliseconds are cut off;
    /// a leap second is the first second of the next minute.
    static func instant(of text: String) -> Instant? {
        guard (20...longest).contains(text.utf8.count) else { return nil }
        // The only letters of a date.
        var rest = text.utf8.map { $0 == UInt8(ascii: "t") || $0 == UInt8(ascii: "z") ? $0 - 0x20 : $0 }[...]
        guard let year = number(&rest, 4, before: "-"), let month = number(&rest, 2, before: "-"),
            let day = number(&rest, 2, before: "T"), let hour = number(&rest, 2, before: ":"),
            let minute = number(&rest, 2, before: ":"), let second = number(&rest, 2),
            (1...12).contains(month), day >= 1, day <= days(in: month, of: year), hour < 24, minute < 60, second <= 60,
            let fraction = fraction(&rest), let offset = offset(&rest), rest.isEmpty
        else { return nil }
        let seconds = ((dayNumber(year, month, day) * 24 + hour) * 60 + minute - offset) * 60 + second
        return seconds * 1000 + fraction
    }

    /// A number of `digits` digits, with the character after it.
    private static func number(_ rest: inout ArraySlice<UInt8>, _ digits: Int, before mark: Unicode.Scalar? = nil)
        -> Int64?
    {
        guard rest.count >= digits else { return nil }
        var value: Int64 = 0
        for byte in rest.prefix(digits) {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        rest.removeFirst(digits)
        guard let mark else { return value }
        return rest.popFirst() == UInt8(ascii: mark) ? value : nil
    }

    /// Milliseconds; 0 without a fraction.
    private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard rest.first == UInt8(ascii: ".") else { return 0 }
        rest.removeFirst()
        var (value, digits): (Int64, Int) = (0, 0)
        while let digit = number(&rest, 1) {
            if digits < 3 { value = value * 10 + digit }
            digits += 1
        }
        guard digits > 0 else { return nil }
        for _ in digits..<max(digits, 3) { value *= 10 }
        return value
    }

    /// Minutes east of UTC: `Z`, or an offset with or without a colon.
    private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard let sign = rest.popFirst() else { return nil }
        if sign == UInt8(ascii: "Z") { return 0 }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), let hours = number(&rest, 2) else { return nil }
        if rest.first == UInt8(ascii: ":") { rest.removeFirst() }
        guard let minutes = number(&rest, 2), hours < 24, minutes < 60 else { return nil }
        return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + minutes)
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1970-01-01 in the Gregorian calendar, which begins its year in March here, so that a leap day is
    /// the last one.
    private static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month > 2 ? year : year - 1
        let months = (month + 9) % 12
        let leaps = (year + 4) / 4 - (year + 100) / 100 + (year + 400) / 400
        return year * 365 + leaps + (months * 153 + 2) / 5 + day - 719_470
    }
}
