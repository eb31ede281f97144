import Foundation

/// An instant, and the zone in whose local time people read it.
struct CalendarTime: Equatable {
    /// Since 1970, UTC.
    let seconds: Int64
    let zone: TimeZone

    /// The years 1900 to 8999: others are in no calendar, and these leave room for offsets and a year before.
    private static let years: Range<Int64> = -2_208_988_800..<221_845_392_000

    private init(seconds: Int64, in zone: TimeZone) {
        self.seconds = seconds
        self.zone = zone
    }

    /// `2026-06-01T18:00:00Z`, or with an offset, or with neither: then it is the zone's local time.
    init?(iso8601 text: String, in zone: TimeZone) {
        if let instant = Self.seconds(text) {
            self.init(seconds: instant, in: zone)
        } else if let local = Self.seconds(text + "Z") {
            self.init(local: local, in: zone)
        } else {
            return nil
        }
    }

    /// `2026-06-01` and `18:00` or `18:00:00` in the zone's local time.
    init?(date: String, time: String, in zone: TimeZone) {
        guard let local = Self.seconds("\(date)T\(time)Z") ?? Self.seconds("\(date)T\(time):00Z") else { return nil }
        self.init(local: local, in: zone)
    }

    /// `local`: what the clock on the wall shows, as seconds since 1970.
    ///
    /// Of a time that comes twice the first is meant, and one that is left out is counted on from before the gap
    /// (RFC 5545, 3.3.5).
    init(local: Int64, in zone: TimeZone) {
        let day: Int64 = 86_400
        let before = local - zone.offset(at: local - day)
        let after = local - zone.offset(at: local + day)
        let isAfter = zone.offset(at: before) != local - before && zone.offset(at: after) == local - after
        self.init(seconds: isAfter ? after : before, in: zone)
    }

    /// What the clock on the wall shows, as seconds since 1970.
    var local: Int64 { seconds + zone.offset(at: seconds) }

    /// True when the local time and the zone alone say which instant is meant.
    var isLocalTimeEnough: Bool { CalendarTime(local: local, in: zone).seconds == seconds }

    private static func seconds(_ text: String) -> Int64? {
        var text = text
        let seconds = text.withUTF8 { Timestamp(iso8601: $0) }.map { $0.milliseconds / 1000 }
        return seconds.flatMap { years.contains($0) ? $0 : nil }
    }
}

extension TimeZone {
    /// Seconds ahead of UTC at an instant.
    func offset(at seconds: Int64) -> Int64 {
        Int64(secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(seconds))))
    }

    /// True for UTC by any of its names.
    var isUTC: Bool { self == .gmt || ["UTC", "Etc/UTC", "Etc/GMT", "Etc/UCT", "Etc/Zulu"].contains(identifier) }
}
