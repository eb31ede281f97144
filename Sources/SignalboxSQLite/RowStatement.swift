import GRDB
import GRDBSQLite
import SignalboxNotification

/// A statement that runs once for each row of a large write, with arguments bound directly to SQLite.
///
/// GRDB makes a value of every argument and tells its observers of every statement, which costs more than SQLite
/// itself needs for a row. This queue has no observers. For use on the writer's thread, within its transaction. A
/// statement from the cache is shared, so only one `RowStatement` for the same SQL may run at a time. Valid as long
/// as its connection. An error of a run fails the transaction, so nothing is retried within it.
struct RowStatement {
    // Kept because it owns the handle.
    private let statement: Statement
    /// The connection of the statement, for errors and counts.
    private let connection: OpaquePointer?
    /// Used again by each run.
    private let space: ArgumentSpace

    /// Takes the statement from the connection's cache. Throws for SQL that does not compile. `sharing`: a statement
    /// that never runs at the same time, whose memory for arguments serves both. `sql`: has placeholders `?` only,
    /// one for each argument. `argumentBytes`: the memory for strings and bytes of a run; SQLite copies further ones.
    init(
        _ db: Database, sql: String, sharing other: RowStatement? = nil, argumentBytes: Int = ArgumentSpace.usual
    ) throws {
        statement = try db.cachedStatement(sql: sql)
        connection = db.sqliteConnection
        space = other?.space ?? ArgumentSpace(argumentBytes)
    }

    /// Runs the statement once. `bind` binds every argument, in their order. Traps when `bind` leaves out an argument.
    /// Throws `DatabaseError`, and leaves the statement ready for its next run.
    func run(_ bind: (inout Arguments) -> Void) throws { try forEach(bind) { _ in } }

    /// Runs the statement once, like ``run(_:)``, and calls `read` for each row. Rethrows its error and reads no
    /// further row then. `read` must not run the same statement.
    func forEach(_ bind: (inout Arguments) -> Void, _ read: (RowColumns) throws -> Void) throws {
        let handle = statement.sqliteStatement
        var arguments = Arguments(handle: handle, space: space.bytes)
        bind(&arguments)
        // A missing argument would keep the value of the previous row.
        precondition(arguments.count == sqlite3_bind_parameter_count(handle), "A statement lacks arguments.")
        defer {
            sqlite3_reset(handle)
            // No argument may point into the space once it is used again, or freed.
            sqlite3_clear_bindings(handle)
        }
        var code = arguments.failure ?? sqlite3_step(handle)
        while code == SQLITE_ROW {
            try read(RowColumns(of: handle))
            code = sqlite3_step(handle)
        }
        guard code == SQLITE_DONE else { throw failure() }
    }

    /// The only row of one run; nil without a row.
    func only<Row>(
        _ bind: (inout Arguments) -> Void, _ read: (RowColumns) throws -> Row
    ) throws -> Row? {
        var row: Row?
        try forEach(bind) { row = try read($0) }
        return row
    }

    /// All rows of one run, in their order.
    func all<Row>(
        _ bind: (inout Arguments) -> Void, _ read: (RowColumns) throws -> Row
    ) throws -> [Row] {
        var rows: [Row] = []
        try forEach(bind) { rows.append(try read($0)) }
        return rows
    }

    /// Whether one run returns a row.
    func hasRow(_ bind: (inout Arguments) -> Void = { _ in }) throws -> Bool { try only(bind) { _ in } != nil }

    /// Rows that the last run inserted, changed or removed.
    var changes: Int { Int(sqlite3_changes(connection)) }

    /// The last error of the connection, with SQLite's message.
    private func failure() -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
            message: String(cString: sqlite3_errmsg(connection)), sql: statement.sql)
    }

    /// Memory for the arguments of a run: enough for the rows that are usually inserted together. A class because it
    /// owns memory. Freed with the last statement that shares it.
    final class ArgumentSpace {
        /// The bytes for a statement with strings or bytes.
        static let usual = 64 * 1024
        /// Without an initial value.
        let bytes: UnsafeMutableRawBufferPointer

        /// `count`: bytes of memory; 0 for a statement without strings and bytes.
        init(_ count: Int) { bytes = .allocate(byteCount: count, alignment: 1) }

        deinit { bytes.deallocate() }
    }

    /// The arguments of one run, bound one after another. Strings and bytes are copied next to each other into memory
    /// that is used again for every row. SQLite copies arguments that do not fit. The `bind` functions count
    /// positions by themselves. A nil value becomes NULL. The first failure is stored and thrown by the run; later
    /// arguments are still counted. Valid during `bind` only.
    struct Arguments {
        private let handle: OpaquePointer
        /// The part that no argument uses yet.
        private var space: Slice<UnsafeMutableRawBufferPointer>
        /// Arguments that were bound so far.
        fileprivate private(set) var count: CInt = 0
        /// SQLite's code of the first failure; nil for none.
        fileprivate private(set) var failure: CInt?

        /// `space`: the memory of the run, empty at its start.
        fileprivate init(handle: OpaquePointer, space: UnsafeMutableRawBufferPointer) {
            self.handle = handle
            self.space = space[...]
        }

        private mutating func null() { check(sqlite3_bind_null(handle, count + 1)) }

        /// Binds an INTEGER.
        mutating func bind(_ value: Int64?) {
            guard let value else { return null() }
            check(sqlite3_bind_int64(handle, count + 1, value))
        }

        /// Binds an INTEGER of 64 bits.
        mutating func bind(_ value: Int?) { bind(value.map(Int64.init)) }

        /// Binds a TEXT in UTF-8. The text may contain NUL; SQLite stores it, but its functions end there.
        mutating func bind(_ value: String?) {
            guard var value else { return null() }
            value.withUTF8 { text in
                let (address, lifetime) = copy(UnsafeRawBufferPointer(text))
                bind(text: address, text.count, lifetime)
            }
        }

        /// Binds the text form.
        mutating func bind(_ value: EventID) {
            guard let room = room(for: EventID.length) else { return bind(value.description) }
            value.spell(into: room)
            bind(text: UnsafeRawPointer(room.baseAddress), room.count, Self.lasting)
        }

        /// Binds a BLOB. An empty array stays distinct from NULL.
        mutating func bind(_ value: [UInt8]?) {
            guard let value else { return null() }
            value.withUnsafeBytes { bytes in
                // Without an address it would be null instead of empty.
                guard !bytes.isEmpty else { return check(sqlite3_bind_zeroblob(handle, count + 1, 0)) }
                let (address, lifetime) = copy(bytes)
                check(sqlite3_bind_blob64(handle, count + 1, address, UInt64(bytes.count), lifetime))
            }
        }

        /// `length`: in bytes, without a NUL at the end.
        private mutating func bind(text: UnsafeRawPointer?, _ length: Int, _ lifetime: sqlite3_destructor_type?) {
            check(
                sqlite3_bind_text64(
                    handle, count + 1, text?.assumingMemoryBound(to: CChar.self), UInt64(length), lifetime,
                    UInt8(SQLITE_UTF8)))
        }

        /// The address, and the lifetime to tell SQLite: the run's memory, or a copy of SQLite's own.
        private mutating func copy(_ bytes: UnsafeRawBufferPointer) -> (UnsafeRawPointer?, sqlite3_destructor_type?) {
            guard let room = room(for: bytes.count) else { return (bytes.baseAddress, Self.copied) }
            room.copyMemory(from: bytes)
            return (UnsafeRawPointer(room.baseAddress), Self.lasting)
        }

        /// Takes the next bytes of the space; nil when too few are left.
        private mutating func room(for count: Int) -> UnsafeMutableRawBufferPointer? {
            guard count <= space.count else { return nil }
            defer { space = space.dropFirst(count) }
            return UnsafeMutableRawBufferPointer(rebasing: space.prefix(count))
        }

        /// Counts one argument and keeps the first error.
        private mutating func check(_ code: CInt) {
            count += 1
            if code != SQLITE_OK, failure == nil { failure = code }
        }

        /// SQLITE_STATIC: the bytes stay where they are until the run is over.
        private static var lasting: sqlite3_destructor_type? { nil }

        /// SQLITE_TRANSIENT, which is a cast that Swift does not import.
        private static var copied: sqlite3_destructor_type? { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
    }
}
