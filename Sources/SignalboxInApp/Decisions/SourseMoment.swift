/// The moment of display of a Sourse smart notification. The vendor's algorithm is closed; this one is ours: the
/// hour in which the device begins most sessions if enough are known, otherwise the next session start.
package struct SourseMoment: Sendable, Hashable {
    /// How the moment was picked; a record's detail.
    package enum Manner: String, Sendable, Hashable {
        /// Not smart, or the device has the delay switched off.
        case immediate
        case activeHour = "active-hour"
        case sessionStart = "session-start"
    }

    package let manner: Manner
    /// Nil: at the next session start.
    package let at: Instant?

    /// Sessions that must be known before an hour counts as the most active one.
    static let enoughSessions = 10

    /// `activity` counts sessions by local hour. The moment is never after the end of the schedule; before its start,
    /// the schedule's own check fails.
    package init(for message: Message, client: ClientState, activity: [Int], isSessionStart: Bool, now: Instant) {
        guard message.isSmart, client.smartDelay else {
            self.init(manner: .immediate, at: now)
            return
        }
        let earliest = max(now, message.schedule.start ?? now)
        let zone = LocalDay(client.zone)
        if let hour = Self.mostActiveHour(activity) {
            if let start = Self.start(of: hour, in: zone, from: earliest),
                message.schedule.end.map({ start <= $0 }) ?? true
            {
                self.init(manner: .activeHour, at: start)
                return
            }
        }
        self.init(manner: .sessionStart, at: isSessionStart ? now : nil)
    }

    private init(manner: Manner, at: Instant?) { (self.manner, self.at) = (manner, at) }

    /// Whether the moment has come; equal counts.
    func isNow(_ now: Instant) -> Bool { at.map { $0 <= now } ?? false }

    /// The first time at or after `earliest` that is in the local hour, searched in steps of a quarter of an hour; nil
    /// if the next day has no such hour. A day without a change of the zone's offset needs two look-ups.
    static func start(of hour: Int, in zone: LocalDay, from earliest: Instant) -> Instant? {
        let first = startOfQuarter(earliest, plus: 0)
        let offset = zone.offset(at: first)
        guard offset % 900_000 == 0, zone.offset(at: startOfQuarter(earliest, plus: 97)) == offset else {
            let quarters = (0...97).lazy.map { startOfQuarter(earliest, plus: $0) }
            return quarters.first { zone.hour(of: $0) == hour }.map { max($0, earliest) }
        }
        if zone.hour(of: first) == hour { return earliest }
        let day: Span = 86_400_000
        let ofDay = ((first + offset) % day + day) % day
        return first + (Span(hour) * 3_600_000 - ofDay + day) % day
    }

    /// The start of a quarter of an hour, counted in UTC: offsets of time zones are multiples of it.
    private static func startOfQuarter(_ instant: Instant, plus quarters: Int64) -> Instant {
        instant - instant % 900_000 + quarters * 900_000
    }

    /// The local hour with the most sessions, the earliest among equals; nil below ``enoughSessions``.
    private static func mostActiveHour(_ activity: [Int]) -> Int? {
        guard activity.count == 24, activity.reduce(0, +) >= enoughSessions, let most = activity.max() else {
            return nil
        }
        return activity.firstIndex(of: most)
    }
}
