package import Foundation

/// Times as stores keep them: whole milliseconds since 1970, so that they sort and compare as numbers.
extension Date {
    /// The times that a store may hold, in milliseconds since 1970: numbers that a `Double` holds exactly.
    package static let storedTimes: ClosedRange<Int64> = -(1 << 53)...(1 << 53)

    /// Milliseconds since 1970, rounded down. A date that a store cannot hold becomes the nearest one that it can.
    package var milliseconds: Int64 {
        let exact = (timeIntervalSince1970 * 1000).rounded(.down)
        let limits = Self.storedTimes
        return exact.isNaN ? 0 : Int64(min(max(exact, Double(limits.lowerBound)), Double(limits.upperBound)))
    }

    /// The inverse of ``milliseconds``. Exact to the millisecond for every number that a store may hold.
    package init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// Fractions of a millisecond are kept until the date is stored.
    package static func + (date: Date, wait: Duration) -> Date { date + wait / .seconds(1) }
    /// The inverse of `+`.
    package static func - (date: Date, wait: Duration) -> Date { date - wait / .seconds(1) }
}
