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
    package init(
        for message: Message, client: ClientState, activity: [Int], isSessionStart: Bool, now: Instant
    ) {
        guard message.isSmart, client.smartDelay else {
            self.init(manner: .immediate, at: now)
            return
        }
        let earliest = max(now, message.schedule.start ?? now)
        let zone = LocalDay(client.zone)
        if let hour = Self.mostActiveHour(activity) {
            let quarters = (0...97).lazy.map { Self.startOfQuarter(earliest, plus: $0) }
            let start = quarters.first { zone.hour(of: $0) == hour }.map { max($0, earliest) }
            if let start, message.schedule.end.map({ start <= $0 }) ?? true {
                self.init(manner: .activeHour, at: start)
                return
            }
        }
        self.init(manner: .sessionStart, at: isSessionStart ? now : nil)
    }

    private init(manner: Manner, at: Instant?) {
        self.manner = manner
        self.at = at
    }

    /// Whether the moment has come; equal counts.
    func isNow(_ now: Instant) -> Bool { at.map { $0 <= now } ?? false }

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

/// Recognises companion messages: the same news, smart to devices with Sourse's SDK and plain to the others.
package enum SoursePair {
    /// How far apart two companions may be registered.
    package static let window: Span = 10 * 60_000
    /// Topics that mark devices with the SDK; the second name is the older one.
    package static let markers = ["sourse_sdk_integrated", "isdk_sdk_integrated"]

    /// The role of a topic condition, with the marker: `… && 'sourse_sdk_integrated' in topics` is smart,
    /// `… && !('sourse_sdk_integrated' in topics)` plain; nil for a condition without a marker.
    package static func role(of condition: String) -> (role: Message.Pair.Role, marker: String)? {
        for clause in clauses(condition) {
            for marker in markers {
                if clause == "'\(marker)'intopics" { return (.smart, marker) }
                if clause == "!('\(marker)'intopics)" { return (.plain, marker) }
            }
        }
        return nil
    }

    /// Equal for companions: the condition without the marker's clause, and the texts.
    package static func key(condition: String, title: String, body: String, marker: String) -> String {
        let rest = clauses(condition).filter { $0 != "'\(marker)'intopics" && $0 != "!('\(marker)'intopics)" }
        var digest = Digest()
        for text in rest.sorted() + [title, body] { digest.add(text) }
        return String(digest.value, radix: 16)
    }

    private static func clauses(_ condition: String) -> [String] {
        condition.filter { !$0.isWhitespace }.replacing("\"", with: "'").split(separator: "&&").map(String.init)
    }
}
