import Foundation

/// What a reader has to know of a time zone to find the instants of some local times: a VTIMEZONE (RFC 5545, 3.6.5) with
/// the observances that hold at these and, of each, the one that follows.
struct CalendarZone {
    /// An offset that begins to hold.
    private struct Onset: Hashable {
        let seconds: Int64
        let from: Int64
        let to: Int64
        let isDaylight: Bool
    }

    private let zone: TimeZone
    private var onsets: Set<Onset> = []

    init(_ zone: TimeZone) { self.zone = zone }

    /// Makes sure that the local time of an instant can be read. Instants come in their order.
    mutating func cover(_ seconds: Int64) {
        // Zones change their offset at least once within this time, or not for years.
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
        // Where nothing precedes, what already holds by an earlier onset needs no second one.
        let earlier = onsets.filter { $0.seconds <= current.seconds }.max { $0.seconds < $1.seconds }
        if current.from != current.to || earlier?.to != current.to { onsets.insert(current) }
    }

    /// Nil when none follows within the calendar.
    private func onset(after seconds: Int64) -> Onset? {
        var seconds = seconds
        // What is called a transition may change the offset's name only.
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

    func write(to lines: inout CalendarLines) {
        lines.line("BEGIN", "VTIMEZONE")
        lines.line("TZID", zone.identifier)
        for onset in onsets.sorted(by: { $0.seconds < $1.seconds }) {
            let kind = onset.isDaylight ? "DAYLIGHT" : "STANDARD"
            lines.line("BEGIN", kind)
            // In the local time that held until then.
            lines.line("DTSTART", CalendarLines.digits(of: onset.seconds + onset.from))
            lines.line("TZOFFSETFROM", Self.text(of: onset.from))
            lines.line("TZOFFSETTO", Self.text(of: onset.to))
            lines.line("END", kind)
        }
        lines.line("END", "VTIMEZONE")
    }

    /// `-0500`, with seconds where there are some.
    private static func text(of offset: Int64) -> String {
        let (minutes, seconds) = abs(offset).quotientAndRemainder(dividingBy: 60)
        let parts = [minutes / 60, minutes % 60] + (seconds == 0 ? [] : [seconds])
        return (offset < 0 ? "-" : "+") + parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined()
    }

    private static func date(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: TimeInterval(seconds)) }
}
