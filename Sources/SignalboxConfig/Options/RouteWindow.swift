package import Foundation
import SignalboxJSON
package import SignalboxNotification

/// When a route matches events: between two times, on days of the week, at hours of the day. An omitted part has no
/// effect.
package struct RouteWindow: Sendable, Equatable {
    /// The first instant of it; nil for no beginning.
    package var from: Timestamp?
    /// Not part of it.
    package var until: Timestamp?
    /// The days on which hours begin; nil for all.
    package var days: Set<Weekday>?
    /// Empty for the whole day.
    package var hours: [Hours] = []
    /// The time zone of days and hours.
    package var zone: TimeZone = .gmt

    /// A window without limits, which contains every time.
    package init() {}

    /// In the order of ISO 8601, Monday first; raw values are the words of the config.
    package enum Weekday: String, Sendable, CaseIterable {
        case mon, tue, wed, thu, fri, sat, sun
    }

    /// Part of a day in local time, in minutes from midnight. One that ends before it begins continues past midnight.
    package struct Hours: Sendable, Equatable {
        /// From 0 to 1439.
        package let start: Int
        /// Not part of it.
        package let end: Int

        /// Does not check the bounds; ``init(_:)`` does.
        package init(start: Int, end: Int) { (self.start, self.end) = (start, end) }

        /// Reads `08:00-17:30`; nil for anything else and for an empty part. The end of the day is 24:00 or 00:00.
        package init?(_ text: String) {
            let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { Self.minutes($0) }
            guard parts.count == 2, let start = parts[0], let end = parts[1], start != end, start < 1440 else {
                return nil
            }
            self.init(start: start, end: end)
        }

        /// Two digits, a colon, two digits: 00:00 to 24:00.
        private static func minutes(_ text: Substring) -> Int? {
            let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
            guard parts.count == 2, parts.allSatisfy({ $0.count == 2 && $0.allSatisfy { digits.contains($0) } }),
                let hours = Int(Substring(parts[0])), let minutes = Int(Substring(parts[1])), minutes < 60
            else { return nil }
            return hours < 24 || (hours == 24 && minutes == 0) ? hours * 60 + minutes : nil
        }
    }

    /// Whether an event accepted at this time is in the window. Hours that continue past midnight belong to the day on
    /// which they begin. Local time follows the zone's offset at that instant, so daylight saving time counts.
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

    /// `day`: days since 1 January 1970, a Thursday.
    private func allows(_ day: Int) -> Bool {
        guard let days else { return true }
        return days.contains(Weekday.allCases[(day + 3) - (day + 3).quotient(by: 7) * 7])
    }
}

extension BinaryInteger {
    /// Rounded down, even before 1970.
    fileprivate func quotient(by divisor: Self) -> Self {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

// MARK: Options

extension RouteWindow {
    /// Rejects an empty window, one that ends before it begins, and a time zone without days or hours.
    static let options = Section(RouteWindow(), rules: ["minProperties": 1]) {
        Option("from", \.from, .instant, "The beginning.")
        Option("until", \.until, .instant, "The end, which is not part of the window.")
        Option("days", \.days, weekdays, "Days of the week. Default: all.")
        Option(
            "hours", \.hours,
            part.oneOrMore(
                of: "parts of the day", upTo: 10, orElse: "this must be one part of the day, or an array of 1 to 10"),
            "Parts of the day. One that ends before it begins continues past midnight. Default: the whole day.")
        Option("timeZone", \.zone, timeZone, "The time zone of days and hours: an IANA name.")
    } check: { window, value, reader in
        if value.isEmptyContainer {
            reader.note(
                value, "this window has no time; write \"from\", \"until\", \"days\" or \"hours\", or leave it out")
        }
        if let from = window.from, let until = window.until, until <= from, let member = value["until"] {
            reader.note(member, "this is not after \"from\", so no event is ever in the window")
        }
        if let member = value["timeZone"], reader.lacks("days", in: value), reader.lacks("hours", in: value) {
            reader.note(member, "a time zone has an effect on \"days\" and \"hours\" only; remove it")
        }
    }

    /// Lower-case words of three letters, each at most once.
    private static let weekdays = OptionType<Weekday>.string("day") { text in
        "there is no day \"\(text)\"; write one of \(Weekday.allCases.map(\.rawValue).joined(separator: ", "))"
    } _: {
        Weekday(rawValue: $0)
    }.schema(["enum": .strings(Weekday.allCases.map(\.rawValue))])
        .set(of: "days of the week", 1...7, orElse: "this names no day; leave it out for every day") {
            "\"\($0.rawValue)\" is listed twice; remove one"
        }.map { Set($0) }

    /// In local time. The pattern of the schema accepts a few texts that the reader rejects, such as 29:00.
    private static let part = OptionType<Hours>.value(
        TypeInfo("part of the day", ["type": "string", "pattern": "^[0-2][0-9]:[0-5][0-9]-[0-2][0-9]:[0-5][0-9]$"]),
        expected: "this must be a part of the day such as \"08:00-17:30\", or \"22:00-06:00\" past midnight"
    ) { value in
        value.string.flatMap { Hours($0) }
    }

    /// Names without a slash, such as EST, are rejected, because they are ambiguous.
    private static let timeZone = OptionType<TimeZone>.string(
        "time zone", write: { .string($0 == .gmt ? "UTC" : $0.identifier) }
    ) {
        "there is no time zone \"\($0)\"; write an IANA name such as \"Europe/Berlin\", or \"UTC\""
    } _: {
        zone(named: $0)
    }

    /// By its IANA name or `UTC`; nil for any other text.
    static func zone(named name: String) -> TimeZone? {
        name == "UTC" || name.contains("/") ? TimeZone(identifier: name) : nil
    }
}
