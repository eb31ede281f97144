import Foundation

/// Calendar days and weeks of a time zone, as numbers that grow by 1.
struct LocalDay {
    private let zone: TimeZone

    /// UTC for nil.
    init(_ zone: TimeZone?) { self.zone = zone ?? .gmt }

    /// By how much the zone's clock is ahead of UTC.
    func offset(at instant: Instant) -> Span {
        Span(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(instant) / 1000))) * 1000
    }

    /// Days since 1970-01-01 by the zone's calendar.
    func day(of instant: Instant) -> Int64 { (instant + offset(at: instant)).floored(by: 86_400_000) }

    /// Weeks from Monday. 1970-01-01 was a Thursday.
    func week(of instant: Instant) -> Int64 { (day(of: instant) + 3).floored(by: 7) }

    /// The hour of the zone's clock, 0 to 23.
    func hour(of instant: Instant) -> Int {
        let local = instant + offset(at: instant)
        return Int((local - local.floored(by: 86_400_000) * 86_400_000) / 3_600_000)
    }

    /// The first instant after `instant` at which `number` has another value, at most `span` later.
    func change(of number: (Instant) -> Int64, after instant: Instant, within span: Span) -> Instant {
        let current = number(instant)
        var (low, high) = (instant, instant + span)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if number(middle) == current { low = middle } else { high = middle }
        }
        return high
    }

    /// The next midnight of the zone. A day has up to 25 hours, and a zone may skip one.
    func nextDay(after instant: Instant) -> Instant { change(of: day, after: instant, within: 49 * 3_600_000) }

    /// The next start of a Monday.
    func nextWeek(after instant: Instant) -> Instant { change(of: week, after: instant, within: 193 * 3_600_000) }
}

extension Int64 {
    /// The quotient, rounded down for times before 1970 too.
    fileprivate func floored(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
