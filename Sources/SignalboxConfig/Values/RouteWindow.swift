package import Foundation
package import SignalboxNotification

/// When a route takes events: between two instants, on days of the week, at hours of the day. What is not said does not
/// count.
package struct RouteWindow: Sendable, Equatable {
    package var from: Timestamp?
    /// No longer in it.
    package var until: Timestamp?
    /// Nil for all; otherwise those on which the hours begin.
    package var days: Set<Weekday>?
    /// Empty for the whole day.
    package var hours: [Hours] = []
    /// Whose days and hours they are.
    package var zone: TimeZone = .gmt

    package init() {}

    package enum Weekday: String, Sendable, CaseIterable {
        case mon, tue, wed, thu, fri, sat, sun
    }

    /// Part of a day, in minutes from midnight by the clock on the wall; one that ends before it begins goes on past
    /// midnight.
    package struct Hours: Sendable, Equatable {
        package let start: Int
        /// No longer in it.
        package let end: Int

        package init(start: Int, end: Int) {
            self.start = start
            self.end = end
        }

        /// `08:00-17:30`, of a day that ends at 24:00; nil for anything else, and for no time at all.
        package init?(_ text: String) {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Self.minutes($0) }
            guard parts.count == 2, let start = parts[0], let end = parts[1], start != end, start < 1440, end > 0 else {
                return nil
            }
            self.init(start: start, end: end)
        }

        private static func minutes(_ text: Substring) -> Int? {
            let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
            guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy { digits.contains($0) } }),
                let hours = Int(Substring(parts[0])), let minutes = Int(Substring(parts[1])), minutes < 60
            else { return nil }
            return hours < 24 || (hours == 24 && minutes == 0) ? hours * 60 + minutes : nil
        }
    }

    /// Whether an event that was accepted then is in it.
    package func contains(_ time: Timestamp) -> Bool {
        if let from, time < from { return false }
        if let until, time >= until { return false }
        guard days != nil || !hours.isEmpty else { return true }
        let seconds = Int(time.milliseconds.quotient(by: 1000))
        let local = seconds + zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
        let day = local.quotient(by: 86_400)
        let minute = (local - day * 86_400) / 60
        guard !hours.isEmpty else { return allows(day) }
        return hours.contains { part in
            if part.start < part.end { return (part.start..<part.end).contains(minute) && allows(day) }
            return minute >= part.start ? allows(day) : minute < part.end && allows(day - 1)
        }
    }

    /// `day`: since 1 January 1970, a Thursday.
    private func allows(_ day: Int) -> Bool {
        guard let days else { return true }
        return days.contains(Weekday.allCases[(day + 3) - (day + 3).quotient(by: 7) * 7])
    }
}

extension BinaryInteger {
    /// Rounded down, for what lies before 1970 too.
    fileprivate func quotient(by divisor: Self) -> Self {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
