internal import CCurl
package import Foundation

/// The value of a `Retry-After` header (RFC 9110, 10.2.3).
package enum RetryAfter: Sendable, Equatable {
    case seconds(Int)
    case date(Date)

    /// Reads a number of seconds, which saturates, or an HTTP date; nil for anything else.
    package init?(_ text: String) {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        if !trimmed.isEmpty, trimmed.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            self = .seconds(Int(trimmed) ?? .max)
        } else if let date = Date(http: trimmed) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Seconds to wait from `now` on, never negative. Zero for a date in the past. The caller bounds the delay: a
    /// server may name any time.
    package func delay(from now: Date) -> TimeInterval {
        switch self {
        case .seconds(let seconds): TimeInterval(seconds)
        case .date(let date): max(0, date.timeIntervalSince(now))
        }
    }
}

extension Date {
    /// Reads an HTTP date in any of its three forms (RFC 9110, 5.6.7); nil for anything else and for dates before
    /// 1970.
    package init?(http text: String) {
        let seconds = curl_getdate(text, nil)
        guard seconds > 0 else { return nil }
        self.init(timeIntervalSince1970: TimeInterval(seconds))
    }
}
