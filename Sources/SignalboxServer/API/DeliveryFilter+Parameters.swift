import Foundation
import SignalboxEgress
import SignalboxNotification
package import SignalboxStore

/// The conditions on deliveries, as clients write them: in a query, or as members of a `filter` in JSON.
extension DeliveryFilter {
    /// All conditions. Every endpoint that selects deliveries accepts them.
    static let parameters: [QueryParameter] = [.state, .destination, .event, .vendor, .status, .error, .since, .until]

    /// The codes of last attempts without an answer. `interrupted` is the code of an attempt that ended with its
    /// process. `deliveries --error` accepts the same words.
    package static let errors = TransportError.codes + ["interrupted"]

    /// Throws ``Problem/badQuery(_:)`` for an invalid value. `text`: the value of a condition; nil for none. Does not
    /// check whether the destination, the event or the vendor exists.
    init(reading text: (QueryParameter) -> String?) throws(Problem) {
        self.init()
        state = try text(.state).map { text throws(Problem) in try Self.state(text) }
        destination = text(.destination).map { DestinationName($0) }
        (event, vendor) = (text(.event), text(.vendor))
        error = try text(.error).map { text throws(Problem) in try Self.error(text) }
        status = try text(.status).map { text throws(Problem) in try Self.status(text) }
        acceptedSince = try Self.time(text, .since)
        acceptedBefore = try Self.time(text, .until)
    }

    /// Throws 400 with the list of all states.
    private static func state(_ text: String) throws(Problem) -> DeliveryRecord.State {
        if let state = DeliveryRecord.State(rawValue: text) { return state }
        let known = DeliveryRecord.State.allCases.map(\.rawValue).joined(separator: ", ")
        throw .badQuery("Unknown state \(text.prefix(100)): write one of \(known).")
    }

    /// Throws 400 with the list of all codes: any other word would select no delivery.
    private static func error(_ text: String) throws(Problem) -> String {
        if errors.contains(text) { return text }
        throw .badQuery("Unknown error \(text.prefix(100)): write one of \(errors.joined(separator: ", ")).")
    }

    /// Throws 400 for any text that ``statuses(_:)`` does not read.
    private static func status(_ text: String) throws(Problem) -> ClosedRange<Int> {
        if let statuses = statuses(text) { return statuses }
        throw .badQuery("status is \(text.prefix(100)): write an HTTP status from 100 to 599, or a class such as 5xx.")
    }

    /// The statuses of `503`, or of a class such as `5xx`; nil for other text. `5XX` in capital letters is a class too.
    package static func statuses(_ text: String) -> ClosedRange<Int>? {
        let digits = text.lowercased().hasSuffix("xx") ? text.dropLast(2) : text[...]
        guard text.utf8.count == 3, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits)
        else { return nil }
        if digits.utf8.count == 3, (100...599).contains(number) { return number...number }
        return digits.utf8.count == 1 && (1...5).contains(number) ? number * 100...number * 100 + 99 : nil
    }

    /// RFC 3339 only; ages such as `24h` are a feature of the command line.
    private static func time(
        _ text: (QueryParameter) -> String?, _ parameter: QueryParameter
    ) throws(Problem) -> Date? {
        try text(parameter).map { text throws(Problem) in try Call.time(text, named: parameter.name) }
    }
}
