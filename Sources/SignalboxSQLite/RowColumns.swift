import GRDBSQLite
import SignalboxStore

/// The row of a ``RowStatement``, whose values may be damaged. Reads the columns one after another. Every read checks
/// type and bounds like those of ``StoredRow``, and throws ``DamagedValue``. For use within the call that received it.
struct RowColumns {
    private let handle: OpaquePointer
    /// The column of the next read, from 0.
    private var next: CInt = 0

    /// `handle`: a statement that is on a row. The caller steps and resets it.
    init(of handle: OpaquePointer) { self.handle = handle }

    /// A number within ``StoredRow/numbers``. Throws for NULL.
    mutating func number() throws -> Int64 { try required(optionalNumber(), "a number") }

    /// Nil for NULL. Throws for REAL, TEXT and BLOB values, and outside ``StoredRow/numbers``.
    mutating func optionalNumber() throws -> Int64? {
        let column = advance()
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return nil
        case SQLITE_INTEGER:
            let number = sqlite3_column_int64(handle, column)
            guard StoredRow.numbers.contains(number) else { throw damage(column, "a number") }
            return number
        default: throw damage(column, "a number")
        }
    }

    /// A non-negative number.
    mutating func count() throws -> Int {
        let number = try number()
        guard number >= 0 else { throw damage(next - 1, "a count") }
        return Int(number)
    }

    /// True for any number other than 0.
    mutating func flag() throws -> Bool { try number() != 0 }

    /// A string of valid UTF-8; the length is not limited here. Throws for NULL.
    mutating func text() throws -> String { try required(optionalText(), "a text") }

    /// Nil for NULL. Copies the string.
    mutating func optionalText() throws -> String? {
        let column = advance()
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return nil
        case SQLITE_TEXT:
            // The address first: it settles the encoding that the length is counted in.
            let address = sqlite3_column_text(handle, column)
            let bytes = UnsafeBufferPointer(start: address, count: Int(sqlite3_column_bytes(handle, column)))
            guard let text = String(validating: bytes, as: UTF8.self) else { throw damage(column, "UTF-8") }
            return text
        default: throw damage(column, "a text")
        }
    }

    /// One of the values of an enumeration.
    mutating func word<Word: RawRepresentable<String>>(as: Word.Type = Word.self) throws -> Word {
        guard let word = Word(rawValue: try text()) else { throw damage(next - 1, "a known word") }
        return word
    }

    /// A BLOB. Throws for NULL, and for a TEXT value; ``StoredRow/bytes(_:)`` accepts both.
    mutating func bytes() throws -> [UInt8] { try required(withBytes { Array($0) }, "bytes") }

    /// Calls `read` with a BLOB, which is valid during the call. Returns nil for NULL.
    mutating func withBytes<Value>(_ read: (UnsafeRawBufferPointer) throws -> Value) throws -> Value? {
        let column = advance()
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: return nil
        case SQLITE_BLOB:
            let address = sqlite3_column_blob(handle, column)
            return try read(UnsafeRawBufferPointer(start: address, count: Int(sqlite3_column_bytes(handle, column))))
        default: throw damage(column, "bytes")
        }
    }

    /// Each read moves to the next column, even if it fails.
    private mutating func advance() -> CInt {
        defer { next += 1 }
        return next
    }

    /// `expected`: the type in words, with its article.
    private func required<Value>(_ value: Value?, _ expected: String) throws -> Value {
        guard let value else { throw damage(next - 1, expected) }
        return value
    }

    /// Names the column and the expected type, never the value.
    private func damage(_ column: CInt, _ expected: String) -> DamagedValue {
        let name = sqlite3_column_name(handle, column).map { String(cString: $0) } ?? "\(column)"
        return DamagedValue("column \(name) does not hold \(expected)")
    }
}
