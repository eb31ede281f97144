package import Foundation

/// At most `count` displays in a window. It permits another display while fewer than `count` are committed or reserved.
package struct Limit: Sendable, Hashable {
    /// The displays that count.
    package var owner: Owner
    /// The user, the device or all users.
    package var per: Subject
    /// The most displays; at least 1.
    package var count: Int
    /// The time in which they count.
    package var window: Window
    /// Name in the policy, for explanations.
    package var name: String?

    /// A limit of a message by default, per user. Not validated; ``Definition`` and ``Policy/validate()`` do that.
    package init(_ count: Int, _ window: Window, per: Subject = .user, owner: Owner = .message, name: String? = nil) {
        (self.owner, self.per, self.count) = (owner, per, count)
        (self.window, self.name) = (window, name)
    }

    /// The displays that a limit counts.
    package enum Owner: Sendable, Hashable {
        /// Displays of the limit's own message.
        case message
        /// Displays of one vendor, exempt ones excluded.
        case vendor(Vendor)
        /// Displays of every vendor.
        case scope
        /// Displays of messages that name this limit (Airship, "shared constraints").
        case named(String)
    }

    /// The scope of a limit: it adds up the displays of one user, one device or all users.
    package enum Subject: String, Sendable, Hashable {
        case user, device
        /// Every user together: the cap of a campaign. Only for the owner `message` and the window `lifetime`.
        case everyone
    }

    /// The displays that count now, by their time.
    package enum Window: Sendable, Hashable {
        /// The session of the device that asks.
        case session
        /// A display counts until it is older than the span (Airship: exactly as old still counts).
        case rolling(Span)
        /// From midnight to midnight, however long the day is (Braze: calendar days in the user's zone).
        case day(Zone)
        /// Calendar weeks from Monday (ISO 8601).
        case week(Zone)
        /// Without an end: once the limit is reached, it stays reached.
        case lifetime

        /// The window of a config: `session`, `day`, `week`, `lifetime`, or nil or `rolling` with a span. Throws for
        /// any other word: an unknown kind must not become a known one.
        package init(kind: String?, span: Span? = nil, zone: Zone = .user, at pointer: String) throws(InputFault) {
            switch (kind, span) {
            case ("session", nil): self = .session
            case ("day", nil): self = .day(zone)
            case ("week", nil): self = .week(zone)
            case ("lifetime", nil): self = .lifetime
            case (nil, let span?), ("rolling", let span?): self = .rolling(span)
            default:
                throw InputFault(.unknownLimitKind, pointer, "expected session, day, week, lifetime or a duration")
            }
        }

        /// The longest time for which a display counts; nil if not bounded by time.
        var longest: Span? {
            switch self {
            case .rolling(let span): span
            // Plus the hour that the end of daylight saving time adds.
            case .day: 25 * 3_600_000
            case .week: 169 * 3_600_000
            case .session, .lifetime: nil
            }
        }
    }

    /// The time zone of calendar windows.
    package enum Zone: Sendable, Hashable {
        /// The zone that the device reports; UTC for none.
        case user
        case fixed(TimeZone)
    }

    /// Throws for an invalid count or window, with a pointer below `pointer`.
    func validate(at pointer: String) throws(InputFault) {
        guard count >= 1 else { throw InputFault(.outOfRange, pointer + "/count", "at least 1") }
        if window != .lifetime && count > Bounds.limitCount {
            throw InputFault(.outOfRange, pointer + "/count", "at most \(Bounds.limitCount) in a window")
        }
        if case .rolling(let span) = window, span < 1 {
            throw InputFault(.outOfRange, pointer + "/window", "at least 1 ms")
        }
        if per == .everyone && (owner != .message || window != .lifetime) {
            throw InputFault(
                .contradictory, pointer + "/per", "everyone requires the owner message and the window lifetime")
        }
    }

    /// The code of a check of this limit. Named limits are limits of the scope.
    var code: Check.Code {
        switch owner {
        case .message: .limitMessage
        case .vendor: .limitVendor
        case .scope, .named: .limitScope
        }
    }
}
