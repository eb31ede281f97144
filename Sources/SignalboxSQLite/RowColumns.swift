import GRDBSQLite
import SignalboxStore

/// The row of a ``RowStatement``. For use within the call that received it.
struct RowColumns: SQLiteRow {
    private let handle: OpaquePointer

    /// `handle`: a statement that is on a row. The caller steps and resets it.
    init(of handle: OpaquePointer) { self.handle = handle }

    /// Throws for REAL, TEXT and BLOB values.
    func optionalNumber(_ column: Int) throws -> Int64? {
        switch sqlite3_column_type(handle, CInt(column)) {
        case SQLITE_NULL: return nil
        case SQLITE_INTEGER: return try checked(column, sqlite3_column_int64(handle, CInt(column)))
        default: throw damage(column, "a number")
        }
    }

    /// Throws for invalid UTF-8. Copies the string.
    func optionalText(_ column: Int) throws -> String? {
        switch sqlite3_column_type(handle, CInt(column)) {
        case SQLITE_NULL: return nil
        case SQLITE_TEXT:
            // The address first: it settles the encoding that the length is counted in.
            let address = sqlite3_column_text(handle, CInt(column))
            let bytes = UnsafeBufferPointer(start: address, count: Int(sqlite3_column_bytes(handle, CInt(column))))
            guard let text = String(validating: bytes, as: UTF8.self) else { throw damage(column, "UTF-8") }
            return text
        default: throw damage(column, "a text")
        }
    }

    /// A BLOB. Throws for a TEXT value; ``StoredRow/optionalBytes(_:)`` accepts both.
    func optionalBytes(_ column: Int) throws -> [UInt8]? { try withBytes(column) { Array($0) } }

    /// Does not copy the BLOB.
    func withBytes<Value>(_ column: Int, _ read: (UnsafeRawBufferPointer) throws -> Value) throws -> Value? {
        switch sqlite3_column_type(handle, CInt(column)) {
        case SQLITE_NULL: return nil
        case SQLITE_BLOB:
            let address = sqlite3_column_blob(handle, CInt(column))
            let count = Int(sqlite3_column_bytes(handle, CInt(column)))
            return try read(UnsafeRawBufferPointer(start: address, count: count))
        default: throw damage(column, "bytes")
        }
    }

    func name(_ column: Int) -> String {
        sqlite3_column_name(handle, CInt(column)).map { String(cString: $0) } ?? "\(column)"
    }
}
