import Foundation
import SignalboxJSON

/// A calendar event, as the arguments of an action describe it.
///
/// There are two vocabularies: that of MCE's plug-in for iOS (`startDate`, ISO 8601, and one `timeZone`) and that for
/// Android (`starts` with `date`, `time` and `timezone`). The plug-in for iOS also accepts the arguments in an object
/// `value` (Acoustic-Mobile-Push/iOS and Android, calendar plug-ins). In a mixture of both, a `timeZone` next to
/// `starts` counts unless `starts` has its own.
struct CalendarEvent: Equatable {
    /// The event's summary, not empty.
    let title: String
    /// The event's description.
    let notes: String?
    /// The beginning, in the zone that the arguments name.
    let start: CalendarTime
    /// After the start; nil for an event without a length.
    private(set) var end: CalendarTime?
    /// Mistakes that did not prevent reading the event.
    private(set) var problems: [ActionProblem] = []

    /// Reads the arguments of an action of the type calendar. Throws the first mistake that prevents it.
    init(_ action: Action) throws(ActionProblem) {
        let read = action.arguments?.withValue { arguments in
            let nested = arguments["value"].flatMap { $0.isObject ? $0 : nil }
            return Result { () throws(ActionProblem) in
                try CalendarEvent(nested ?? arguments, at: nested == nil ? "/arguments" : "/arguments/value")
            }
        }
        guard let read else { throw Self.invalid(at: "", "A calendar action needs a title and a start.") }
        self = try read.get()
    }

    /// `path`: JSON Pointer of the arguments from the action.
    private init(_ arguments: JSONValue, at path: String) throws(ActionProblem) {
        guard let title = arguments["title"]?.scalarText else {
            throw Self.invalid(at: path, "A calendar event needs a title.")
        }
        self.title = title
        notes = arguments["description"]?.scalarText
        guard let start = try Self.time("startDate", "starts", of: arguments, at: path, &problems) else {
            throw Self.invalid(
                at: path, "A calendar event needs a start: \"startDate\", or \"starts\" with date and time.")
        }
        self.start = start
        end = try Self.time("endDate", "ends", of: arguments, at: path, &problems)
        guard let end else {
            problems.append(
                ActionProblem(.argumentMissing, at: path, "The event has no end; it becomes one without a length."))
            return
        }
        guard start.seconds <= end.seconds else { throw Self.invalid(at: path, "The event ends before it starts.") }
        if start.seconds == end.seconds { self.end = nil }
    }

    /// The start or end of the event; nil if it is missing. `apple`: key of an ISO 8601 date. `android`: key of an
    /// object.
    private static func time(
        _ apple: StaticString, _ android: StaticString, of arguments: JSONValue, at path: String,
        _ problems: inout [ActionProblem]
    ) throws(ActionProblem) -> CalendarTime? {
        let zonePath = path + "/timeZone"
        if let date = arguments[apple], !date.isNull {
            let zone = zone(arguments["timeZone"], at: zonePath, &problems)
            guard let text = date.scalarText, let time = CalendarTime(iso8601: text, in: zone) else {
                throw invalid(at: "\(path)/\(apple)", "Invalid date; expected a form like \"2026-06-01T18:00:00Z\".")
            }
            return time
        }
        guard let parts = arguments[android], !parts.isNull else { return nil }
        let path = "\(path)/\(android)"
        let own = parts["timezone"].flatMap { $0.isNull ? nil : $0 }
        let zone = zone(own ?? arguments["timeZone"], at: own == nil ? zonePath : path + "/timezone", &problems)
        guard let date = parts["date"]?.scalarText, let hour = parts["time"]?.scalarText,
            let time = CalendarTime(date: date, time: hour, in: zone)
        else { throw invalid(at: path, "This needs a \"date\" like \"2026-06-01\" and a \"time\" like \"18:00\".") }
        return time
    }

    /// UTC without a known time zone.
    private static func zone(_ value: JSONValue?, at path: String, _ problems: inout [ActionProblem]) -> TimeZone {
        guard let name = value?.scalarText else { return .gmt }
        if let zone = TimeZone(named: name) { return zone }
        let problem = ActionProblem(
            .timeZoneUnknown, at: path, "Unknown time zone \"\(name)\": the event is read in UTC.")
        if !problems.contains(problem) { problems.append(problem) }
        return .gmt
    }

    /// The mistake that prevents making a file.
    private static func invalid(at path: String, _ message: String) -> ActionProblem {
        ActionProblem(.calendarInvalid, at: path, message)
    }
}

extension TimeZone {
    /// By abbreviation, as MCE's plug-in for iOS finds them, or by name in the IANA database. Abbreviations have
    /// precedence: some of them are also names of unrelated zones, such as `BST` for Bangladesh.
    ///
    /// The file contains the name unchanged, and Foundation ignores a NUL and the text after it.
    fileprivate init?(named name: String) {
        let isName = name.utf8.count <= 64 && name.utf8.allSatisfy { $0.isLetterOrDigit || "_+/:-".utf8.contains($0) }
        guard isName, let zone = TimeZone(abbreviation: name) ?? TimeZone(identifier: name) else { return nil }
        self = zone
    }
}
