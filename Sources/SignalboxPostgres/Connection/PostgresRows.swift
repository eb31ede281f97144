import CPostgres
import Foundation
import SignalboxNotification
import SignalboxStore

/// The rows that a statement returned, in binary format. A class because it owns libpq's memory. Used by one thread.
final class PostgresRows {
    private let result: OpaquePointer
    /// The number of rows.
    let count: Int

    /// Takes ownership of a result.
    init(_ result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
    }

    deinit { PQclear(result) }

    var isEmpty: Bool { count == 0 }

    /// The rows that the statement inserted, changed, removed or returned. 0 for a command without such a number.
    var affected: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// The first row; nil for none.
    var first: PostgresRow? { isEmpty ? nil : PostgresRow(self, 0) }

    /// The bytes of a value, valid inside `body`; nil for NULL. `body` also receives the object identifier of the
    /// column's type in `pg_type`.
    fileprivate func value<T>(_ row: Int, _ column: Int, _ body: (UnsafeRawBufferPointer, UInt32) throws -> T?) rethrows
        -> T?
    {
        let (row, column) = (Int32(row), Int32(column))
        guard PQgetisnull(result, row, column) == 0 else { return nil }
        let bytes = UnsafeRawBufferPointer(
            start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
        return try body(bytes, PQftype(result, column))
    }

    /// The name of a column as the statement gave it; its index if there is no such column.
    fileprivate func name(_ column: Int) -> String {
        PQfname(result, Int32(column)).map { String(cString: $0) } ?? "\(column)"
    }
}

extension PostgresRows: Sequence {
    /// In the order in which the statement returned them.
    func makeIterator() -> some IteratorProtocol<PostgresRow> {
        (0..<count).lazy.map { PostgresRow(self, $0) }.makeIterator()
    }

    var underestimatedCount: Int { count }
}

/// One row. Every accessor throws ``DamagedValue`` for a value of another type. Those that do not return an optional
/// throw it for NULL, too. Columns count from 0. A row keeps the memory of all rows of its statement.
struct PostgresRow: RecordRow {
    private let rows: PostgresRows
    private let index: Int

    fileprivate init(_ rows: PostgresRows, _ index: Int) { (self.rows, self.index) = (rows, index) }

    // MARK: Numbers

    /// A number within ``Foundation/Date/storedTimes``. The gateway writes no other one, and sums of them cannot
    /// overflow.
    func number(_ column: Int) throws(DamagedValue) -> Int64 {
        try required(column, optionalNumber(column), "an integer")
    }

    /// Nil for NULL.
    func optionalNumber(_ column: Int) throws(DamagedValue) -> Int64? {
        guard let number = try optionalInteger(column) else { return nil }
        guard Date.storedTimes.contains(number) else { throw damage(column, "a number that the gateway writes") }
        return number
    }

    /// A `bigint`, `integer` or `smallint`; nil for NULL.
    private func optionalInteger(_ column: Int) throws(DamagedValue) -> Int64? {
        try decode(column, "an integer") { bytes, type in
            switch type {
            case 20 where bytes.count == 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
            case 23 where bytes.count == 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
            case 21 where bytes.count == 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
            default: nil
            }
        }
    }

    func count(_ column: Int) throws(DamagedValue) -> Int { Int(try number(column)) }

    func optionalCount(_ column: Int) throws(DamagedValue) -> Int? { try optionalNumber(column).map { Int($0) } }

    /// The status of an HTTP response. Throws for a number outside of 100 to 599.
    func httpStatus(_ column: Int) throws(DamagedValue) -> Int {
        let status = try count(column)
        guard (100...599).contains(status) else { throw damage(column, "an HTTP status") }
        return status
    }

    /// A `boolean`; numbers are not accepted.
    func flag(_ column: Int) throws(DamagedValue) -> Bool {
        let flag: Bool? = try decode(column, "a boolean") { bytes, type in
            type == 16 && bytes.count == 1 ? bytes[0] != 0 : nil
        }
        return try required(column, flag, "a boolean")
    }

    /// A `bigint` of milliseconds since 1970. Any number is a date, so that a claim takes the deliveries next to a row
    /// with a wrong time.
    func date(_ column: Int) throws(DamagedValue) -> Date { try required(column, optionalDate(column), "an integer") }

    func optionalDate(_ column: Int) throws(DamagedValue) -> Date? {
        try optionalInteger(column).map { Date(milliseconds: $0) }
    }

    // MARK: Texts and bytes

    func text(_ column: Int) throws(DamagedValue) -> String { try required(column, optionalText(column), "a text") }

    /// A `text`, `varchar` or `name`; nil for NULL. Throws for bytes that are not UTF-8, as in a database with another
    /// encoding.
    func optionalText(_ column: Int) throws(DamagedValue) -> String? {
        try decode(column, "a text") { bytes, type in
            switch type {
            case 25, 1043, 19: String(validating: bytes, as: UTF8.self)
            default: nil
            }
        }
    }

    /// The server checked the type `uuid`.
    func eventID(_ column: Int) throws(DamagedValue) -> String { try text(column) }

    func destination(_ column: Int) throws(DamagedValue) -> DestinationName { DestinationName(try text(column)) }

    /// One of the values of an enumeration. Throws for a word that this version does not know.
    func word<Word: RawRepresentable<String>>(_ column: Int, as: Word.Type = Word.self) throws(DamagedValue) -> Word {
        try required(column, Word(rawValue: try text(column)), "a known word")
    }

    func bytes(_ column: Int) throws(DamagedValue) -> [UInt8] { try required(column, optionalBytes(column), "bytes") }

    /// A `bytea`; nil for NULL.
    func optionalBytes(_ column: Int) throws(DamagedValue) -> [UInt8]? {
        try decode(column, "bytes") { bytes, type in type == 17 ? Array(bytes) : nil }
    }

    // MARK: Types

    /// Nil for NULL. `read` returns nil for a type or a length that it does not accept; the value is then damaged.
    /// `expected`: a noun for the message.
    private func decode<T>(
        _ column: Int, _ expected: String, _ read: (UnsafeRawBufferPointer, UInt32) -> T?
    ) throws(DamagedValue) -> T? {
        var isNull = true
        let value = rows.value(index, column) { bytes, type in
            isNull = false
            return read(bytes, type)
        }
        guard value != nil || isNull else { throw damage(column, expected) }
        return value
    }

    private func required<T>(_ column: Int, _ value: T?, _ expected: String) throws(DamagedValue) -> T {
        guard let value else { throw damage(column, expected) }
        return value
    }

    /// Names the column, never its value.
    private func damage(_ column: Int, _ expected: String) -> DamagedValue {
        DamagedValue("column \(rows.name(column)) does not hold \(expected)")
    }
}
