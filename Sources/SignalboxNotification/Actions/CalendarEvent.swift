import Foundation
import SignalboxJSON

/// An event for a calendar, as an action's arguments describe it.
///
/// Two vocabularies are read, those of MCE's plug-ins for iOS (`startDate`, ISO 8601, and one `timeZone`) and for Android
/// (`starts` of `date`, `time` and `timezone`). The plug-in for iOS takes its arguments from an object under `value` too.
struct CalendarEvent: Equatable {
    var title: String
    var notes: String?
    var start: CalendarTime
    /// Later than the start; nil for an event without a length.
    var end: CalendarTime?
    /// What is wrong and did not keep it from being read.
    var problems: [ActionProblem] = []

    init(_ action: Action) throws(ActionProblem) {
        let read = action.arguments?.withValue { arguments in
            let nested = arguments["value"]
            let place = nested?.isObject == true ? "/arguments/value" : "/arguments"
            return Result { () throws(ActionProblem) in
                try CalendarEvent(nested?.isObject == true ? nested ?? arguments : arguments, at: place)
            }
        }
        guard let read else { throw Self.invalid(at: "", "A calendar action needs a title and a start.") }
        self = try read.get()
    }

    private init(_ arguments: JSONValue, at place: String) throws(ActionProblem) {
        guard let title = arguments["title"]?.spelled else {
            throw Self.invalid(at: place, "An event for a calendar needs a title.")
        }
        self.title = title
        notes = arguments["description"]?.spelled
        guard let start = try Self.time("startDate", "starts", of: arguments, at: place, &problems) else {
            throw Self.invalid(
                at: place, "An event for a calendar needs a start: \"startDate\", or \"starts\" with date and time.")
        }
        self.start = start
        end = try Self.time("endDate", "ends", of: arguments, at: place, &problems)
        guard let end else {
            problems.append(
                ActionProblem(.argumentMissing, at: place, "The event has no end; it becomes one without a length."))
            return
        }
        guard start.seconds <= end.seconds else { throw Self.invalid(at: place, "The event ends before it starts.") }
        if start.seconds == end.seconds { self.end = nil }
    }

    /// One end of the event, nil when it is not there. `apple` is ISO 8601, `android` an object.
    private static func time(
        _ apple: StaticString, _ android: StaticString, of arguments: JSONValue, at place: String,
        _ problems: inout [ActionProblem]
    ) throws(ActionProblem) -> CalendarTime? {
        if let date = arguments[apple], !date.isNull {
            let zone = zone(arguments["timeZone"], at: place + "/timeZone", &problems)
            guard let text = date.spelled, let time = CalendarTime(iso8601: text, in: zone) else {
                throw invalid(at: "\(place)/\(apple)", "A date is written like \"2026-06-01T18:00:00Z\".")
            }
            return time
        }
        guard let parts = arguments[android], !parts.isNull else { return nil }
        let here = "\(place)/\(android)"
        guard let date = parts["date"]?.spelled, let hour = parts["time"]?.spelled,
            let time = CalendarTime(
                date: date, time: hour, in: zone(parts["timezone"], at: here + "/timezone", &problems))
        else { throw invalid(at: here, "This needs a \"date\" like \"2026-06-01\" and a \"time\" like \"18:00\".") }
        return time
    }

    /// UTC when there is none that is known.
    private static func zone(
        _ value: JSONValue?, at place: String, _ problems: inout [ActionProblem]
    ) -> TimeZone {
        guard let name = value?.spelled else { return .gmt }
        if let zone = TimeZone(named: name) { return zone }
        let problem = ActionProblem(
            .timeZoneUnknown, at: place, "There is no time zone \"\(name)\": the event is read in UTC.")
        if !problems.contains(problem) { problems.append(problem) }
        return .gmt
    }

    private static func invalid(at place: String, _ message: String) -> ActionProblem {
        ActionProblem(.calendarInvalid, at: place, message)
    }
}

extension TimeZone {
    /// By abbreviation, as MCE's plug-in for iOS looks them up, or by its name in the IANA database. Abbreviations first:
    /// as names some of them are zones that nobody means, `BST` that of Bangladesh.
    ///
    /// Names are written into files as they are, and Foundation takes a name, a NUL and anything behind it for that name.
    fileprivate init?(named name: String) {
        let isName = name.utf8.count <= 64 && name.utf8.allSatisfy { isLetterOrDigit($0) || "_+/:-".utf8.contains($0) }
        guard isName else { return nil }
        if let zone = TimeZone(abbreviation: name) ?? TimeZone(identifier: name) { self = zone } else { return nil }
    }
}
