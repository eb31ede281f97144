import GRDB
import GRDBSQLite

/// A statement that runs once for each row of a large write, its arguments bound straight to SQLite.
///
/// GRDB makes a value of every argument and tells its observers of every statement, which costs a row more than SQLite
/// itself does; nobody observes this queue's tables. For use on the writer's thread, within its transaction.
struct RowStatement {
    // Kept because it owns the handle.
    private let statement: Statement
    private let connection: OpaquePointer?

    /// Takes the statement from the connection's cache.
    init(_ db: Database, sql: String) throws {
        statement = try db.cachedStatement(sql: sql)
        connection = db.sqliteConnection
    }

    /// Runs the statement once. `bind` gives every argument, in their order. Throws what SQLite says against it.
    func run(_ bind: (inout Arguments) -> Void) throws {
        let handle = statement.sqliteStatement
        var arguments = Arguments(handle: handle)
        bind(&arguments)
        // An argument left out would be that of the row before.
        precondition(arguments.count == sqlite3_bind_parameter_count(handle), "A statement lacks arguments.")
        var code = arguments.failure ?? sqlite3_step(handle)
        while code == SQLITE_ROW { code = sqlite3_step(handle) }
        let error = code == SQLITE_DONE ? nil : failure(code)
        sqlite3_reset(handle)
        if let error { throw error }
    }

    private func failure(_ code: CInt) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
            message: String(cString: sqlite3_errmsg(connection)), sql: statement.sql)
    }

    /// The arguments of one run, bound one after the other. SQLite copies them.
    struct Arguments {
        fileprivate let handle: OpaquePointer
        fileprivate private(set) var count: CInt = 0
        fileprivate private(set) var failure: CInt?

        fileprivate init(handle: OpaquePointer) { self.handle = handle }

        private mutating func null() { note(sqlite3_bind_null(handle, count + 1)) }

        mutating func bind(_ value: Int64?) {
            guard let value else { return null() }
            note(sqlite3_bind_int64(handle, count + 1, value))
        }

        mutating func bind(_ value: Int?) { bind(value.map(Int64.init)) }

        mutating func bind(_ value: String?) {
            guard var value else { return null() }
            let code = value.withUTF8 { text in
                sqlite3_bind_text64(
                    handle, count + 1, UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self),
                    UInt64(text.count), Self.copied, UInt8(SQLITE_UTF8))
            }
            note(code)
        }

        mutating func bind(_ value: [UInt8]?) {
            guard let value else { return null() }
            let code = value.withUnsafeBytes { bytes in
                // Without an address it would be null instead of empty.
                bytes.isEmpty
                    ? sqlite3_bind_zeroblob(handle, count + 1, 0)
                    : sqlite3_bind_blob64(
                        handle, count + 1, bytes.baseAddress, UInt64(bytes.count), Self.copied)
            }
            note(code)
        }

        private mutating func note(_ code: CInt) {
            count += 1
            if code != SQLITE_OK, failure == nil { failure = code }
        }

        /// SQLITE_TRANSIENT, which is a cast that Swift does not import.
        private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
    }
}
