import Foundation
import GRDB
import SignalboxTesting
import Testing

@testable import SignalboxSQLite
@testable import SignalboxStore

@Suite struct StoredRowTests {
    private enum Word: String { case yes }

    /// All reads of the first column of a row.
    private static let reads: [(name: String, read: @Sendable (StoredRow) throws -> Void)] = [
        ("number", { _ = try $0.number(0) }), ("count", { _ = try $0.count(0) }), ("flag", { _ = try $0.flag(0) }),
        ("date", { _ = try $0.date(0) }), ("text", { _ = try $0.text(0) }), ("bytes", { _ = try $0.bytes(0) }),
        ("word", { _ = try $0.word(0, as: Word.self) }), ("eventID", { _ = try $0.eventID(0) }),
        ("httpStatus", { _ = try $0.httpStatus(0) }), ("optionalNumber", { _ = try $0.optionalNumber(0) }),
        ("optionalCount", { _ = try $0.optionalCount(0) }), ("optionalDate", { _ = try $0.optionalDate(0) }),
        ("optionalText", { _ = try $0.optionalText(0) }), ("optionalBytes", { _ = try $0.optionalBytes(0) }),
    ]

    /// The reads that accept a value; every other one throws.
    @Test(arguments: [
        ("NULL", ["optionalNumber", "optionalCount", "optionalDate", "optionalText", "optionalBytes"]),
        ("7", ["number", "count", "flag", "date", "optionalNumber", "optionalCount", "optionalDate"]),
        ("200", ["number", "count", "flag", "date", "httpStatus", "optionalNumber", "optionalCount", "optionalDate"]),
        ("-1", ["number", "flag", "date", "optionalNumber", "optionalDate"]),
        ("9223372036854775807", []), ("-9223372036854775807 - 1", []), ("1.5", []), ("1e300", []),
        ("'yes'", ["text", "bytes", "word", "eventID", "optionalText", "optionalBytes"]),
        ("'a' || char(13, 10) || 'b: c'", ["text", "bytes", "optionalText", "optionalBytes"]),
        ("''", ["text", "bytes", "optionalText", "optionalBytes"]),
        ("x'ff00'", ["bytes", "optionalBytes"]),
        ("cast(x'ff' AS TEXT)", ["text", "bytes", "optionalText", "optionalBytes"]),
    ])
    func readsValuesOfItsTypeOnly(_ value: String, _ taken: [String]) throws {
        let row = try #require(
            try DatabaseQueue().read { try StoredRow.fetchOne($0, sql: "SELECT \(value) AS a") })
        for (name, read) in Self.reads {
            if taken.contains(name) {
                #expect(throws: Never.self, "\(name) of \(value)") { try read(row) }
            } else {
                #expect(throws: DamagedValue.self, "\(name) of \(value)") { try read(row) }
            }
        }
    }

    @Test func storesDatesThatAreTooLarge() {
        let dates = [
            Date.distantPast, .distantFuture, Date(timeIntervalSince1970: .infinity), Date(milliseconds: .max),
        ]
        for date in dates { #expect(Date.storedTimes.contains(date.milliseconds)) }
    }
}
