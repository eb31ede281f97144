package import Foundation

/// When a server wants to be asked again.
package enum RetryAfter: Sendable, Equatable {
    case seconds(Int)
    case date(Date)

    /// Reads both forms of the header: a number of seconds, or an HTTP date in any of its three spellings.
    package init?(_ text: String) {
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        if !trimmed.isEmpty, trimmed.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            self = .seconds(Int(trimmed) ?? .max)
            return
        }
        guard let date = Date(http: trimmed) else { return nil }
        self = .date(date)
    }

    /// The wait from `now` on, never negative.
    package func delay(from now: Date) -> TimeInterval {
        switch self {
        case .seconds(let seconds): TimeInterval(seconds)
        case .date(let date): max(0, date.timeIntervalSince(now))
        }
    }
}
