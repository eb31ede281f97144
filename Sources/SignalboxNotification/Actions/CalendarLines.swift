import Foundation

/// Content lines of an iCalendar file (RFC 5545, 3.1): folded at 75 octets, with CRLF.
struct CalendarLines {
    private(set) var bytes: [UInt8] = []

    /// Octets of a line, the line end aside.
    private static let longest = 75

    /// A line whose value holds no text of people: dates, offsets, names.
    mutating func line(_ name: String, _ value: String) { fold(Array((name + ":" + value).utf8)) }

    /// A line with a value of the type TEXT.
    mutating func text(_ name: String, _ value: String) {
        var line = Array((name + ":").utf8)
        Self.escape(value, into: &line)
        fold(line)
    }

    /// Local time with the name of its zone; in UTC where local time does not say which instant is meant.
    mutating func time(_ name: String, _ time: CalendarTime) {
        if time.zone.isUTC || !time.isLocalTimeEnough {
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

    /// TEXT (RFC 5545, 3.3.11): commas, semicolons and backslashes are escaped, line ends become `\n`. Other control
    /// characters have no place in it and are left out.
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

    /// Never cuts a character's bytes apart: those behind the first begin with the bits 10.
    private mutating func fold(_ line: [UInt8]) {
        var rest = line[...]
        var room = Self.longest
        while rest.count > room {
            var cut = rest.startIndex + room
            while rest[cut] & 0xC0 == 0x80 { cut -= 1 }
            bytes += rest[..<cut]
            bytes += Array("\r\n ".utf8)
            rest = rest[cut...]
            // The blank counts.
            room = Self.longest - 1
        }
        bytes += rest
        bytes += Array("\r\n".utf8)
    }
}
