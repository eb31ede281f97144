package import Foundation

/// A calendar event as a file: iCalendar (RFC 5545).
package struct CalendarFile: Sendable, Equatable {
    /// The MIME type of every file.
    package static let contentType = "text/calendar; charset=utf-8"

    /// UTF-8, with CRLF.
    package let bytes: [UInt8]
    /// Mistakes of the action that did not prevent making the file.
    package let problems: [ActionProblem]

    /// Makes the file of an action of the type calendar. `uid`: identifies the event, equal for each file of it.
    /// `stamp`: the time at which the file is made. Throws a mistake of the action.
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
    /// The time zones that the file must define, each once.
    fileprivate var zones: [CalendarZone] {
        let times = [start, end].compactMap(\.self).filter { !$0.zone.isUTC && $0.isLocalTimeUnique }
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

/// Content lines of an iCalendar file (RFC 5545, 3.1): folded at 75 octets, with CRLF.
struct CalendarLines {
    private(set) var bytes: [UInt8] = []

    /// The most octets of a line without its end.
    private static let longest = 75

    /// Writes a line whose value is a date, an offset or a name, which needs no escaping.
    mutating func line(_ name: String, _ value: String) { fold(Array((name + ":" + value).utf8)) }

    /// Writes a line with a value of the type TEXT.
    mutating func text(_ name: String, _ value: String) {
        var line = Array((name + ":").utf8)
        Self.escape(value, into: &line)
        fold(line)
    }

    /// Writes the local time with the name of its zone, or UTC if the local time is ambiguous.
    mutating func time(_ name: String, _ time: CalendarTime) {
        if time.zone.isUTC || !time.isLocalTimeUnique {
            line(name, Self.digits(of: time.seconds) + "Z")
        } else {
            line("\(name);TZID=\(time.zone.identifier)", Self.digits(of: time.local))
        }
    }

    /// `20260601T180000`.
    static func digits(of seconds: Int64) -> String {
        let text = Timestamp(milliseconds: seconds * 1000)?.text ?? ""
        return String(text.prefix(19).filter { $0 != "-" && $0 != ":" })
    }

    /// TEXT (RFC 5545, 3.3.11): escapes commas, semicolons and backslashes, writes line ends as `\n`, and drops other
    /// control characters, which are not allowed.
    static func escape(_ text: String, into line: inout [UInt8]) {
        var isAfterReturn = false
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"), UInt8(ascii: ","), UInt8(ascii: ";"): line += [UInt8(ascii: "\\"), byte]
            case 0x0A where isAfterReturn: break
            case 0x0A, 0x0D: line += Array("\\n".utf8)
            case 0x09, 0x20...0x7E, 0x80...: line.append(byte)
            default: break
            }
            isAfterReturn = byte == 0x0D
        }
    }

    /// Never splits the bytes of a character: all except the first begin with the bits 10.
    private mutating func fold(_ line: [UInt8]) {
        var rest = line[...]
        var length = Self.longest
        while rest.count > length {
            var cut = rest.startIndex + length
            while rest[cut] & 0xC0 == 0x80 { cut -= 1 }
            bytes += rest[..<cut]
            bytes += Array("\r\n ".utf8)
            rest = rest[cut...]
            // The space at the beginning counts.
            length = Self.longest - 1
        }
        bytes += rest
        bytes += Array("\r\n".utf8)
    }
}
