package import Foundation

/// A delivery expires at a time, or after its first attempt.
extension Date {
    /// The expiry of a delivery that has one attempt, whenever that is. Stored as 0.
    package static let afterFirstAttempt = Date(timeIntervalSince1970: 0)

    /// Whether a delivery with this expiry has expired. `attempts`: those that have ended since the last manual
    /// retry. An attempt that a crash interrupted may not have reached the receiver, so it does not count.
    package func hasPassed(at now: Date, attempts: Int) -> Bool {
        self <= now && (self != .afterFirstAttempt || attempts > 0)
    }
}
