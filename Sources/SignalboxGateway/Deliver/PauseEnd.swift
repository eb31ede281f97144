package import Foundation
import SignalboxConfig
import SignalboxNotification

/// The end of a pause, as operators write it.
package enum PauseEnd {
    /// The longest pause with an end.
    package static let longest: Duration = .seconds(366 * 86_400)
    /// The rule as a clause for error messages.
    package static let words = "a time of RFC 3339 in the next 366 days, or a time from now such as 30m"

    /// Reads RFC 3339, or a duration from now; nil for anything else, and for a time that is over or too far away.
    package static func date(_ text: String, now: Date) -> Date? {
        let date =
            Duration(text: text).map { now.addingTimeInterval($0 / .seconds(1)) }
            ?? Array(text.utf8).withUnsafeBufferPointer { Timestamp(iso8601: $0) }?.date
        guard let date, date > now, date.timeIntervalSince(now) <= longest / .seconds(1) else { return nil }
        return date
    }
}
