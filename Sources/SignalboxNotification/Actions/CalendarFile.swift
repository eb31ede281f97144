package import Foundation

/// An event for a calendar as a file: iCalendar (RFC 5545).
package struct CalendarFile: Sendable, Equatable {
    package static let contentType = "text/calendar; charset=utf-8"

    /// UTF-8, with CRLF.
    package let bytes: [UInt8]
    /// What is wrong with the action and did not keep a file from being made of it.
    package let problems: [ActionProblem]

    /// Makes a file of an action of the type calendar. `uid`: what tells this event from all others, the same for each
    /// file that is made of it. `stamp`: when the file is made. Fails with what is wrong with the action.
    package init(action: Action, uid: String, stamp: Date) throws(ActionProblem) {
        let event = try CalendarEvent(action)
        problems = event.problems
        var lines = CalendarLines()
        lines.line("BEGIN", "VCALENDAR")
        lines.line("VERSION", "2.0")
        lines.line("PRODID", "-//Signalbox//Signalbox//EN")
        for zone in event.zones { zone.write(to: &lines) }
        lines.line("BEGIN", "VEVENT")
        lines.text("UID", uid)
        lines.line("DTSTAMP", CalendarLines.digits(of: Timestamp(stamp).milliseconds / 1000) + "Z")
        lines.time("DTSTART", event.start)
        if let end = event.end { lines.time("DTEND", end) }
        lines.text("SUMMARY", event.title)
        if let notes = event.notes { lines.text("DESCRIPTION", notes) }
        lines.line("END", "VEVENT")
        lines.line("END", "VCALENDAR")
        bytes = lines.bytes
    }
}

extension CalendarEvent {
    /// Those that the file has to explain, each once.
    fileprivate var zones: [CalendarZone] {
        let times = [start, end].compactMap { $0 }.filter { !$0.zone.isUTC && $0.isLocalTimeEnough }
        var names: [String] = []
        for time in times where !names.contains(time.zone.identifier) { names.append(time.zone.identifier) }
        return names.compactMap { name in
            let covered = times.filter { $0.zone.identifier == name }
            guard var zone = covered.first.map({ CalendarZone($0.zone) }) else { return nil }
            for time in covered { zone.cover(time.seconds) }
            return zone
        }
    }
}
