import Foundation
import GRDB
import SignalboxStore

/// A row of the file, whose values may be damaged. Every read checks type and bounds, and throws ``DamagedValue``
/// instead of trapping as GRDB's subscripts do.
///
/// The row is a copy, which stays valid after the next step of its statement. Columns are counted from 0. Reads
/// without `optional` in their name throw for NULL.
struct StoredRow: FetchableRecord, RecordRow {
    private let row: Row

    /// Called by GRDB for each row of a result.
    init(row: Row) { self.row = row.copy() }

    /// Numbers outside this range are damage: the gateway writes none, and sums of smaller ones cannot overflow.
    static let numbers = Date.storedTimes

    // MARK: Numbers

    /// A number within ``numbers``.
    func number(_ column: Int) throws -> Int64 { try required(column, optionalNumber(column), "a number") }

    /// Nil for NULL. Rejects REAL values, including whole numbers.
    func optionalNumber(_ column: Int) throws -> Int64? {
        switch try storage(column) {
        case .null: return nil
        case .int64(let number) where Self.numbers.contains(number): return number
        default: throw damage(column, "a number")
        }
    }

    /// A non-negative number.
    func count(_ column: Int) throws -> Int { try required(column, optionalCount(column), "a count") }

    /// Nil for NULL.
    func optionalCount(_ column: Int) throws -> Int? {
        guard let number = try optionalNumber(column) else { return nil }
        guard number >= 0 else { throw damage(column, "a count") }
        return Int(number)
    }

    /// The status of an HTTP response. From 100 to 599. Throws for NULL.
    func httpStatus(_ column: Int) throws -> Int {
        let status = try count(column)
        guard (100...599).contains(status) else { throw damage(column, "an HTTP status") }
        return status
    }

    /// True for any number other than 0.
    func flag(_ column: Int) throws -> Bool { try number(column) != 0 }

    /// A time in milliseconds since 1970. Throws for NULL.
    func date(_ column: Int) throws -> Date { Date(milliseconds: try number(column)) }

    /// Nil for NULL.
    func optionalDate(_ column: Int) throws -> Date? { try optionalNumber(column).map { Date(milliseconds: $0) } }

    // MARK: Texts and bytes

    /// A string; the length is not limited here. Throws for NULL and for BLOB values.
    func text(_ column: Int) throws -> String { try required(column, optionalText(column), "a text") }

    /// Nil for NULL. Rejects BLOB values.
    func optionalText(_ column: Int) throws -> String? {
        switch try storage(column) {
        case .null: return nil
        case .string(let text): return text
        default: throw damage(column, "a text")
        }
    }

    /// One of the values of an enumeration. Throws for a word that this version does not know, for example after a
    /// downgrade.
    func word<Word: RawRepresentable<String>>(_ column: Int, as: Word.Type = Word.self) throws -> Word {
        guard let word = Word(rawValue: try text(column)) else { throw damage(column, "a known word") }
        return word
    }

    /// A BLOB, or the UTF-8 bytes of a TEXT value.
    func bytes(_ column: Int) throws -> [UInt8] { try required(column, optionalBytes(column), "bytes") }

    /// Nil for NULL; empty for an empty value.
    func optionalBytes(_ column: Int) throws -> [UInt8]? {
        switch try storage(column) {
        case .null: return nil
        case .blob(let data): return Array(data)
        case .string(let text): return Array(text.utf8)
        default: throw damage(column, "bytes")
        }
    }

    /// The text form of an event's id. It becomes a request header, so only the characters of an id are accepted.
    func eventID(_ column: Int) throws -> String {
        let text = try text(column)
        let isID =
            text.utf8.count <= 64
            && text.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            }
        guard isID, !text.isEmpty else { throw damage(column, "an event id") }
        return text
    }

    /// The value as SQLite stores it, without conversions.
    private func storage(_ column: Int) throws -> DatabaseValue.Storage {
        try row.decode(DatabaseValue.self, atIndex: column).storage
    }

    /// `expected`: the type in words, with its article.
    private func required<Value>(_ column: Int, _ value: Value?, _ expected: String) throws -> Value {
        guard let value else { throw damage(column, expected) }
        return value
    }

    /// Names the column and the expected type, never the value.
    private func damage(_ column: Int, _ expected: String) -> DamagedValue {
        DamagedValue("column \(Array(row.columnNames)[column]) does not hold \(expected)")
    }
}

/// Walks through a table in steps must advance, or damage could make them endless.
extension Int64 {
    /// The position where a walk through a table continues. Throws when it does not advance, as in a table whose pages
    /// are out of order: the walk would never end.
    func advanced(beyond place: Int64, in table: String) throws(DamagedValue) -> Int64 {
        guard self > place else { throw DamagedValue("the rows of \(table) are out of order") }
        return self
    }
}
