import SignalboxConfig
package import SignalboxNotification

/// Says when events may go: so many a second, or as they were recorded, or both. Pure: the time comes in, counted from any
/// start.
package struct Pace: Sendable {
    private let perSecond: Double?
    private let speed: Double?
    private var free: Duration?
    private var first: (recorded: Timestamp, at: Duration)?

    /// How far apart events may be that go together.
    private static let together: Duration = .milliseconds(100)
    /// What goes together where nothing else bounds it.
    private static let most = 10_000

    /// `perSecond`: events. `speed`: how many times as fast as they were recorded.
    package init(perSecond: Double? = nil, speed: Double? = nil) {
        self.perSecond = perSecond
        self.speed = speed
    }

    package var isBounded: Bool { perSecond != nil || speed != nil }

    /// How many events go together at most.
    package var mostTogether: Int {
        guard let perSecond else { return Self.most }
        return min(Self.most, max(1, Int(perSecond * (Self.together / .seconds(1)))))
    }

    /// How far apart the recorded times of events may be that go together, in milliseconds.
    package var spanTogether: Int64 {
        guard let speed else { return .max }
        let span = speed * Double(Self.together.milliseconds)
        return span < 1e15 ? Int64(span) : .max
    }

    /// How long so many events have to wait. They count as gone then.
    package mutating func delay(of count: Int, recorded: Timestamp?, at now: Duration) -> Duration {
        max(.zero, max(bookRate(count, at: now), due(recorded, at: now)) - now)
    }

    private mutating func bookRate(_ count: Int, at now: Duration) -> Duration {
        guard let perSecond else { return now }
        let begin = max(free ?? now, now)
        free = begin + .seconds(Double(count) / perSecond)
        return begin
    }

    /// The first one goes at once; a time before it too.
    private mutating func due(_ recorded: Timestamp?, at now: Duration) -> Duration {
        guard let speed, let recorded else { return now }
        guard let first else {
            self.first = (recorded, now)
            return now
        }
        return first.at + .milliseconds(Double(recorded.milliseconds - first.recorded.milliseconds) / speed)
    }
}
