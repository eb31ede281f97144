import NIOCore

/// The time by which the next bytes of a request body must arrive: a minimum rate with a grace period.
///
/// The grace period does not accumulate. A client that sends most of a large body at once and then stalls has as much
/// time as one that stalls at the start.
struct BodyDeadline {
    /// The minimum rate of a body. docs/reference/errors.md names it for 408 `body-too-slow`.
    static let bytesPerSecond = 32 * 1024

    /// The longest time without a byte, regardless of how much arrived before.
    private let grace: TimeAmount
    /// The connection must receive more of the body before it.
    private(set) var time: NIODeadline

    /// The first byte has the whole grace period.
    init(grace: TimeAmount, now: NIODeadline) {
        self.grace = grace
        time = now + grace
    }

    /// Extends the deadline by the time that these bytes take at the minimum rate, at most to a grace period from now.
    mutating func receive(_ bytes: Int, at now: NIODeadline) {
        time = min(now + grace, time + .nanoseconds(Int64(bytes) * 1_000_000_000 / Int64(Self.bytesPerSecond)))
    }
}
