import Foundation
import SignalboxNotification

// Records for operators and apps as every store keeps them.

extension OperatorAction {
    /// The stored form of ``parameters``: a JSON object of texts, with its keys in order.
    package func storedParameters() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(parameters), as: UTF8.self)
    }
}

extension ActionRecord {
    /// The columns of a row of `actions`, in the order in which ``init(_:)`` reads them.
    package static let columns =
        "id, at, count, actor, role, remote, via, operation, target, parameters, reason, result"

    /// Reads ``columns``.
    package init(_ row: some RecordRow) throws {
        guard let parameters = try? JSONDecoder().decode([String: String].self, from: Data(row.text(9).utf8)) else {
            throw DamagedValue("column parameters does not hold an object of texts")
        }
        let action = OperatorAction(
            by: try row.text(3), role: try row.optionalText(4), remote: try row.optionalText(5),
            via: try row.word(6, as: OperatorAction.Origin.self), try row.text(7), target: try row.optionalText(8),
            parameters: parameters, reason: try row.optionalText(10), result: try row.text(11))
        self.init(id: try row.number(0), at: try row.date(1), action: action, count: try row.optionalCount(2))
    }
}

extension BroadcastChannel {
    /// The columns of a row of `channels`, in the order in which ``init(_:of:)`` reads them.
    package static let columns = "id, stores_last, source"

    /// Reads ``columns``.
    package init(_ row: some RecordRow, of app: String) throws {
        self.init(
            id: try row.text(0), app: app, storesLast: try row.flag(1),
            source: try row.optionalText(2).map { SourceName($0) })
    }
}

extension DestinationStatus {
    /// Reads state, reason, beginning and end of a pause or a 410 from `first` on.
    package init(_ row: some RecordRow, from first: Int) throws {
        self.init(
            try row.word(first, as: DestinationState.self), reason: try row.optionalText(first + 1),
            since: try row.date(first + 2), until: try row.optionalDate(first + 3))
    }

    /// Reads reason and beginning of a missing permission from `first` on.
    package init(withheld row: some RecordRow, from first: Int) throws {
        self.init(withheld: try row.text(first), since: try row.date(first + 1))
    }
}

extension DestinationBackoff {
    /// Reads kind, reason, beginning and end from `first` on.
    package init(_ row: some RecordRow, from first: Int) throws {
        self.init(
            try row.word(first, as: Kind.self), reason: try row.text(first + 1), since: try row.date(first + 2),
            until: try row.date(first + 3))
    }
}
