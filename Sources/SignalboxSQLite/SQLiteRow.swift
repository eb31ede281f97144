import Foundation
import SignalboxStore

/// A row of the file, whose values may be damaged. Every read checks type and bounds, and throws ``DamagedValue``
/// instead of trapping as GRDB's subscripts do. Columns are counted from 0. Reads without `optional` in their name
/// throw for NULL.
protocol SQLiteRow: RecordRow {
    /// The name of a column, for errors.
    func name(_ column: Int) -> String
}

extension SQLiteRow {
    // MARK: Numbers

    /// Throws for a number that the gateway never writes. Sums of the other ones cannot overflow.
    func checked(_ column: Int, _ number: Int64) throws -> Int64 {
        guard Date.storedTimes.contains(number) else { throw damage(column, "a number") }
        return number
    }

    func number(_ column: Int) throws -> Int64 { try required(column, optionalNumber(column), "a number") }

    /// A non-negative number.
    func count(_ column: Int) throws -> Int { try required(column, optionalCount(column), "a count") }

    /// Nil for NULL.
    func optionalCount(_ column: Int) throws -> Int? {
        guard let number = try optionalNumber(column) else { return nil }
        guard number >= 0 else { throw damage(column, "a count") }
        return Int(number)
    }

    /// The status of an HTTP response. From 100 to 599.
    func httpStatus(_ column: Int) throws -> Int {
        let status = try count(column)
        guard (100...599).contains(status) else { throw damage(column, "an HTTP status") }
        return status
    }

    /// True for any number other than 0.
    func flag(_ column: Int) throws -> Bool { try number(column) != 0 }

    /// A time in milliseconds since 1970.
    func date(_ column: Int) throws -> Date { Date(milliseconds: try number(column)) }

    /// Nil for NULL.
    func optionalDate(_ column: Int) throws -> Date? { try optionalNumber(column).map { Date(milliseconds: $0) } }

    // MARK: Texts and bytes

    /// A string; the length is not limited here.
    func text(_ column: Int) throws -> String { try required(column, optionalText(column), "a text") }

    /// One of the values of an enumeration. Throws for a word that this version does not know, for example after a
    /// downgrade.
    func word<Word: RawRepresentable<String>>(_ column: Int, as: Word.Type = Word.self) throws -> Word {
        guard let word = Word(rawValue: try text(column)) else { throw damage(column, "a known word") }
        return word
    }

    func bytes(_ column: Int) throws -> [UInt8] { try required(column, optionalBytes(column), "bytes") }

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

    /// `expected`: the type in words, with its article.
    private func required<Value>(_ column: Int, _ value: Value?, _ expected: String) throws -> Value {
        guard let value else { throw damage(column, expected) }
        return value
    }

    /// Names the column and the expected type, never the value.
    func damage(_ column: Int, _ expected: String) -> DamagedValue {
        DamagedValue("column \(name(column)) does not hold \(expected)")
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
