import GRDB
import SignalboxStore

/// A row of the file that stays valid after the next step of its statement.
struct StoredRow: FetchableRecord, SQLiteRow {
    private let row: Row

    /// Called by GRDB for each row of a result.
    init(row: Row) { self.row = row.copy() }

    /// Rejects REAL values, including whole numbers.
    func optionalNumber(_ column: Int) throws -> Int64? {
        switch try storage(column) {
        case .null: return nil
        case .int64(let number): return try checked(column, number)
        default: throw damage(column, "a number")
        }
    }

    /// Rejects BLOB values.
    func optionalText(_ column: Int) throws -> String? {
        switch try storage(column) {
        case .null: return nil
        case .string(let text): return text
        default: throw damage(column, "a text")
        }
    }

    /// A BLOB, or the UTF-8 bytes of a TEXT value.
    func optionalBytes(_ column: Int) throws -> [UInt8]? {
        switch try storage(column) {
        case .null: return nil
        case .blob(let data): return Array(data)
        case .string(let text): return Array(text.utf8)
        default: throw damage(column, "bytes")
        }
    }

    /// The value as SQLite stores it, without conversions.
    private func storage(_ column: Int) throws -> DatabaseValue.Storage {
        try row.decode(DatabaseValue.self, atIndex: column).storage
    }

    func name(_ column: Int) -> String { Array(row.columnNames)[column] }
}
