package import Foundation

/// RFC 3339 with milliseconds in UTC, as events carry it.
package enum Timestamp {
    /// `2026-11-20T21:29:00.123Z`; 24 characters for the years 0 to 9999, to which other dates are clamped.
    package static func text(_ date: Date) -> String {
        let earliest: Int64 = -62_167_219_200_000
        let latest: Int64 = 253_402_300_799_999
        let exact = (date.timeIntervalSince1970 * 1000).rounded(.down)
        let milliseconds = exact.isNaN ? 0 : Int64(min(max(exact, Double(earliest)), Double(latest)))
        let days = floorDivide(milliseconds, 86_400_000)
        let rest = Int(milliseconds - days * 86_400_000)
        let (year, month, day) = civil(fromDays: Int(days))
        return String(unsafeUninitializedCapacity: 24) { text in
            var writer = DigitWriter(text: text)
            writer.write(year, digits: 4, then: "-")
            writer.write(month, digits: 2, then: "-")
            writer.write(day, digits: 2, then: "T")
            writer.write(rest / 3_600_000, digits: 2, then: ":")
            writer.write(rest / 60_000 % 60, digits: 2, then: ":")
            writer.write(rest / 1000 % 60, digits: 2, then: ".")
            writer.write(rest % 1000, digits: 3, then: "Z")
            return writer.position
        }
    }

    private static func floorDivide(_ value: Int64, _ by: Int64) -> Int64 {
        value >= 0 ? value / by : -((-value + by - 1) / by)
    }

    /// Proleptic Gregorian date of a day counted from 1970-01-01, by eras of 400 years that begin in March.
    private static func civil(fromDays days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private struct DigitWriter {
        let text: UnsafeMutableBufferPointer<UInt8>
        var position = 0

        mutating func write(_ number: Int, digits: Int, then separator: Unicode.Scalar) {
            var rest = number
            for place in stride(from: position + digits - 1, through: position, by: -1) {
                text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            text[position + digits] = UInt8(ascii: separator)
            position += digits + 1
        }
    }
}
