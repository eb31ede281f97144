import Foundation

/// An instant, and the time zone in which people read it.
struct CalendarTime: Equatable {
    /// Since 1970, UTC.
    let seconds: Int64
    /// The zone that the action names; UTC if it names none.
    let zone: TimeZone

    /// The years 1900 to 8999, which leave space for offsets and a year before.
    private static let years: Range<Int64> = -2_208_988_800..<221_845_392_000

    /// Takes an instant that is within the years.
    private init(seconds: Int64, in zone: TimeZone) { (self.seconds, self.zone) = (seconds, zone) }

    /// Reads `2026-06-01T18:00:00Z`, or a time with an offset; a time with neither is the zone's local time.
    init?(iso8601 text: String, in zone: TimeZone) {
        if let instant = Self.seconds(text) {
            self.init(seconds: instant, in: zone)
        } else if let local = Self.seconds(text + "Z") {
            self.init(local: local, in: zone)
        } else {
            return nil
        }
    }

    /// Reads `2026-06-01` and `18:00` or `18:00:00` in the zone's local time.
    init?(date: String, time: String, in zone: TimeZone) {
        guard let local = Self.seconds("\(date)T\(time)Z") ?? Self.seconds("\(date)T\(time):00Z") else { return nil }
        self.init(local: local, in: zone)
    }

    /// `local`: the local time as seconds since 1970.
    ///
    /// A time that occurs twice is the first one; a time that is skipped counts with the offset before the gap (RFC
    /// 5545, 3.3.5).
    init(local: Int64, in zone: TimeZone) {
        let day: Int64 = 86_400
        let before = local - zone.offset(at: local - day)
        let after = local - zone.offset(at: local + day)
        let isAfter = zone.offset(at: before) != local - before && zone.offset(at: after) == local - after
        self.init(seconds: isAfter ? after : before, in: zone)
    }

    /// The local time as seconds since 1970.
    var local: Int64 { seconds + zone.offset(at: seconds) }

    /// True when the local time and the zone identify the instant.
    var isLocalTimeUnique: Bool { CalendarTime(local: local, in: zone).seconds == seconds }

    /// Nil for a text that is not a date, and outside of the years that calendars accept.
    private static func seconds(_ text: String) -> Int64? {
        var text = text
        let seconds = text.withUTF8 { Timestamp(iso8601: $0) }.map { $0.milliseconds / 1000 }
        return seconds.flatMap { years.contains($0) ? $0 : nil }
    }
}

extension TimeZone {
    /// Seconds ahead of UTC at an instant.
    fileprivate func offset(at seconds: Int64) -> Int64 {
        Int64(secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(seconds))))
    }

    /// True for UTC by any of its names.
    var isUTC: Bool { self == .gmt || ["UTC", "Etc/UTC", "Etc/GMT", "Etc/UCT", "Etc/Zulu"].contains(identifier) }
}

/// The definition of a time zone for a range of local times: a VTIMEZONE (RFC 5545, 3.6.5) with the observances that
/// apply to them and, for each, the following one.
struct CalendarZone {
    /// The beginning of an observance.
    private struct Onset: Hashable {
        /// Since 1970, UTC.
        let seconds: Int64
        /// Seconds ahead of UTC before the onset.
        let from: Int64
        /// Seconds ahead of UTC from the onset on.
        let to: Int64
        /// True for daylight saving time, which has a component of its own.
        let isDaylight: Bool
    }

    private let zone: TimeZone
    /// Each onset once, even if it serves both the start and the end.
    private var onsets: Set<Onset> = []

    /// A definition without observances. Call ``cover(_:)`` before ``write(to:)``.
    init(_ zone: TimeZone) { self.zone = zone }

    /// Adds the observances that an instant needs. Call it for instants in ascending order.
    mutating func cover(_ seconds: Int64) {
        // A zone changes its offset at least once in this period, or not for years.
        let before = seconds - 400 * 86_400
        var current = Onset(
            seconds: before, from: zone.offset(at: before), to: zone.offset(at: before),
            isDaylight: zone.isDaylightSavingTime(for: Self.date(before)))
        while let next = onset(after: current.seconds) {
            if next.seconds > seconds {
                onsets.insert(next)
                break
            }
            current = next
        }
        // An observance that an earlier onset already covers needs no second one.
        let earlier = onsets.filter { $0.seconds <= current.seconds }.max { $0.seconds < $1.seconds }
        if current.from != current.to || earlier?.to != current.to { onsets.insert(current) }
    }

    /// Nil without a later one.
    private func onset(after seconds: Int64) -> Onset? {
        var seconds = seconds
        // Some transitions change only the name of the offset.
        while let date = zone.nextDaylightSavingTimeTransition(after: Self.date(seconds)) {
            let next = Int64(date.timeIntervalSince1970)
            guard next > seconds else { return nil }
            let (from, to) = (zone.offset(at: next - 1), zone.offset(at: next))
            if from != to {
                return Onset(seconds: next, from: from, to: to, isDaylight: zone.isDaylightSavingTime(for: date))
            }
            seconds = next
        }
        return nil
    }

    /// Writes the observances in the order of their beginnings.
    func write(to lines: inout CalendarLines) {
        lines.line("BEGIN", "VTIMEZONE")
        lines.line("TZID", zone.identifier)
        for onset in onsets.sorted(by: { $0.seconds < $1.seconds }) {
            let kind = onset.isDaylight ? "DAYLIGHT" : "STANDARD"
            lines.line("BEGIN", kind)
            // In the local time before the onset.
            lines.line("DTSTART", CalendarLines.digits(of: onset.seconds + onset.from))
            lines.line("TZOFFSETFROM", Self.text(of: onset.from))
            lines.line("TZOFFSETTO", Self.text(of: onset.to))
            lines.line("END", kind)
        }
        lines.line("END", "VTIMEZONE")
    }

    /// `-0500`, with seconds if there are any.
    private static func text(of offset: Int64) -> String {
        let (minutes, seconds) = abs(offset).quotientAndRemainder(dividingBy: 60)
        let parts = [minutes / 60, minutes % 60] + (seconds == 0 ? [] : [seconds])
        return (offset < 0 ? "-" : "+") + parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined()
    }

    private static func date(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: TimeInterval(seconds)) }
}
