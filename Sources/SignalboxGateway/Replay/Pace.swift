import SignalboxConfig
package import SignalboxNotification

/// Decides when events may be sent: at a rate, at the recorded pace, or both. Pure: the caller passes the time,
/// measured from any start. With both limits, the later time of the two applies.
package struct Pace: Sendable {
    /// Events per second; nil for any rate.
    private let perSecond: Double?
    /// Multiple of the recorded pace; nil for any.
    private let speed: Double?
    /// When the rate permits the next event; nil before the first.
    private var free: Duration?
    /// The recorded and the real time of the first event with a time.
    private var first: (recorded: Timestamp, at: Duration)?

    /// Events this close in time are sent together.
    private static let together: Duration = .milliseconds(100)
    /// Maximum number of events that are sent together.
    private static let most = 10_000

    /// `perSecond`: events per second. `speed`: multiple of the recorded pace. Both are above zero; nil for no limit.
    package init(perSecond: Double? = nil, speed: Double? = nil) { (self.perSecond, self.speed) = (perSecond, speed) }

    /// False if events never wait. The caller then need not group or delay events.
    package var isBounded: Bool { perSecond != nil || speed != nil }

    /// Maximum number of events that are sent together, at this rate. At least one, so that a low rate still sends
    /// events.
    package var mostTogether: Int {
        guard let perSecond else { return Self.most }
        return min(Self.most, max(1, Int(perSecond * (Self.together / .seconds(1)))))
    }

    /// Maximum difference between the recorded times of events that are sent together, in milliseconds. Without a
    /// speed, recorded times do not limit a group.
    package var spanTogether: Int64 {
        guard let speed else { return .max }
        let span = speed * Double(Self.together.milliseconds)
        return span < 1e15 ? Int64(span) : .max
    }

    /// How long `count` events must wait. Counts them as sent after that. `recorded`: time of the first of these
    /// events; nil if it is unknown. Times are booked in the order of the calls. Never negative. The caller sleeps
    /// for it before it sends these events.
    package mutating func delay(of count: Int, recorded: Timestamp?, at now: Duration) -> Duration {
        max(.zero, max(bookRate(count, at: now), due(recorded, at: now)) - now)
    }

    /// The time at which the rate permits these events; books the time that they take.
    private mutating func bookRate(_ count: Int, at now: Duration) -> Duration {
        guard let perSecond else { return now }
        let begin = max(free ?? now, now)
        free = begin + .seconds(Double(count) / perSecond)
        return begin
    }

    /// The first event, and any event with an earlier time, is due at once. A gap in the recording is waited out,
    /// divided by the speed.
    private mutating func due(_ recorded: Timestamp?, at now: Duration) -> Duration {
        guard let speed, let recorded else { return now }
        guard let first else {
            self.first = (recorded, now)
            return now
        }
        return first.at + .milliseconds(Double(recorded.milliseconds - first.recorded.milliseconds) / speed)
    }
}
