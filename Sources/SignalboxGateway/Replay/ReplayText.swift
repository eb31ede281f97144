package import Foundation
import SignalboxConfig
package import SignalboxNotification

/// What is written on the command line of a replay, as values.
package enum ReplayText {
    /// Events a second of `200/s`, `60/m` or `1000/h`; nil for anything else.
    package static func rate(_ text: String) -> Double? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let units: [Substring: Double] = ["s": 1, "m": 60, "h": 3600]
        guard parts.count == 2, let unit = units[parts[1]], let count = Double(parts[0]), count.isFinite,
            (0.001...1_000_000).contains(count)
        else { return nil }
        return count / unit
    }

    /// How many times as fast, of `10` or `2.5x`; nil for anything else.
    package static func speed(_ text: String) -> Double? {
        let number = text.last == "x" ? String(text.dropLast()) : text
        guard let speed = Double(number), speed.isFinite, (0.001...1_000_000).contains(speed) else { return nil }
        return speed
    }

    /// The instant of an RFC 3339 time, or of a duration before `now`, such as `24h`; nil for anything else.
    package static func moment(_ text: String, now: Date) -> Timestamp? {
        var utf8 = text
        if let time = utf8.withUTF8({ Timestamp(iso8601: $0) }) { return time }
        guard let ago = Duration(text: text) else { return nil }
        return Timestamp(now.addingTimeInterval(-(ago / .seconds(1))))
    }
}
